"""Databases that applications made, by their own programs.

Each maker runs in an empty directory, and in a process of its own: the applications change the
process. It returns the database, and the references that the schema does not declare:
(table, column, table, column).
"""
import contextlib
import glob
import json
import os
import pathlib
import socket
import sqlite3
import subprocess
import time
import uuid

from mediawiki import MediaWiki
from mediawiki import references as mediawiki_references
from redmine import Redmine

FEED = """<?xml version="1.0"?><rss version="2.0"><channel><title>Feed {0}</title>
<link>http://example.org/{0}</link><description>d</description>{1}</channel></rss>"""
ITEM = ("<item><title>t{0}</title><guid>g{1}-{0}</guid>"
        "<link>http://example.org/{1}/{0}</link></item>")


def feeds(directory):
    for number in range(4):
        items = "".join(ITEM.format(item, number) for item in range(12))
        path = pathlib.Path(directory, f"feed{number}.xml")
        path.write_text(FEED.format(number, items), encoding="utf-8")
        yield path


def beets():
    from beets import library
    from beets.library import Item
    made = library.Library("beets.db")
    for album in range(5):
        items = [Item(title=f"t{n}", artist=f"a{album}", path=f"/m/{album}/{n}".encode())
                 for n in range(4)]
        for item in items:
            item.mood = "calm"
        made.add_album(items)["source"] = "cd"
    for album in made.albums():
        album["shelf"] = "3"
        album.store()
    return "beets.db", [("items", "album_id", "albums", "id"),
                        ("item_attributes", "entity_id", "items", "id"),
                        ("album_attributes", "entity_id", "albums", "id")]


def reader():
    from reader import make_reader
    made = make_reader("reader.db", feed_root="")
    for path in feeds("."):
        made.add_feed(path.name)
        made.set_tag(path.name, "kind", "news")
    made.update_feeds()
    for entry in made.get_entries(limit=9):
        made.set_tag(entry, "later")
    made.enable_search()
    made.close()
    return "reader.db", []


def django():
    from django.conf import settings
    from django.core.management import call_command
    settings.configure(
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "django.db"}},
        INSTALLED_APPS=["django.contrib.admin", "django.contrib.auth", "django.contrib.sites",
                        "django.contrib.contenttypes", "django.contrib.sessions",
                        "django.contrib.flatpages", "django.contrib.redirects"],
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField", SITE_ID=1, USE_TZ=True)
    import django as package
    package.setup()
    call_command("migrate", verbosity=0)
    from django.contrib.admin.models import LogEntry
    from django.contrib.auth.models import Group, Permission, User
    from django.contrib.contenttypes.models import ContentType
    from django.contrib.flatpages.models import FlatPage
    from django.contrib.redirects.models import Redirect
    groups = [Group.objects.create(name=f"group {n}") for n in range(4)]
    kind = ContentType.objects.get_for_model(User)
    for number in range(12):
        user = User.objects.create_user(f"user{number}")
        user.groups.add(groups[number % 4])
        user.user_permissions.add(*Permission.objects.all()[number:number + 3])
        groups[number % 4].permissions.add(Permission.objects.all()[number])
        LogEntry.objects.create(user=user, content_type=kind, object_id=user.pk, action_flag=1,
                                object_repr="x", change_message="[]")
        page = FlatPage.objects.create(url=f"/{number}/", title="t", content="c")
        page.sites.add(1)
        Redirect.objects.create(site_id=1, old_path=f"/{number}", new_path="/")
    return "django.db", [("django_admin_log", "object_id", "auth_user", "id")]


def wagtail():
    import wagtail_site
    wagtail_site.make_site("wagtail.db")
    return "wagtail.db", wagtail_site.references("wagtail.db")


def redmine():
    """Its models know what refers to what; the two that are not said to Rails are ordered sets."""
    made = Redmine("redmine", "redmine.db")
    made.ask("redmine.rb", "make")
    said = made.ask("references.rb") + [["issues", "root_id", "issues", "id"],
                                        ["member_roles", "inherited_from", "member_roles", "id"]]
    with contextlib.closing(sqlite3.connect("redmine.db")) as db:
        def has_rows(table, column, _to, _key, type_column=None, type_=None):
            condition = f'AND "{type_column}" = ?' if type_column else ""
            sql = f'SELECT count(*) FROM "{table}" WHERE "{column}" IS NOT NULL {condition}'
            return db.execute(sql, [type_] if type_column else []).fetchone()[0]
        return "redmine.db", sorted({tuple(one[:4]) for one in said if has_rows(*one)})


def mediawiki():
    made = MediaWiki()
    made.fill()
    return made.database.name, list(mediawiki_references())


