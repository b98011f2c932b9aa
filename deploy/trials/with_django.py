"""Django: what a model leaves to the database (DO_NOTHING, no constraint) follows what the ORM
deletes, by foreign keys, many-to-many tables and content types. A migration rebuilds a table that a
rule denies deletions for, between `migrate begin` and `migrate end`. inspectdb passes Cascade's
tables over where it is told to. With `transaction_mode`, no other writer comes between reading and
writing; without it, Django's default, the transaction fails then."""
import io
import os
import pathlib
import subprocess
import sys

SETTINGS = """
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "django.db",
                         "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 30}},
             "deferred": {"ENGINE": "django.db.backends.sqlite3", "NAME": "django.db",
                          "OPTIONS": {"timeout": 0}}}
INSTALLED_APPS = ["django.contrib.admin", "django.contrib.auth", "django.contrib.contenttypes",
                  "django.contrib.sessions", "django.contrib.messages", "shop"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
SILENCED_SYSTEM_CHECKS = ["admin.E403", "admin.E408", "admin.E409", "admin.E410"]
"""
MODELS = """
from django.contrib.contenttypes.fields import GenericForeignKey
from django.db import models

left = {{"on_delete": models.DO_NOTHING, "db_constraint": False}}

class Publisher(models.Model):
    name = models.CharField(max_length=80)

class Photo(models.Model):
    name = models.CharField(max_length=80)

class Book(models.Model):
    title = models.CharField(max_length={length})
    price = models.DecimalField(max_digits=8, decimal_places=2, default=9.5)
    owner = models.ForeignKey("auth.User", **left)
    publisher = models.ForeignKey(Publisher, **left)
    lent = models.ForeignKey("auth.User", null=True, related_name="borrowed", **left)
    photos = models.ManyToManyField(Photo, db_constraint=False)

class Comment(models.Model):
    text = models.TextField()
    about_type = models.ForeignKey("contenttypes.ContentType", models.CASCADE)
    about_id = models.PositiveBigIntegerField()
    about = GenericForeignKey("about_type", "about_id")

    class Meta:
        indexes = [models.Index(fields=["about_type", "about_id"])]
"""


def write_application(length):
    pathlib.Path("settings.py").write_text(SETTINGS)
    pathlib.Path("shop/migrations").mkdir(parents=True, exist_ok=True)
    pathlib.Path("shop/migrations/__init__.py").touch()
    pathlib.Path("shop/models.py").write_text(MODELS.format(length=length))


