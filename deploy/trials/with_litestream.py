"""Litestream replicates a database while it is swept, with its own checkpoints and the daemon's.
What it restores is equal, Cascade's tables too: a daemon that serves the copy can undo what went
before."""
import contextlib
import pathlib
import shutil
import signal
import sqlite3
import subprocess

from fixture import Store, assert_same, dump, is_sound, wait

SCHEMA = """
CREATE TABLE artist(id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE song(id INTEGER PRIMARY KEY, artist_id INTEGER, title TEXT);
CREATE INDEX song_artist ON song(artist_id);
"""
MODEL = {
    "collections": {name: {"table": name, "key": "id"} for name in ("artist", "song")},
    "relationships": [{"name": "artist", "from": "song", "to": "artist", "column": "artist_id",
                       "rules": ["deleteSourceIfDestinationDeleted"]}],
    "limits": {"hold": {"deletes": 1_000_000, "share": 1.0}}}
SETTINGS = """
socket: {{enabled: true, path: {0}/litestream.sock}}
dbs:
  - path: {0}/music.db
    monitor-interval: 20ms
    checkpoint-interval: 200ms
    min-checkpoint-page-count: 20
    replica: {{type: file, path: {0}/replica, sync-interval: 20ms}}
"""
MARKS = ["_litestream_seq", "_litestream_lock"]
HERE = pathlib.Path.cwd()


def litestream(*arguments):
    subprocess.run(["litestream", *arguments], check=True, stdout=subprocess.DEVNULL)


@contextlib.contextmanager
def replicating():
    pathlib.Path("litestream.yml").write_text(SETTINGS.format(HERE))
    with open("litestream.log", "a") as log:
        process = subprocess.Popen(["litestream", "replicate", "-config", "litestream.yml"],
                                   stdout=log, stderr=log)
    try:
        wait(pathlib.Path("litestream.sock").exists, "Litestream answers")
        yield
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        assert "level=ERROR" not in pathlib.Path("litestream.log").read_text()


def restore(name):
    litestream("sync", "-wait", "-socket", HERE / "litestream.sock", HERE / "music.db")
    litestream("restore", "-config", "litestream.yml", "-o", name, HERE / "music.db")


@contextlib.contextmanager
def writing():
    with contextlib.closing(sqlite3.connect("music.db", timeout=30)) as db, db:
        yield db


def fill(artist, songs):
    with writing() as db:
        db.execute("INSERT INTO artist VALUES (?, ?)", [artist, f"artist {artist}"])
        db.executemany("INSERT INTO song(artist_id, title) VALUES (?, ?)",
                       ((artist, f"song {number} {'-' * 200}") for number in range(songs)))


def delete(artist):
    with writing() as db:
        db.execute("DELETE FROM artist WHERE id = ?", [artist])


def work():
    """Writes and deletes while the daemon sweeps and both take checkpoints."""
    for artist in range(100, 160):
        fill(artist, 50)
        if artist % 2:
            delete(artist)


def replicated(database):
    """Everything that a copy must have, Cascade's tables too, but not Litestream's own marks."""
    return {name: rows for name, rows in dump(database, ours=True).items()
            if name not in MARKS}


def is_equal(name):
    restore(name)
    assert_same(replicated(name), replicated("music.db"), "restored")
    assert is_sound(name)


def main():
    with writing() as db:
        db.executescript(f"PRAGMA journal_mode = WAL; {SCHEMA}")
    for artist in range(10):
        fill(artist, 2000)
    with replicating(), Store("music.db", MODEL, MARKS) as store:
        store.follow(lambda: delete(1), nodes=2000)
        is_equal("one.db")
        before = store.dump()
        delete(2)
        between = store.dump()
        batch = store.expect(before, between)["batch"]
        store.live(work)
        is_equal("two.db")
    with Store("music.db", MODEL, MARKS) as store:  # the other order, and Litestream was away
        store.follow(lambda: delete(3), nodes=2000)
        with replicating():
            is_equal("three.db")
    serve_copy(batch, between)


def serve_copy(batch, between):
    """The copy has the trash, too."""
    with Store("three.db", MODEL, MARKS) as copy:
        copy.ask("undo", batch)
        songs = [song for song in copy.dump()["song"] if song["artist_id"] == 2]
        assert songs == [song for song in between["song"] if song["artist_id"] == 2]
        copy.detach()
    assert is_sound("three.db")


main()