def gnucash():
    import piecash
    book = piecash.create_book("gnucash.db", overwrite=True, currency="EUR")
    euro = book.default_currency
    accounts = [piecash.Account(f"account {n}", "EXPENSE", euro, parent=book.root_account)
                for n in range(6)]
    for account in accounts[:4]:
        account["notes"] = "of the family"
    for number in range(30):
        one, other = accounts[number % 6], accounts[(number + 1) % 6]
        piecash.Transaction(euro, description=f"t{number}", splits=[
            piecash.Split(account=one, value=number + 1),
            piecash.Split(account=other, value=-number - 1)])
    book.save()
    book.close()
    return "gnucash.db", [
        ("accounts", "parent_guid", "accounts", "guid"),
        ("accounts", "commodity_guid", "commodities", "guid"),
        ("splits", "tx_guid", "transactions", "guid"),
        ("splits", "account_guid", "accounts", "guid"),
        ("transactions", "currency_guid", "commodities", "guid"),
        ("slots", "obj_guid", "accounts", "guid"), ("slots", "obj_guid", "transactions", "guid"),
        ("books", "root_account_guid", "accounts", "guid"),
        ("books", "root_template_guid", "accounts", "guid")]


def anki():
    from anki.collection import Collection
    made = Collection("anki.db")
    basic = made.models.by_name("Basic")
    decks = [made.decks.id(f"deck {n}") for n in range(4)]
    for number in range(40):
        note = made.new_note(basic)
        note["Front"], note["Back"] = f"front {number}", f"back {number}"
        made.add_note(note, decks[number % 4])
    for number in range(4):
        made.decks.select(decks[number])
        for _ in range(3):
            card = made.sched.getCard()
            if card:
                made.sched.answerCard(card, 3)
    made.close()
    return "anki.db", [
        ("cards", "nid", "notes", "id"), ("cards", "did", "decks", "id"),
        ("notes", "mid", "notetypes", "id"), ("revlog", "cid", "cards", "id"),
        ("fields", "ntid", "notetypes", "id"), ("templates", "ntid", "notetypes", "id")]


def newsboat():
    urls = "".join(f"file://{path.resolve()}\n" for path in feeds("."))
    pathlib.Path("urls").write_text(urls, encoding="utf-8")
    subprocess.run(["newsboat", "-u", "urls", "-c", "newsboat.db", "-x", "reload"], check=True,
                   env={**os.environ, "HOME": os.getcwd()}, capture_output=True)
    return "newsboat.db", [("rss_item", "feedurl", "rss_feed", "rssurl")]


# Firefox

PLACES = """
const done = arguments[arguments.length - 1];
(async () => {
  const { PlacesUtils } = ChromeUtils.importESModule(
    "resource://gre/modules/PlacesUtils.sys.mjs");
  const { UrlbarUtils } = ChromeUtils.importESModule(
    "moz-src:///browser/components/urlbar/UrlbarUtils.sys.mjs");
  const url = (n) => `https://site${n % 7}.example/page${n}`;
  for (let n = 0; n < 60; n++) {
    await PlacesUtils.history.insert({ url: url(n), title: `page ${n}`, visits: [
      { date: new Date(2026, 1, 1, n % 24), referrer: n % 3 ? url(n - 1) : undefined }] });
    if (n % 4 === 0) await UrlbarUtils.addToInputHistory(url(n), `page${n}`);
    if (n % 5 === 0) await PlacesUtils.history.update({ url: url(n),
      annotations: new Map([[`note/${n % 3}`, `text ${n}`]]) });
  }
  for (let n = 0; n < 6; n++) {
    const folder = await PlacesUtils.bookmarks.insert({
      type: PlacesUtils.bookmarks.TYPE_FOLDER, title: `folder ${n}`,
      parentGuid: PlacesUtils.bookmarks.unfiledGuid });
    for (let m = 0; m < 5; m++) await PlacesUtils.bookmarks.insert({
      url: url(n * 5 + m), title: `bookmark ${m}`, parentGuid: folder.guid });
    await PlacesUtils.keywords.insert({ keyword: `word${n}`, url: url(n * 5) });
  }
})().then(() => done(null), (error) => done(String(error)));
"""


class Marionette:
    """Commands to a Firefox that was started with --marionette."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.file = self.socket.makefile("rb")
        self.receive()

    def receive(self):
        length = b""
        while (digit := self.file.read(1)) != b":":
            length += digit
        return json.loads(self.file.read(int(length)))

    def call(self, name, **parameters):
        text = json.dumps([0, 1, name, parameters]).encode()
        self.socket.sendall(b"%d:%s" % (len(text), text))
        _, _, error, result = self.receive()
        if error:
            raise RuntimeError(error["message"])
        return result


def firefox():
    pathlib.Path("user.js").write_text('user_pref("marionette.port", 0);\n', encoding="utf-8")
    browser = subprocess.Popen(
        ["firefox-esr", "--headless", "--no-remote", "--profile", os.getcwd(), "--marionette",
         "--remote-allow-system-access"], env={**os.environ, "HOME": os.getcwd()},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        port, end = pathlib.Path("MarionetteActivePort"), time.monotonic() + 60
        while not port.exists() or not port.read_text(encoding="utf-8"):
            if browser.poll() is not None or time.monotonic() > end:
                raise RuntimeError("Firefox does not start")
            time.sleep(0.05)
        firefox = Marionette(int(port.read_text(encoding="utf-8")))
        firefox.call("WebDriver:NewSession", capabilities={})
        firefox.call("Marionette:SetContext", value="chrome")
        if error := firefox.call("WebDriver:ExecuteAsyncScript", script=PLACES, args=[])["value"]:
            raise RuntimeError(error)
        firefox.call("Marionette:Quit", flags=["eAttemptQuit"])
        browser.wait(60)
    finally:
        browser.kill()
        browser.wait()
    return "places.sqlite", [
        ("moz_historyvisits", "place_id", "moz_places", "id"),
        ("moz_historyvisits", "from_visit", "moz_historyvisits", "id"),
        ("moz_bookmarks", "fk", "moz_places", "id"),
        ("moz_bookmarks", "parent", "moz_bookmarks", "id"),
        ("moz_keywords", "place_id", "moz_places", "id"),
        ("moz_inputhistory", "place_id", "moz_places", "id"),
        ("moz_annos", "place_id", "moz_places", "id"),
        ("moz_annos", "anno_attribute_id", "moz_anno_attributes", "id")]


# calibre: the schema is that of Debian's package; the program itself needs Qt and a screen.

LIBRARY = """
WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n LIMIT 60)
INSERT INTO books(title, author_sort, path) SELECT 'Book ' || i, 'Author', 'a/' || i FROM n;
INSERT INTO authors(name, sort, link) SELECT 'Author ' || id, 'A ' || id, '' FROM books
  WHERE id <= 25;
