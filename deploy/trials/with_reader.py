"""reader: entries and tags go with their feed, and tags with their entry, by a reference of two
columns, as in the model that cascadectl suggests; a search index and triggers of the application's
follow the rows, also those of an undo."""
import contextlib
import pathlib
import sqlite3

from fixture import Store, is_sound, suggest
from reader import make_reader

FEED = """<?xml version="1.0"?><rss version="2.0"><channel><title>Feed {0}</title>
<link>http://example.org/{0}</link><description>d</description>{1}</channel></rss>"""
ITEM = """<item><title>title {0}</title><guid>{1}-{0}</guid><link>http://example.org/{1}/{0}</link>
<description>words of {1}</description></item>"""


def write_feed(number, items=6):
    entries = "".join(ITEM.format(item, number) for item in range(items))
    pathlib.Path(f"feed{number}.xml").write_text(FEED.format(number, entries))
    return f"feed{number}.xml"


def add_feed(reader, number):
    url = write_feed(number)
    reader.add_feed(url)
    reader.set_tag(url, "kind", "news")
    reader.update_feeds()
    for entry in list(reader.get_entries(feed=url, limit=3)):
        reader.set_tag(entry, "later", {"why": "long"})
    return url


def delete_without_keys(url):
    """Another program, which has foreign keys off, as SQLite has them."""
    with contextlib.closing(sqlite3.connect("reader.db", timeout=30)) as db, db:
        db.execute("DELETE FROM feeds WHERE url = ?", [url])


def found(reader):
    reader.update_search()
    return {entry.resource_id for entry in reader.search_entries("words")}


def work(reader):
    for number in range(10, 22):
        url = add_feed(reader, number)
        for entry in list(reader.get_entries(feed=url)):
            reader.mark_entry_as_read(entry)
        reader.delete_feed(url) if number % 2 else delete_without_keys(url)


def main():
    reader = make_reader("reader.db", feed_root="")
    urls = [add_feed(reader, number) for number in range(4)]
    reader.enable_search()
    everything = found(reader)
    assert len(everything) == 24
    with Store("reader.db", suggest("reader.db"), unmodelled=["changes"]) as store:
        store.follow(lambda: delete_without_keys(urls[0]), nodes=6 + 3 + 1)
        assert found(reader) == {one for one in everything if one[0] != urls[0]}
        store.live(lambda: work(reader))
        store.detach()
    add_feed(reader, 30)
    assert len(found(reader)) == 18 + 6
    reader.delete_feed(urls[1])
    reader.close()
    assert is_sound("reader.db")


main()
