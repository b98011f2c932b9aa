#!/usr/bin/env python3
"""A feed reader. Feeds, their items and their icons are rows of feeds.db, and cascaded does what follows from a
deletion: feedreader.json is its model.

    feedreader.py create       makes the tables
    feedreader.py add FEED…    reads Atom feeds, each a file or an address, from now on
    feedreader.py list         shows what there is
    feedreader.py remove FEED  removes a feed with its items, and its icon if no other feed has it
    feedreader.py undo BATCH   brings back what a removal took
    feedreader.py watch        reads all feeds every hour, and tells what went
"""
import asyncio
import contextlib
import datetime
import hashlib
import pathlib
import sqlite3
import sys
import urllib.request
import uuid
import xml.etree.ElementTree as ET

import cascade

DATABASE = "feeds.db"
ATOM = {"a": "http://www.w3.org/2005/Atom"}
SCHEMA = """PRAGMA journal_mode = WAL;
CREATE TABLE icon(digest BLOB PRIMARY KEY, data BLOB);
CREATE TABLE feed(id TEXT PRIMARY KEY, url TEXT, title TEXT, fetched TEXT, icon BLOB);
CREATE TABLE item(feed TEXT, guid TEXT, title TEXT, published TEXT, PRIMARY KEY(feed, guid));
CREATE INDEX feed_icon ON feed(icon)"""


# Reading needs no client.

def database():
    return contextlib.closing(sqlite3.connect(DATABASE))


def show():
    with database() as db:
        for feed, title in db.execute("SELECT id, title FROM feed ORDER BY title"):
            print(title)
            items = "SELECT substr(published, 1, 10), title FROM item WHERE feed = ? ORDER BY 1, 2"
            for published, item in db.execute(items, [feed]):
                print(f"  {published} {item}")
        print("icons:", *db.execute("SELECT count(*) FROM icon").fetchone())


# A feed: its key is made of its address, so that it is the same feed when it is added again.

def address(name):
    return pathlib.Path(name).resolve().as_uri() if pathlib.Path(name).exists() else name


def key(url):
    return uuid.uuid5(uuid.NAMESPACE_URL, url)


async def get(url):
    def read():
        with urllib.request.urlopen(url, timeout=20) as reply:
            return reply.read()

    return await asyncio.to_thread(read)


async def fetch(store, url):
    """Reads a feed, and writes all that it has, or nothing. Returns its title."""
    feed = ET.fromstring(await get(url))
    row = {"url": url, "title": feed.findtext("a:title", "", ATOM), "icon": None,
           "fetched": datetime.datetime.now(datetime.timezone.utc)}
    async with store.transaction() as tx:
        if icon := feed.findtext("a:icon", "", ATOM):
            data = await get(icon)
            row["icon"] = hashlib.sha256(data).digest()
            tx.put("icons", row["icon"], {"data": data})
        tx.put("feeds", key(url), row)
        for entry in feed.iterfind("a:entry", ATOM):
            published = entry.findtext("a:updated", "", ATOM).replace("Z", "+00:00")
            tx.put("items", (key(url), entry.findtext("a:id", "", ATOM)), {
                "title": entry.findtext("a:title", "", ATOM),
                "published": datetime.datetime.fromisoformat(published)})
    return row["title"]


async def add(store, *names):
    """At the same time. One that cannot be read does not keep the others from it."""
    urls = [address(name) for name in names]
    results = await asyncio.gather(*(fetch(store, url) for url in urls), return_exceptions=True)
    for name, result in zip(names, results):
        print(f"{name}: {result}")


async def remove(store, name):
    job = await store.delete(("feeds", key(address(name))))
    if job["state"] == "held":
        print(f"it waits: cascadectl --store {DATABASE} approve {job['plan']}")
    else:
        print(f"{job['state']}: {job['deletedCount']} rows; undo {job['batch']} brings them back")


async def undo(store, batch):
    print((await store.undo(int(batch)))["restored"], "rows are back")


async def watch(store):
    await asyncio.gather(read_again(store), tell(store))


async def read_again(store):
    while True:
        with database() as db:
            urls = [url for (url,) in db.execute("SELECT url FROM feed")]
        await add(store, *urls)
        await asyncio.sleep(3600)


async def tell(store):
    """A program that has things elsewhere, in a search index or a cache, removes them here."""
    async for gone in store.deleted():
        print("gone:", *gone["node"], flush=True)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    command, *arguments = sys.argv[1:]
    if command == "create":
        with database() as db:
            db.executescript(SCHEMA)
    elif command == "list":
        show()
    else:
        commands = {"add": add, "remove": remove, "undo": undo, "watch": watch}
        store = cascade.AsyncStore(DATABASE, author="feedreader")
        try:
            asyncio.run(commands[command](store, *arguments))
        except (cascade.WriteError, cascade.CallError) as error:
            sys.exit(f"feedreader: {error}")


if __name__ == "__main__":
    main()
