"""A daemon that starts on a disk that is full.

full_disk.py DIRECTORY CASCADED CASCADECTL SCENARIO

DIRECTORY is the mount point of an empty disk of 40 MiB. The store, its spool, the socket and the log
are on it. An application deleted half of its artists while no daemon ran, and a change file waits in
the queue. Then the disk is filled to the last byte. SCENARIO:

attached    the application has closed the database: SQLite cannot make its files beside it
open        the application has it open
new         no daemon served the store before
names       there is room for bytes, and for no other name of a file
names-open  the same, and the application has the database open
directory   as `attached`, and the daemon serves a directory of models

The daemon must answer and say why it waits. When there is room, it must do what is left to do.
"""
import json
import os
import sqlite3
import subprocess
import sys
import time

directory, cascaded, cascadectl, scenario = sys.argv[1:]
path = os.path.join(directory, "app.db")
spool = path + ".cascade"
log = os.path.join(directory, "log")
filler = os.path.join(directory, "filler")
socket = os.path.join(directory, "socket") if scenario == "directory" else spool + "/control"
ARTISTS = 200

SCHEMA = f"""
PRAGMA journal_mode = WAL;
CREATE TABLE artist(id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE album(id INTEGER PRIMARY KEY, artist INTEGER, title TEXT);
CREATE INDEX album_artist ON album(artist);
CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (
  SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {ARTISTS * 5}) SELECT i FROM n;
INSERT INTO artist SELECT i, 'artist ' || i FROM n WHERE i <= {ARTISTS};
INSERT INTO album SELECT i, i % {ARTISTS} + 1, 'album ' || i FROM n;
"""
MODEL = """{
  store: "%s",
  collections: { artists: { table: "artist", key: "id" }, albums: { table: "album", key: "id" } },
  relationships: [
    { name: "artist", from: "albums", to: "artists", column: "artist",
      rules: ["deleteSourceIfDestinationDeleted"] } ],
  limits: { hold: { deletes: 1000000 } } }"""
CHANGES = '{"changes": [{"put": ["notes", "1"], "value": {"text": "waits"}}]}'
LEFT = "SELECT count(*) FROM album WHERE artist NOT IN (SELECT id FROM artist)"


def connect():
    return sqlite3.connect(path, timeout=20, isolation_level=None)


def write(name, text):
    with open(name, "w") as file:
        file.write(text)


def start():
    arguments = [path]
    if scenario == "directory":
        arguments = ["--socket", socket, "--config", os.path.join(directory, "models")]
    with open(log, "a") as file:
        return subprocess.Popen([cascaded, *arguments], stderr=file)


def store():
    command = [cascadectl, "--socket", socket, "--json", "status"]
    outcome = subprocess.run(command, capture_output=True, text=True)
    return json.loads(outcome.stdout)["stores"][0] if outcome.stdout else {}


def wait(what, daemon, condition, limit=30):
    end = time.monotonic() + limit
    while not condition():
        if daemon.poll() is not None or time.monotonic() > end:
            sys.exit(f"not in time: {what}: {daemon.poll()}, {store()}\n{open(log).read()}")
        time.sleep(0.05)


def fill():
    """What is left is less than a byte, or than a name."""
    file = os.open(filler, os.O_CREAT | os.O_WRONLY)
    if scenario.startswith("names"):
        subprocess.run(["mount", "-o", f"remount,nr_inodes={inodes()}", directory], check=True)
        return
    try:
        while True:
            os.write(file, bytes(1 << 16))
    except OSError:
        pass
    os.close(file)
    assert os.statvfs(directory).f_bavail == 0


def inodes():
    status = os.statvfs(directory)
    return status.f_files - status.f_ffree


def make_room():
    os.remove(filler)
    if scenario.startswith("names"):
        subprocess.run(["mount", "-o", "remount,nr_inodes=1000", directory], check=True)


def prepare():
    connect().executescript(SCHEMA)
    os.makedirs(spool, mode=0o700)
    write(spool + "/model.json", MODEL % path)
    os.makedirs(os.path.join(directory, "models"), mode=0o700)
    write(os.path.join(directory, "models", "app.json"), MODEL % path)
    if scenario == "new":
        return
    daemon = start()
    wait("it is attached", daemon, lambda: store().get("state") == "ok")
    daemon.terminate()
    assert daemon.wait() == 0
    write(spool + "/new/1.json", CHANGES)


def says_that_it_waits():
    """Where no name is free the socket may have none either; then the log says so."""
    if scenario.startswith("names"):
        return store().get("state") or "cannot listen" in open(log).read()
    said = store()
    return said.get("state") == "degraded" and said["reason"].startswith("the disk is full")


def has_work_left(application):
    if scenario == "new":
        return False
    return application.execute(LEFT).fetchone()[0] > 0 or os.listdir(spool + "/new")


def main():
    prepare()
    application = connect()
    application.execute("DELETE FROM artist WHERE id % 2 = 0")
    if not scenario.endswith("open"):
        application.close()
    fill()
    daemon = start()
    wait("it says that it waits", daemon, says_that_it_waits)
    make_room()
    if not scenario.endswith("open"):
        application = connect()
    wait("nothing is left", daemon, lambda: not has_work_left(application))
    # What dangled before the first daemon came needs an approval.
    end = "held" if scenario == "new" else "ok"
    wait("it is well", daemon, lambda: store().get("state") == end)
    assert application.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    daemon.terminate()
    assert daemon.wait() == 0


main()
