"""Times a daemon that serves very many stores. usage: stores.py BIN DIRECTORY COUNT"""

import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import time

BIN, DIRECTORY, COUNT = sys.argv[1], sys.argv[2], int(sys.argv[3])
MODEL = """{ stores: "%s/t*/app.db",
  collections: { albums: { table: "album", key: "id" }, songs: { table: "song", key: "id" } },
  relationships: [ { name: "album", from: "songs", to: "albums", column: "album",
    rules: ["deleteSourceIfDestinationDeleted"] } ] }"""
SCHEMA = """PRAGMA journal_mode = WAL;
  CREATE TABLE album(id INTEGER PRIMARY KEY, title TEXT);
  CREATE TABLE song(id INTEGER PRIMARY KEY, album INTEGER, title TEXT);
  CREATE INDEX song_album ON song(album);
  WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 400)
  INSERT INTO album SELECT i, 'album ' || i FROM n;
  WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
  INSERT INTO song SELECT i, 1 + i % 400, 'song ' || i FROM n;
  PRAGMA wal_checkpoint(TRUNCATE)"""


def store(number):
    return f"{DIRECTORY}/t{number}/app.db"


def make_stores():
    first = f"{DIRECTORY}/first.db"
    sqlite3.connect(first).executescript(SCHEMA).close()
    for number in range(COUNT):
        add_store(number)
    os.makedirs(f"{DIRECTORY}/models")
    with open(f"{DIRECTORY}/models/tenants.json", "w", encoding="utf-8") as file:
        file.write(MODEL % DIRECTORY)


def add_store(number):
    os.makedirs(f"{DIRECTORY}/t{number}")
    shutil.copy(f"{DIRECTORY}/first.db", store(number))


def ctl(*words):
    command = [f"{BIN}/cascadectl", "--socket", f"{DIRECTORY}/socket", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def states():
    reply = ctl("--json", "status")
    found = json.loads(reply.stdout) if reply.stdout else {}
    return [one["state"] for one in found.get("stores", [found])] if found else []


class Daemon:
    """The daemon, and what the system says of it."""

    def __init__(self):
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        with open(f"{DIRECTORY}/log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [f"{BIN}/cascaded", "--socket", f"{DIRECTORY}/socket",
                 "--config", f"{DIRECTORY}/models"], stderr=log)
        self.own = f"/proc/{self.process.pid}"

    def status(self, name):
        with open(f"{self.own}/status", encoding="utf-8") as file:
            return next(int(line.split()[1]) for line in file if line.startswith(name))

    def processor(self):
        with open(f"{self.own}/stat", encoding="utf-8") as file:
            words = file.read().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def descriptors(self):
        return len(os.listdir(f"{self.own}/fd"))


def wait(condition, pause=0.05):
    begun = time.time()
    while not condition():
        time.sleep(pause)
    return time.time() - begun


def seconds(action):
    begun = time.time()
    action()
    return time.time() - begun


def delete_album(number):
    """Deletes one as an application, and returns which."""
    with sqlite3.connect(store(number), timeout=10) as database:
        album = database.execute("SELECT max(album) FROM song").fetchone()[0]
        database.execute("DELETE FROM album WHERE id = ?", (album,))
    database.close()
    return album


def is_swept(number, album):
    database = sqlite3.connect(store(number), timeout=10)
    left = database.execute("SELECT count(*) FROM song WHERE album = ?", (album,)).fetchone()[0]
    database.close()
    return left == 0


def tell(what, value, goal):
    print(f"  {what:52} {value:>18}   goal {goal}", flush=True)


def measure(daemon):
    begun = time.time()
    wait(lambda: ctl("status", "--not-ok").returncode in (0, 3))
    tell("the socket answers", f"{time.time() - begun:.1f} s", "1 s")
    most = []
    wait(lambda: most.append(daemon.status("Threads")) or states() == ["ok"] * COUNT, 1)
    tell("all stores are ok", f"{time.time() - begun:.1f} s", "15 s")
    tell("memory at most; threads", f"{daemon.status('VmHWM') // 1024} MB; {max(most)}", "300 MB; 32")
    time.sleep(25)
    tell("memory settled; descriptors",
         f"{daemon.status('VmRSS') // 1024} MB; {daemon.descriptors()}", "150 MB; 4000")
    before = daemon.processor()
    time.sleep(20)
    tell("idle", f"{(daemon.processor() - before) * 5:.1f} %", "0.2 %")
    tell("status", f"{seconds(lambda: ctl('status')):.2f} s", "0.3 s")
    tell("status --json", f"{seconds(lambda: ctl('--json', 'status')):.2f} s", "0.3 s")
    times = sorted(one_deletion(37 * turn % COUNT) for turn in range(100))
    tell("a deletion in one: p50, p99", f"{times[50]:.0f}, {times[98]:.0f} ms", "5, 30 ms")
    albums = [delete_album(number) for number in range(COUNT)]
    took = sum(wait(lambda n=number, a=album: is_swept(n, a), 0.01)
               for number, album in enumerate(albums))
    tell("a deletion in each: all swept", f"{took:.1f} s", "5 s")
    time.sleep(10)
    tell("memory by then", f"{daemon.status('VmHWM') // 1024} MB", "300 MB")
    add_store(COUNT)
    tell("reload with one store more", f"{seconds(lambda: ctl('reload')):.2f} s", "0.5 s")


def one_deletion(number):
    album = delete_album(number)
    took = wait(lambda: is_swept(number, album), 0.001)
    time.sleep(0.1)
    return took * 1000


def main():
    make_stores()
    daemon = Daemon()
    try:
        measure(daemon)
    finally:
        daemon.process.terminate()
        took = seconds(daemon.process.wait)
    tell("stop", f"{took:.1f} s", "3 s")


main()
