"""Transactions of an application beside a daemon that sweeps what it deletes.

transactions.py waits DB    a transaction that began after the deletion writes, and takes effect
transactions.py once DB     prints how long the first sweep and the second one took, beside a
                            transaction that stays open
transactions.py loop DB     deletes a hundred songs, each in a commit of its own, 5 ms apart
"""
import sqlite3
import sys
import time

path = sys.argv[2]


def connect():
    return sqlite3.connect(path, timeout=5, isolation_level=None)


def songs(db, album):
    return db.execute("SELECT count(*) FROM song WHERE album_id = ?", (album,)).fetchone()[0]


def wait_until_swept(db, album, limit):
    """The seconds until the album's songs are gone; None if they stay."""
    start = time.monotonic()
    while time.monotonic() - start < limit:
        if songs(db, album) == 0:
            return time.monotonic() - start
        time.sleep(0.005)
    return None


def reading():
    db = connect()
    db.execute("BEGIN DEFERRED")
    songs(db, 1)
    return db


def waits():
    first, application = reading(), connect()
    application.execute("DELETE FROM album WHERE id = 1")
    assert wait_until_swept(application, 1, limit=1) is None, "the sweep did not wait"
    second = reading()
    first.execute("ROLLBACK")
    assert wait_until_swept(application, 1, limit=1) is None, "the sweep did not wait"
    second.execute("UPDATE artist SET name = 'changed' WHERE id = 'nina'")
    second.execute("COMMIT")
    assert wait_until_swept(application, 1, limit=60) is not None, "the sweep waited for ever"


def once():
    _reader, application = reading(), connect()
    for album in (1, 2):
        application.execute("DELETE FROM album WHERE id = ?", (album,))
        print(wait_until_swept(application, album, limit=60))


def loop():
    application = connect()
    for song in range(100):
        application.execute("DELETE FROM song WHERE id = ?", (1_000 + song,))
        time.sleep(0.005)


{"waits": waits, "once": once, "loop": loop}[sys.argv[1]]()
