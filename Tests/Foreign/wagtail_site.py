"""A site of Wagtail's, written by its own code, with pages, images, documents and workflows."""
import contextlib
import io
import os
import pathlib
import sqlite3
import sys

MODELS = """
from django.db import models
from modelcluster.fields import ParentalKey
from taggit.managers import TaggableManager
from taggit.models import TaggedItemBase
from wagtail.fields import RichTextField
from wagtail.models import DraftStateMixin, Orderable, Page, RevisionMixin
from wagtail.snippets.models import register_snippet


@register_snippet
class Author(DraftStateMixin, RevisionMixin, models.Model):
    name = models.CharField(max_length=100)


class PostTag(TaggedItemBase):
    content_object = ParentalKey("Post", related_name="tagged_items")


class Shelf(Page):
    intro = models.CharField(max_length=100)


class Post(Page):
    body = RichTextField()
    author = models.ForeignKey(Author, models.SET_NULL, null=True, related_name="+")
    cover = models.ForeignKey("wagtailimages.Image", models.SET_NULL, null=True,
                              related_name="+")
    tags = TaggableManager(through=PostTag)


class Link(Orderable):
    post = ParentalKey(Post, related_name="links")
    page = models.ForeignKey(Page, models.CASCADE, related_name="+")
"""
PARTS = ["contrib.forms", "contrib.redirects", "contrib.search_promotions", "embeds", "sites",
         "users", "snippets", "documents", "images", "search", "admin"]


def make_site(database):
    package = pathlib.Path("library")
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "models.py").write_text(MODELS, encoding="utf-8")
    sys.path.insert(0, os.getcwd())
    from django.conf import settings
    settings.configure(
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": database}},
        INSTALLED_APPS=["library", *(f"wagtail.{part}" for part in PARTS), "wagtail",
                        "modelcluster", "taggit", "django.contrib.auth",
                        "django.contrib.contenttypes", "django.contrib.admin",
                        "django.contrib.messages", "django.contrib.sessions"],
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField", USE_TZ=True, MEDIA_ROOT="media",
        STATIC_URL="/static/", ROOT_URLCONF="library", WAGTAIL_SITE_NAME="library",
        WAGTAILADMIN_BASE_URL="http://localhost")
    import django
    django.setup()
    from django.core.management import call_command
    call_command("makemigrations", "library", verbosity=0)
    call_command("migrate", verbosity=0)
    people = make_people()
    posts = make_pages(people, make_media(people))
    do_what_people_do(people, posts)
    call_command("rebuild_references_index", verbosity=0)
    call_command("update_index", verbosity=0)


def make_people():
    from django.contrib.auth.models import Group, User
    people = [User.objects.create_superuser(f"person{n}", password="x") for n in range(8)]
    for n, person in enumerate(people):
        person.groups.add(Group.objects.all()[n % 2])
    return people


def make_media(people):
    from django.core.files.base import ContentFile
    from django.core.files.images import ImageFile
    from PIL import Image as Picture
    from wagtail.documents.models import Document
    from wagtail.images.models import Image
    from wagtail.models import Collection
    root = Collection.get_first_root_node()
    collections = [root.add_child(name=f"collection {n}") for n in range(4)]
    for n in range(9):
        file = io.BytesIO()
        Picture.new("RGB", (8 + n, 8)).save(file, "PNG")
        of = {"collection": collections[n % 4], "uploaded_by_user": people[n % 8]}
        image = Image.objects.create(title=f"image {n}", file=ImageFile(file, f"{n}.png"), **of)
        image.get_rendition("width-4")
        Document.objects.create(title=f"paper {n}", file=ContentFile(b"x", f"{n}.txt"), **of)
    return list(Image.objects.all())


def make_pages(people, images):
    from library.models import Author, Link, Post, Shelf
    from wagtail.models import Page
    authors = [Author(name=f"author {n}") for n in range(5)]
    for n, author in enumerate(authors):
        author.save()
        author.save_revision(user=people[n]).publish()
    root = Page.get_first_root_node()
    shelves = [root.add_child(instance=Shelf(title=f"shelf {n}", intro="x", owner=people[n]))
               for n in range(4)]
    posts = []
    for n in range(40):
        body = f'<p><a id="{shelves[n % 4].pk}" linktype="page">the shelf</a></p>'
        post = Post(title=f"post {n}", body=body, author=authors[n % 5], cover=images[n % 9],
                    owner=people[n % 8])
        shelves[n % 4].add_child(instance=post)
        post.tags.add(f"tag {n % 6}", f"tag {n % 4 + 6}")
        post.links.add(Link(page=shelves[(n + 1) % 4]))
        post.save()
        revision = post.save_revision(user=people[n % 8], log_action=True)
        if n % 3:
            revision.publish(user=people[n % 8])
        posts.append(post)
    return posts


def do_what_people_do(people, posts):
    from django.contrib.auth.models import Group
    from wagtail.contrib.redirects.models import Redirect
    from wagtail.contrib.search_promotions.models import Query, SearchPromotion
    from wagtail.models import (
        Comment, CommentReply, PageSubscription, PageViewRestriction, Site, Workflow)
    for n in range(6):
        post, person = posts[n], people[n]
        site = Site.objects.create(hostname=f"site{n}.example.org", root_page=post)
        Redirect.objects.create(old_path=f"/old{n}", redirect_page=post, site=site)
        comment = Comment.objects.create(page=post, user=person, text="good", contentpath="body")
        CommentReply.objects.create(comment=comment, user=people[n + 1], text="yes")
        PageSubscription.objects.create(user=person, page=post, comment_notifications=True)
        PageViewRestriction.objects.create(
            page=posts[n + 6], restriction_type="groups").groups.add(Group.objects.first())
        SearchPromotion.objects.create(query=Query.get(f"word {n}"), page=post, sort_order=n)
        posts[n + 12].copy(update_attrs={"slug": f"copy-{n}", "title": "copy"}, user=person)
        posts[n + 20].delete(user=person)
    for n in range(5):
        Workflow.objects.first().start(posts[n], people[n])
    for n in range(3):
        posts[n].current_workflow_task_state.approve(user=people[n])


def references(database):
    """What Django's models say, of the columns that have rows: (table, column, table, column)."""
    from django.apps import apps
    models = apps.get_models(include_auto_created=True)
    found = {(model._meta.db_table, field.column, field.related_model._meta.db_table,
              field.target_field.column)
             for model in models for field in model._meta.local_fields if field.remote_field}
    found |= {one for model in models for one in generic(model)}
    with contextlib.closing(sqlite3.connect(database)) as db:
        tables = {row[1] for row in db.execute("PRAGMA table_list") if row[2] == "table"}
        return sorted(one for one in found if one[0] in tables and db.execute(
            f'SELECT count("{one[1]}") FROM "{one[0]}"').fetchone()[0])


def generic(model):
    """Of each object's key beside a type, also where no generic foreign key is declared for it."""
    from django.contrib.contenttypes.models import ContentType
    keys = [field.column for field in model._meta.local_fields
            if field.column.endswith("object_id")]
    types = [field for field in model._meta.local_fields if field.related_model is ContentType]
    for type_field in types:
        prefix = type_field.column.removesuffix("content_type_id")
        key = f"{prefix}object_id" if f"{prefix}object_id" in keys else "object_id"
        if key not in keys:
            continue
        rows = model._default_manager.order_by().values_list(type_field.attname, flat=True)
        for content_type in ContentType.objects.filter(pk__in=rows.distinct()):
            meta = content_type.model_class()._meta
            yield model._meta.db_table, key, meta.db_table, meta.pk.column
