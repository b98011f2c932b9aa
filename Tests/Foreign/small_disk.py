"""An application on a small disk of its own, beside a daemon that sweeps what it deletes.

small_disk.py DIRECTORY CASCADED CASCADECTL READER

DIRECTORY is the mount point of an empty disk of 40 MiB. The application deletes half of its artists,
and commits a row every 10 ms from then on. READER is "none", or "reader" for a transaction that
stays open, "restart" for one beside which the daemon is restarted, "full" for a file that fills the
disk meanwhile, or "full-restart" for both. Each commit must succeed. In the end nothing may be left
to sweep.
"""
import json
import os
import sqlite3
import subprocess
import sys
import time

directory, cascaded, cascadectl, scenario = sys.argv[1:]
path = os.path.join(directory, "app.db")
filler = os.path.join(directory, "filler")
ARTISTS = 1_000

SCHEMA = f"""
PRAGMA journal_mode = WAL;
CREATE TABLE artist(id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE album(id INTEGER PRIMARY KEY, artist INTEGER, title TEXT);
CREATE TABLE song(id INTEGER PRIMARY KEY, album INTEGER, title TEXT);
CREATE TABLE work(id INTEGER PRIMARY KEY, text TEXT);
CREATE INDEX album_artist ON album(artist);
CREATE INDEX song_album ON song(album);
CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (
  SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {ARTISTS * 60}) SELECT i FROM n;
INSERT INTO artist SELECT i, 'artist ' || i FROM n WHERE i <= {ARTISTS};
INSERT INTO album SELECT i, i % {ARTISTS} + 1, 'album ' || i FROM n WHERE i <= {ARTISTS * 10};
INSERT INTO song SELECT i, (i * 7919) % {ARTISTS * 10} + 1, 'the title of song ' || i FROM n;
"""
MODEL = """{
  collections: { artists: { table: "artist", key: "id" }, albums: { table: "album", key: "id" },
    songs: { table: "song", key: "id" } },
  relationships: [
    { name: "artist", from: "albums", to: "artists", column: "artist",
      rules: ["deleteSourceIfDestinationDeleted"] },
    { name: "album", from: "songs", to: "albums", column: "album",
      rules: ["deleteSourceIfDestinationDeleted"] } ],
  limits: { hold: { deletes: 1000000 } } }"""
LEFT = """
SELECT (SELECT count(*) FROM album WHERE artist NOT IN (SELECT id FROM artist))
  + (SELECT count(*) FROM song WHERE album NOT IN (SELECT id FROM album))"""


def connect():
    return sqlite3.connect(path, timeout=20, isolation_level=None)


def ask(*arguments):
    command = [cascadectl, "--store", path, "--json", *arguments]
    outcome = subprocess.run(command, capture_output=True, text=True)
    return json.loads(outcome.stdout) if outcome.stdout else {}


def store():
    return (ask("status").get("stores") or [{}])[0]


class Application:
    def __init__(self):
        self.db, self.commits = connect(), 0

    def commit(self):
        self.db.execute("INSERT INTO work(text) VALUES('some text')")
        self.commits += 1

    def commit_until(self, what, condition, limit):
        end = time.monotonic() + limit
        while not condition():
            if time.monotonic() > end:
                sys.exit(f"not in time: {what}: {store()}, {sizes()}")
            self.commit()
            time.sleep(0.01)


def sizes():
    files = {name: os.path.getsize(os.path.join(directory, name))
             for name in os.listdir(directory) if name.startswith("app.db")}
    status = os.statvfs(directory)
    return files | {"free": status.f_bavail * status.f_frsize}


def start():
    with open(os.path.join("/tmp", f"small-disk-{os.getpid()}.log"), "a") as log:
        daemon = subprocess.Popen([cascaded, path], stderr=log)
    end = time.monotonic() + 30
    while not store():
        if daemon.poll() is not None or time.monotonic() > end:
            sys.exit(f"cascaded does not serve: {daemon.poll()} {open(log.name).read()[-2000:]}")
        time.sleep(0.05)
    return daemon


def is_waiting():
    now = store()
    return now.get("state") == "degraded" and "the sweep goes on" in now.get("reason", "")


def fill(leave):
    status = os.statvfs(directory)
    size = status.f_bavail * status.f_frsize - leave
    with open(filler, "wb") as file:
        for _ in range(size >> 16):
            file.write(bytes(1 << 16))


def main():
    connect().executescript(SCHEMA + "PRAGMA wal_checkpoint(TRUNCATE);")
    os.makedirs(path + ".cascade")
    with open(path + ".cascade/model.json", "w") as file:
        file.write(MODEL)
    daemon = start()
    application, reader, most = Application(), connect(), 0
    if scenario in ("reader", "restart"):
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM artist").fetchone()
    if scenario in ("full", "full-restart"):
        fill(leave=5 << 20)
    application.db.execute("DELETE FROM artist WHERE id % 2 = 0")
    if scenario != "none":
        application.commit_until("the sweep waits", is_waiting, 60)
        print(store().get("reason"), sizes())
    if scenario.endswith("restart"):
        daemon.terminate()
        daemon.wait()
        daemon = start()
        application.commit_until("the sweep waits again", is_waiting, 60)
    if reader.in_transaction:
        assert store()["longestReader"]["process"] == os.getpid(), store()
        reader.execute("COMMIT")
    if os.path.exists(filler):
        os.remove(filler)

    def is_over():
        nonlocal most
        most = max(most, sizes().get("app.db-wal", 0))
        return application.db.execute(LEFT).fetchone()[0] == 0

    assert application.db.execute(LEFT).fetchone()[0] > 0 or scenario == "none"
    application.commit_until("nothing is left", is_over, 120)
    application.commit_until("it is well", lambda: store().get("state") == "ok", 60)
    assert application.db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    print(application.commits, "commits", "longest log", most, sizes())
    daemon.terminate()
    assert daemon.wait() == 0


main()
