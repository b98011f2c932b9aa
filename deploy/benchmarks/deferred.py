#!/usr/bin/env python3
"""An application that reads, works for 2 ms, and then writes, in deferred transactions.

deferred.py load DB COUNT    makes COUNT artists, each with 5 albums of 9 songs
deferred.py run DB COUNT     deletes COUNT artists, one in each transaction, with pauses of 20 ms;
                             prints how many transactions failed, although SQLite was told to wait
"""
import sqlite3
import sys
import time

WORK_SECONDS = 0.002
PAUSE_SECONDS = 0.020

SCHEMA = """
PRAGMA journal_mode = WAL;
CREATE TABLE artist(id TEXT PRIMARY KEY, title TEXT NOT NULL);
CREATE TABLE album(id TEXT PRIMARY KEY, artist_id TEXT, title TEXT NOT NULL);
CREATE TABLE song(id TEXT PRIMARY KEY, album_id TEXT, title TEXT NOT NULL);
CREATE INDEX album_artist ON album(artist_id);
CREATE INDEX song_album ON song(album_id);
CREATE TEMP TABLE n AS
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT %d) SELECT i FROM n;
INSERT INTO artist SELECT hex(randomblob(18)), 'the name of an artist' FROM n;
INSERT INTO album SELECT hex(randomblob(18)), id, 'the title of an album'
  FROM artist, n WHERE i <= 5;
INSERT INTO song SELECT hex(randomblob(18)), id, 'the title of a song'
  FROM album, n WHERE i <= 9;
"""


def work():
    end = time.perf_counter() + WORK_SECONDS
    while time.perf_counter() < end:
        pass


def delete(db, artist):
    """Whether the transaction took effect."""
    db.execute("BEGIN DEFERRED")
    try:
        db.execute("SELECT count(*) FROM album WHERE artist_id = ?", (artist,)).fetchone()
        work()
        db.execute("DELETE FROM artist WHERE id = ?", (artist,))
        db.execute("COMMIT")
        return True
    except sqlite3.OperationalError as error:
        if "locked" not in str(error):
            raise
        db.execute("ROLLBACK")
        return False


def run(path, count):
    db = sqlite3.connect(path, timeout=5, isolation_level=None)
    rows = db.execute("SELECT id FROM artist ORDER BY id LIMIT ?", (count,)).fetchall()
    failed = 0
    for (artist,) in rows:
        failed += not delete(db, artist)
        time.sleep(PAUSE_SECONDS)
    print(failed)


def load(path, count):
    db = sqlite3.connect(path, isolation_level=None)
    db.executescript(SCHEMA % max(count, 9))
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


if __name__ == "__main__":
    {"load": load, "run": run}[sys.argv[1]](sys.argv[2], int(sys.argv[3]))
