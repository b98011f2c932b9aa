#!/usr/bin/env python3
"""What triggers for marks cost an application that marks nothing.

marks.py load DB COUNT             makes COUNT albums of 1,000 artists
marks.py run C OURS RUNS DIRECTORY times the same statements on two copies, in turns; the seconds of
                                   each run go to NAME.c and NAME.ours in the directory
"""
import sqlite3
import sys
import time

SCHEMA = """
PRAGMA journal_mode = WAL;
CREATE TABLE artist(id INTEGER PRIMARY KEY, name TEXT, deleted_at INTEGER);
CREATE TABLE album(id INTEGER PRIMARY KEY, artist INTEGER, title TEXT, deleted_at INTEGER);
CREATE INDEX album_artist ON album(artist);
CREATE TEMP TABLE n AS
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT %d) SELECT i FROM n;
INSERT INTO artist SELECT i, 'the name of an artist', NULL FROM n WHERE i <= 1000;
INSERT INTO album SELECT i, i %% 1000 + 1, 'title ' || i, NULL FROM n;
"""

# The last one brings back what was there before the first.
STATEMENTS = {
    "insert": "INSERT INTO album SELECT -id, artist, title, NULL FROM album WHERE id > 0",
    "other": "UPDATE album SET title = 'another' WHERE id < 0",
    "whole": "UPDATE album SET artist = artist, title = 'new', deleted_at = deleted_at WHERE id < 0",
    "itself": "UPDATE album SET deleted_at = deleted_at WHERE id < 0",
    "delete": "DELETE FROM album WHERE id < 0",
}


def load(path, count):
    sqlite3.connect(path, isolation_level=None).executescript(SCHEMA % count)


def measure(db, statement):
    db.execute("BEGIN")
    start = time.perf_counter()
    db.execute(statement)
    seconds = time.perf_counter() - start
    db.execute("COMMIT")
    return seconds


def run(c, ours, runs, directory):
    sides = [(name, sqlite3.connect(path, isolation_level=None))
             for name, path in (("c", c), ("ours", ours))]
    for _ in range(runs):
        sides.reverse()
        for name, statement in STATEMENTS.items():
            for side, db in sides:
                with open(f"{directory}/marks-{name}.{side}", "a") as results:
                    print(f"{measure(db, statement):.6f}", file=results)
        for _, db in sides:
            db.execute("DELETE FROM cascade_journal")


if sys.argv[1] == "load":
    load(sys.argv[2], int(sys.argv[3]))
else:
    run(sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5])
