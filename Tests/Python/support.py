"""A daemon for each test of the Python package. $BIN has its program."""
import contextlib
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "deploy/python"))
import cascade  # noqa: E402

BIN = pathlib.Path(os.environ["BIN"])


def contains(value, expected):
    """Whether the expected members are there; a list has the same length."""
    if isinstance(expected, dict):
        return isinstance(value, dict) and all(
            contains(value.get(name), part) for name, part in expected.items())
    if isinstance(expected, list):
        return (isinstance(value, list) and len(value) == len(expected)
                and all(map(contains, value, expected)))
    return value == expected


class Daemon:
    def __init__(self, directory, schema="", model=None):
        self.path = str(pathlib.Path(directory) / "store.db")
        self.process = None
        if schema:
            with contextlib.closing(sqlite3.connect(self.path)) as database:
                database.executescript(f"PRAGMA journal_mode = WAL; {schema}")
        if model:
            pathlib.Path(f"{self.path}.cascade").mkdir()
            pathlib.Path(f"{self.path}.cascade/model.json").write_text(model)

    def start(self):
        with open(f"{self.path}.log", "w") as log:
            self.process = subprocess.Popen([BIN / "cascaded", self.path], stderr=log)
        store = cascade.Store(self.path)
        end = time.monotonic() + 30
        while time.monotonic() < end and self.process.poll() is None:
            with contextlib.suppress(cascade.Unavailable):
                if store.call("Status")["stores"][0]["state"] != "starting":
                    return
            time.sleep(0.02)
        raise TimeoutError(f"cascaded does not answer: {self.log()}")

    def end(self, number=signal.SIGTERM):
        process, self.process = self.process, None
        if process and process.poll() is not None:
            raise ChildProcessError(f"cascaded ended with {process.returncode}: {self.log()}")
        if process:
            process.send_signal(number)
            process.wait()

    def log(self):
        return pathlib.Path(f"{self.path}.log").read_text()


class StoreTests(unittest.TestCase):
    """Each test has a store of its own, with the schema and the model of its class."""
    SCHEMA, MODEL = "", None

    def setUp(self):
        self.serve(self.SCHEMA, self.MODEL)

    def serve(self, schema="", model=None):
        directory = tempfile.TemporaryDirectory(prefix="cascade-python.")
        self.addCleanup(directory.cleanup)
        self.daemon = Daemon(directory.name, schema, model)
        self.daemon.start()
        self.addCleanup(self.daemon.end)
        self.store = cascade.Store(self.daemon.path, author="python")
        self.database = sqlite3.connect(self.daemon.path, isolation_level=None)
        self.addCleanup(self.database.close)

    def rows(self, sql):
        return self.database.execute(sql).fetchall()


class Songs(StoreTests):
    """With tables, and references of each kind."""
    MODEL = """{ collections: { songs: { table: 'song', key: 'id' }, tags: { table: 'tag', key: 'id' } },
      relationships: [
        { name: 'of', from: 'songs', to: 'songs', rules: ['deleteSourceIfDestinationDeleted'] },
        { name: 'tags', from: 'songs', to: 'tags', toMany: true,
          join: { table: 'song_tag', source: 'song', destination: 'tag' } },
        { name: 'next', from: 'songs', to: 'songs', column: 'next',
          rules: ['deleteSourceIfDestinationDeleted'] }] }"""
    SCHEMA = """CREATE TABLE song(id INTEGER PRIMARY KEY, data BLOB, size REAL, next INTEGER);
        CREATE TABLE tag(id TEXT PRIMARY KEY); CREATE INDEX song_next ON song(next);
        CREATE TABLE song_tag(song INTEGER, tag TEXT, PRIMARY KEY(song, tag));
        INSERT INTO song(id) VALUES(1), (2); INSERT INTO tag VALUES('a'), ('b')"""
