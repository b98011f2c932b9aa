"""An application's process: writes into the store of the soak at full speed, at random.

writer.py STORE EXPECTED NUMBER SEED WRITES

What must be there at the end is written into the database EXPECTED, in transactions that end as
those of the store do. It is exact for what a sweep must never delete:

- posts: no rule deletes one. Each writer has keys of its own.
- steady songs: those of the albums 1 to 60. Such an album goes with its last song only, so a song
  that is in one stays until its writer takes it out.
- features: joins of the steady songs whose keys come once only with the artists that stay.
- loose photos and albums: nothing ever referred to them.

Photos and steady albums are shared by all writers. Whoever refers to one makes it again, in the
same transaction, if it is not there any more. Everything else is churned: what must be left of it
is for the rules to say.
"""

import random
import sqlite3
import sys

from albums import Albums
from posts import Posts
from songs import Songs

EXPECTED = """
CREATE TABLE post(id INTEGER PRIMARY KEY, photo_id TEXT, body TEXT, slug TEXT UNIQUE);
CREATE TABLE song(id INTEGER PRIMARY KEY, album_id INTEGER, slot TEXT);
CREATE TABLE feature(song_id INTEGER, artist_id INTEGER, PRIMARY KEY(song_id, artist_id));
CREATE TABLE photo(id TEXT PRIMARY KEY);
CREATE TABLE album(id INTEGER PRIMARY KEY);
"""

# What a transaction is made of, and how often.
WAYS = [
    (14, "put_post"), (8, "point_post"), (10, "delete_post"), (2, "rekey_post"),
    (12, "put_song"), (10, "move_song"), (8, "delete_song"), (2, "rekey_song"),
    (8, "put_album"), (2, "delete_album"), (2, "rekey_album"),
    (3, "put_artist"), (1, "delete_artist"), (1, "rekey_artist"),
    (8, "put_feature"), (3, "delete_feature"), (3, "put_cover"), (3, "delete_cover"),
    (2, "put_loose"), (1, "delete_loose"),
]


def connect(path):
    db = sqlite3.connect(path, isolation_level=None, cached_statements=500)
    db.execute("PRAGMA busy_timeout = 60000")
    db.execute("PRAGMA synchronous = OFF")
    return db


class Writer(Posts, Songs, Albums):
    def __init__(self, store, expected, number, seed):
        self.store = connect(store)
        # A checkpoint that races with a commit corrupts what SQLite before 3.51.3 writes. The
        # daemon takes safe ones.
        self.store.execute("PRAGMA wal_autocheckpoint = 0")
        # Without it, as is usual, what REPLACE displaces fires no delete trigger.
        self.store.execute(f"PRAGMA recursive_triggers = {number == 2}")
        self.expected = connect(expected)
        self.expected.execute("PRAGMA journal_mode = MEMORY")
        self.expected.executescript(EXPECTED)
        self.random = random.Random(seed * 3 + number)
        self.number = number
        self.first = (number + 1) * 10_000_000
        self.fresh = self.first + 1_000_000
        self.writes = 0
        self.weights = [weight for weight, _ in WAYS]
        self.ways = [getattr(self, name) for _, name in WAYS]

    # Transactions

    def run(self, writes):
        while self.writes < writes:
            if self.chance(0.1):
                self.alone()
            else:
                self.transaction(self.random.randint(1, 20))

    def alone(self):
        """A statement that is its own transaction."""
        self.pick(self.delete_post, self.delete_song, self.churn_song, self.delete_album)()

    def transaction(self, count):
        self.both(self.pick("BEGIN", "BEGIN IMMEDIATE"))
        has_savepoints = self.chance(0.5)
        for way in self.random.choices(self.ways, self.weights, k=count):
            if has_savepoints:
                self.part(way)
                continue
            try:
                way()
            except sqlite3.IntegrityError:
                return self.both("ROLLBACK")
        self.both("ROLLBACK" if self.chance(0.05) else "COMMIT")

    def part(self, way):
        self.both("SAVEPOINT part")
        try:
            way()
            is_wanted = self.chance(0.95)
        except sqlite3.IntegrityError:
            is_wanted = False
        if not is_wanted:
            self.both("ROLLBACK TO part")
        self.both("RELEASE part")

    def both(self, sql, *values):
        """What the store refuses is not expected."""
        count = self.store.execute(sql, values).rowcount
        self.expected.execute(sql, values)
        return count

    def write(self, sql, *values):
        self.writes += 1
        return self.store.execute(sql, values).rowcount

    def write_both(self, sql, *values):
        self.writes += 1
        return self.both(sql, *values)

    def expect(self, sql, *values):
        self.expected.execute(sql, values)

    def chance(self, share):
        return self.random.random() < share

    def pick(self, *choices):
        return self.random.choice(choices)

    def insert(self):
        return self.pick("INSERT", "INSERT OR REPLACE", "REPLACE")


def main(store, expected, number, seed, writes):
    Writer(store, expected, int(number), int(seed)).run(int(writes))


if __name__ == "__main__":
    main(*sys.argv[1:])