INSERT INTO publishers(name) SELECT 'Publisher ' || id FROM books WHERE id <= 9;
INSERT INTO series(name) SELECT 'Series ' || id FROM books WHERE id <= 8;
INSERT INTO tags(name) SELECT 'Tag ' || id FROM books WHERE id <= 15;
INSERT INTO ratings(rating) SELECT id * 2 FROM books WHERE id <= 5;
INSERT INTO languages(lang_code) VALUES ('eng'), ('deu'), ('fra');
INSERT INTO books_authors_link(book, author) SELECT id, id % 25 + 1 FROM books;
INSERT INTO books_publishers_link(book, publisher) SELECT id, id % 9 + 1 FROM books;
INSERT INTO books_series_link(book, series) SELECT id, id % 8 + 1 FROM books WHERE id % 2;
INSERT INTO books_tags_link(book, tag) SELECT id, id % 15 + 1 FROM books;
INSERT INTO books_tags_link(book, tag) SELECT id, (id + 4) % 15 + 1 FROM books WHERE id % 3;
INSERT INTO books_ratings_link(book, rating) SELECT id, id % 5 + 1 FROM books WHERE id % 2;
INSERT INTO books_languages_link(book, lang_code) SELECT id, id % 3 + 1 FROM books;
INSERT INTO data(book, format, uncompressed_size, name)
  SELECT id, 'EPUB', id * 7001, 'Book ' || id FROM books;
INSERT INTO comments(book, text) SELECT id, 'About ' || title FROM books WHERE id % 4;
INSERT INTO identifiers(book, type, val) SELECT id, 'isbn', '97830' || (id * 70001) FROM books;
INSERT INTO conversion_options(format, book, data) SELECT 'PIPE', id, x'80' FROM books
  WHERE id % 10 = 0;
INSERT INTO last_read_positions(book, format, user, device, cfi, epoch, pos_frac)
  SELECT id, 'EPUB', 'local', 'browser', '/2/4', 1.7e9 + id, 0.5 FROM books WHERE id % 6 = 0;
INSERT INTO metadata_dirtied(book) SELECT id FROM books WHERE id % 9 = 0;
"""


def calibre():
    subprocess.run(["apt-get", "download", "calibre"], check=True, capture_output=True)
    subprocess.run(["dpkg", "-x", *glob.glob("calibre_*.deb"), "calibre"], check=True)
    schema = pathlib.Path("calibre/usr/share/calibre/metadata_sqlite.sql")
    with contextlib.closing(sqlite3.connect("metadata.db")) as db:
        db.create_function("title_sort", 1, lambda title: title)
        db.create_function("author_to_author_sort", 1, lambda author: author)
        db.create_function("uuid4", 0, lambda: str(uuid.uuid4()))
        db.executescript(schema.read_text(encoding="utf-8"))
        db.executescript(LIBRARY)
    links = [("authors", "author"), ("publishers", "publisher"), ("series", "series"),
             ("tags", "tag"), ("ratings", "rating"), ("languages", "lang_code")]
    of_books = ["data", "comments", "identifiers", "conversion_options", "last_read_positions",
                "metadata_dirtied"] + [f"books_{table}_link" for table, _ in links]
    return "metadata.db", [(f"books_{table}_link", column, table, "id")
                           for table, column in links] + [
                               (table, "book", "books", "id") for table in of_books]


def chinook():
    schema = pathlib.Path(__file__).parent.parent / "InspectTests/Schemas/chinook.sql"
    with contextlib.closing(sqlite3.connect("chinook.db")) as db:
        db.executescript(schema.read_text(encoding="utf-8"))
    return "chinook.db", []


MAKERS = {maker.__name__: maker for maker in [
    beets, reader, calibre, firefox, newsboat, django, gnucash, anki, chinook, wagtail, redmine,
    mediawiki]}
