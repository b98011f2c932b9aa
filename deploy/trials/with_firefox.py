"""Firefox's places, in its schema: the root of the bookmarks has the parent 0, and there is no such
bookmark. Without `none` in the model nothing goes but by an approval of a plan that names the value
and the count; with it there is nothing to approve."""
import contextlib
import json
import sqlite3
import subprocess

from fixture import BIN, Store, assert_same, dump, is_sound, wait

SCHEMA = """
CREATE TABLE moz_places (id INTEGER PRIMARY KEY, url LONGVARCHAR, title LONGVARCHAR,
  visit_count INTEGER DEFAULT 0, foreign_count INTEGER DEFAULT 0 NOT NULL, guid TEXT);
CREATE TABLE moz_bookmarks (id INTEGER PRIMARY KEY, type INTEGER, fk INTEGER DEFAULT NULL,
  parent INTEGER, position INTEGER, title LONGVARCHAR, dateAdded INTEGER, guid TEXT);
CREATE INDEX moz_bookmarks_itemindex ON moz_bookmarks (fk, type);
CREATE INDEX moz_bookmarks_parentindex ON moz_bookmarks (parent, position);
CREATE TRIGGER moz_bookmarks_foreign_count_afterinsert_trigger AFTER INSERT ON moz_bookmarks BEGIN
  UPDATE moz_places SET foreign_count = foreign_count + 1 WHERE id = NEW.fk; END;
CREATE TRIGGER moz_bookmarks_foreign_count_afterdelete_trigger AFTER DELETE ON moz_bookmarks BEGIN
  UPDATE moz_places SET foreign_count = foreign_count - 1 WHERE id = OLD.fk; END;
"""
ROOTS = """
INSERT INTO moz_bookmarks VALUES (1, 2, NULL, 0, 0, '', 1, 'root________'),
  (2, 2, NULL, 1, 0, 'menu', 1, 'menu________'), (3, 2, NULL, 1, 1, 'toolbar', 1, 'toolbar_____'),
  (4, 2, NULL, 1, 2, 'tags', 1, 'tags________'), (5, 2, NULL, 1, 3, 'unfiled', 1, 'unfiled_____'),
  (6, 2, NULL, 1, 4, 'mobile', 1, 'mobile______'), (7, 2, NULL, 2, 0, 'folder', 2, 'folder000001');
INSERT INTO moz_places(id, url, guid) VALUES (1, 'https://one/', 'a'), (2, 'https://two/', 'b');
INSERT INTO moz_bookmarks VALUES (8, 1, 1, 7, 0, 'one', 2, 'bookmark0001'),
  (9, 1, 2, 7, 1, 'two', 2, 'bookmark0002'), (10, 1, 1, 3, 0, 'one', 2, 'bookmark0003'),
  (11, 1, 2, 5, 0, 'two', 2, 'bookmark0004');
"""
COMMANDS = [["sweep", "dangling"], ["sweep"], ["sweep", "cascade", "refcount"],
            ["check", "--repair"], ["reload"], ["pause"], ["resume"], ["migrate", "begin"],
            ["migrate", "end"], ["sweep"]]


def model(**more):
    return {
        "collections": {"bookmarks": {"table": "moz_bookmarks", "key": "id"},
                        "places": {"table": "moz_places", "key": "id"}},
        "relationships": [
            {"name": "parent", "from": "bookmarks", "to": "bookmarks", "column": "parent",
             "rules": ["deleteSourceIfDestinationDeleted"], **more},
            {"name": "place", "from": "bookmarks", "to": "places", "column": "fk",
             "rules": ["deleteSourceIfDestinationDeleted"]}]}


def run(script):
    with contextlib.closing(sqlite3.connect("places.sqlite", timeout=30)) as db:
        db.executescript(script)


def shown(*arguments):
    return subprocess.check_output([BIN / "cascadectl", "--store", "places.sqlite", *arguments],
                                   text=True)


def plans(store):
    return store.status()["heldPlans"]


def resist(store):
    """No command, no restart and no schedule deletes anything."""
    everything = store.dump()
    for command in COMMANDS:
        store.command(*command)
        assert_same(store.dump(), everything, f"after {command}")
    store.stop()
    store.sweeps = {"all": "@every 1s"}
    store.write_model()
    store.start()
    wait(lambda: any(one["last"]["why"] == "schedule" for one in store.status()["schedules"]
                     if one["last"]), "a sweep runs by itself")
    assert_same(store.dump(), everything, "after a sweep by itself")


def approve(store):
    everything = store.dump()
    held, = plans(store)
    assert (held["value"]["value"], held["value"]["count"], held["deletedCount"]) == (0, 1, 11)
    number = str(held["plan"])
    assert '1 value 0 in references of "parent"' in shown("plan", number)
    assert "11 nodes would be deleted" in shown("plan", number)
    approved = store.ask("approve", number)[0]
    assert not store.dump()["moz_bookmarks"], approved
    store.ask("undo", approved["batch"])
    assert_same(store.dump(), everything, "after undo")


def without_none():
    run(SCHEMA)
    with Store("places.sqlite", model()) as store:
        run(ROOTS)
        resist(store)
        approve(store)
        store.detach()
    with Store("places.sqlite", model()) as store:  # found by the first look
        resist(store)
        approve(store)
        store.detach()


def with_none():
    with Store("places.sqlite", model(none=[0]), ["moz_places.foreign_count"]) as store:
        resist(store)
        assert not plans(store)
        store.follow(lambda: run("DELETE FROM moz_bookmarks WHERE id = 2"), nodes=3)
        assert count_is_right()
        store.follow(lambda: run("DELETE FROM moz_places WHERE id = 2"), nodes=1)
        assert count_is_right()
        store.detach()


def count_is_right():
    """What Firefox's triggers count follows the daemon's deletions, and an undo."""
    rows = dump("places.sqlite")
    return all(
        place["foreign_count"] == sum(one["fk"] == place["id"] for one in rows["moz_bookmarks"])
        for place in rows["moz_places"])


def main():
    without_none()
    with_none()
    assert is_sound("places.sqlite")


main()