def manage(*arguments, fails=False):
    done = subprocess.run([sys.executable, "-m", "django", *arguments], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert (done.returncode != 0) == fails, done.stdout
    return done.stdout


os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
os.environ["PYTHONPATH"] += f":{os.getcwd()}"
sys.path.append(os.getcwd())
write_application(length=80)
manage("makemigrations", "shop")
manage("migrate")

import django  # noqa: E402
django.setup()
from django.contrib.admin.models import LogEntry  # noqa: E402
from django.contrib.auth.models import Group, User  # noqa: E402
from django.contrib.contenttypes.models import ContentType  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import DatabaseError, OperationalError, transaction  # noqa: E402
from fixture import Store, is_sound, schema  # noqa: E402
from shop.models import Book, Comment, Photo, Publisher  # noqa: E402

TABLES = {"users": "auth_user", "books": "shop_book", "photos": "shop_photo",
          "publishers": "shop_publisher", "comments": "shop_comment"}
MODEL = {
    "collections": {name: {"table": table, "key": "id"} for name, table in TABLES.items()},
    "relationships": [
        {"name": "owner", "from": "books", "to": "users", "column": "owner_id",
         "rules": ["deleteSourceIfDestinationDeleted"]},
        {"name": "lent", "from": "books", "to": "users", "column": "lent_id",
         "rules": ["nullifySourceIfDestinationDeleted"]},
        {"name": "publisher", "from": "books", "to": "publishers", "column": "publisher_id",
         "rules": ["denyDestinationDeletion"]},
        {"name": "photos", "from": "books", "to": "photos", "rules": [
            "deleteDestinationIfAllSourcesDeleted"],
         "join": {"table": "shop_book_photos", "source": "book_id", "destination": "photo_id"}},
        {"name": "about", "from": "comments", "column": "about_id", "typeColumn": "about_type_id",
         "to": {}, "rules": ["deleteSourceIfDestinationDeleted"]}]}


@transaction.atomic
def add_user(name, publisher, shared):
    """With three books, each of which shows a photo of its own and one that all users share."""
    user = User.objects.create_user(name)
    user.groups.add(Group.objects.get_or_create(name="readers")[0])
    for number in range(3):
        book = Book.objects.create(title=f"{name} {number}", owner=user, publisher=publisher)
        book.photos.add(shared, Photo.objects.create(name=f"{name} {number}"))
        Comment.objects.create(text="good", about=book)
        LogEntry.objects.create(user=user, object_id=book.pk, action_flag=1, object_repr="x",
                                content_type=ContentType.objects.get_for_model(Book))
    return user


def work(publisher, shared):
    for number in range(20):
        user = add_user(f"work {number}", publisher, shared)
        with transaction.atomic():
            Book.objects.filter(owner=user).update(title="sold")
            user.delete()


def is_denied(publisher):
    try:
        publisher.delete()
    except DatabaseError as error:
        return "must stay" in str(error)


def takes_effect(write):
    try:
        write()
        return True
    except OperationalError as error:
        assert "locked" in str(error), error
        return False


def read_then_write(using, other):
    """Which of two writes take effect: one between reading and writing, and the one that follows."""
    publishers = Publisher.objects.using(using)
    with transaction.atomic(using=using):
        assert publishers.count() == 1
        between = takes_effect(lambda: Publisher.objects.using(other).update(name="two"))
        return between, takes_effect(lambda: publishers.update(name="one"))


def migrate(store):
    """Rebuilds the table of books, which denies the deletion of publishers."""
    write_application(length=200)
    manage("makemigrations", "shop")
    assert "error in trigger cascade_deny" in manage("migrate", fails=True)
    store.ask("migrate", "begin")
    manage("migrate")
    store.ask("migrate", "end")
    store.schema = schema("django.db")
    assert "varchar(200)" in str(store.schema)
    assert store.command("check").returncode == 0, store.command("check").stdout


def inspectdb(**options):
    output = io.StringIO()
    call_command("inspectdb", stdout=output, **options)
    return output.getvalue()


def main():
    publisher = Publisher.objects.create(name="one")
    shared = Photo.objects.create(name="shared")
    ada, ben, eve = (add_user(name, publisher, shared) for name in ("ada", "ben", "eve"))
    Book.objects.filter(owner=ben).update(lent=ada)
    number = ContentType.objects.get_for_model(Book).pk
    MODEL["relationships"][-1]["to"] = {str(number): "books"}
    with Store("django.db", MODEL) as store:
        store.follow(ada.delete, nodes=9, nulls=3)
        assert Photo.objects.filter(name="shared").exists()
        assert is_denied(publisher)
        assert read_then_write("default", other="deferred") == (False, True)
        assert read_then_write("deferred", other="default") == (True, False)
        Publisher.objects.update(name="one")
        migrate(store)
        assert is_denied(publisher)
        store.follow(eve.delete, nodes=9)
        store.live(lambda: work(publisher, shared))
        assert "Cascade" in inspectdb()
        plain = inspectdb(table_name_filter=lambda name: not name.startswith("cascade_"))
        store.detach()
    assert plain == inspectdb()
    eli = add_user("eli", publisher, shared)
    eli.delete()
    assert Book.objects.filter(title__startswith="eli").count() == 3
    assert is_sound("django.db")


main()
