"""Django on PostgreSQL, with its keys: each is DEFERRABLE INITIALLY DEFERRED, and so is checked when a
transaction ends. A change file that such a key refuses is rejected within a second, with the constraint and the
row, and the next one is applied. A file may put a row before what it refers to. What follows a
deletion of the ORM comes back with an undo, and nothing dangles while Django works."""
import os
import pathlib
import subprocess
import sys
import time

from server import Daemon, Server, wait

SETTINGS = """
DATABASES = {{"default": {{"ENGINE": "django.db.backends.postgresql", "NAME": "music", "HOST": "{host}",
                          "USER": "application"}}}}
INSTALLED_APPS = ["shop"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
"""
MODELS = """
from django.db import models

class Author(models.Model):
    name = models.CharField(max_length=80)

class Photo(models.Model):
    name = models.CharField(max_length=80)

class Book(models.Model):
    title = models.CharField(max_length=80)
    author = models.ForeignKey(Author, models.CASCADE)
    photo = models.ForeignKey(Photo, models.CASCADE, null=True)

class Loan(models.Model):
    # Of another application: the model of Cascade does not name it.
    book = models.ForeignKey(Book, models.CASCADE)
"""
MODEL = {
    "collections": {name: {"table": f"shop_{name[:-1]}", "key": "id"}
                    for name in ("authors", "books", "photos")},
    "relationships": [
        {"name": "author", "from": "books", "to": "authors", "column": "author_id",
         "rules": ["deleteSourceIfDestinationDeleted"]},
        {"name": "photo", "from": "books", "to": "photos", "column": "photo_id",
         "rules": ["deleteDestinationIfAllSourcesDeleted"]}]}


def manage(*arguments):
    done = subprocess.run([sys.executable, "-m", "django", *arguments], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout


def prepare(server):
    pathlib.Path("settings.py").write_text(SETTINGS.format(host=server.directory))
    pathlib.Path("shop/migrations").mkdir(parents=True)
    pathlib.Path("shop/migrations/__init__.py").touch()
    pathlib.Path("shop/models.py").write_text(MODELS)
    os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
    os.environ["PYTHONPATH"] += f":{os.getcwd()}"
    sys.path.append(os.getcwd())
    server.sql("GRANT CREATE, USAGE ON SCHEMA public TO application")
    manage("makemigrations", "shop")
    manage("migrate")
    import django
    django.setup()
    server.sql("GRANT SELECT, INSERT, UPDATE, DELETE, TRIGGER ON shop_author, shop_book, shop_photo TO cascaded")
    server.sql("GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO cascaded")


def book(key, author, **values):
    return {"put": ["books", key], "value": {"title": "x", "author_id": author, **values}}


def author(key):
    return {"put": ["authors", key], "value": {"name": "x"}}


def refuse(store, Book):
    """A reference to nothing, and a deletion of what a table refers to that the model does not know."""
    begin = time.monotonic()
    # The rule of the first relationship would delete the book itself.
    receipt = store.apply(book(901, 1, photo_id=999), status=4)
    took = time.monotonic() - begin
    assert took < 1, f"it took {took} s"
    reason = receipt["reasons"][0]
    assert reason["code"] == "denied" and reason["node"] == ["books", 901], reason
    assert "shop_book_photo_id" in reason["message"] and "(999)" in reason["message"], reason
    assert store.apply(book(902, 1))["outcome"] == "applied"
    reason = store.apply({"delete": ["books", 1]}, status=4)["reasons"][0]
    assert "shop_loan_book_id" in reason["message"], reason
    assert store.apply(book(903, 900), author(900))["outcome"] == "applied"
    assert sorted(Book.objects.filter(id__gt=900).values_list("id", flat=True)) == [902, 903]
    assert store.status()["spool"] == {"waiting": 0, "held": 0, "rejected": 0, "stuck": 0}
    print(f"# a file that a deferred key refuses is rejected in {took * 1000:.0f} ms")


def follow(store, Author, Book, Photo):
    """The ORM deletes the books of an author itself, and then what nothing shows any more goes."""
    photo = Photo.objects.create(name="one")
    ada = Author.objects.create(name="ada")
    Book.objects.create(title="one", author=ada, photo=photo)
    ada.delete()
    wait(lambda: not Photo.objects.filter(pk=photo.pk).exists(), "the photo goes")
    # A change file deletes the author alone: the rule takes the book, in an order that keys allow.
    batch = store.apply({"delete": ["authors", 900]})
    assert batch["deletedCount"] == 2, batch
    assert store.ask("undo", batch["batch"])[0]["restored"] == 2
    assert Book.objects.filter(pk=903, author_id=900).exists()


def work(Author, Book, Photo):
    for number in range(40):
        one = Author.objects.create(name=f"work {number}")
        for _ in range(3):
            Book.objects.create(title="x", author=one, photo=Photo.objects.create(name="x"))
        one.delete()


def main():
    with Server() as server:
        prepare(server)
        from shop.models import Author, Book, Loan, Photo
        first = Author.objects.create(name="first")
        Loan.objects.create(book=Book.objects.create(title="first", author=first))
        with Daemon(server, MODEL) as store:
            refuse(store, Book)
            follow(store, Author, Book, Photo)
            work(Author, Book, Photo)
            wait(lambda: not Photo.objects.exists(), "all photos go")
            assert store.ask("check") == [] and store.state() == "ok"
            store.ask("detach")
        assert server.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'cascade'") == ["0"]


main()
