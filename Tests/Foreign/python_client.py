#!/usr/bin/env python3
"""The Python module: the conformance cases, and what else it promises. $BIN has the daemon."""
import contextlib
import datetime
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "deploy/python"))
import cascade  # noqa: E402

BIN = pathlib.Path(os.environ["BIN"])
CASES = json.loads((ROOT / "Tests/Conformance/cases.json").read_text())


def contains(value, expected):
    """Whether the expected members are there; a list has the same length."""
    if isinstance(expected, dict):
        return all(name in value and contains(value[name], part) for name, part in expected.items())
    if isinstance(expected, list):
        return len(value) == len(expected) and all(map(contains, value, expected))
    return value == expected


class Daemon:
    def __init__(self, directory):
        self.path = str(pathlib.Path(directory) / "store.db")
        self.process = None

    def start(self):
        self.process = subprocess.Popen([BIN / "cascaded", self.path], stderr=subprocess.DEVNULL)
        end = time.monotonic() + 30
        while time.monotonic() < end:
            with contextlib.suppress(cascade.Unavailable):
                return cascade.Store(self.path).call("Status")
            time.sleep(0.02)
        raise TimeoutError("cascaded does not answer")

    def end(self, number=signal.SIGTERM):
        if self.process:
            self.process.send_signal(number)
            self.process.wait()
            self.process = None


class Tests(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.daemon = Daemon(self.directory.name)
        self.daemon.start()
        self.addCleanup(self.daemon.end)
        self.store = cascade.Store(self.daemon.path, author="python")

    def serve(self, schema, model):
        """Serves another database, with a model, in place of the one that has none."""
        self.daemon.end()
        directory = pathlib.Path(self.directory.name) / "other"
        (directory / "store.db.cascade").mkdir(parents=True)
        (directory / "store.db.cascade/model.json").write_text(model)
        other = sqlite3.connect(directory / "store.db")
        other.executescript(f"PRAGMA journal_mode = WAL; {schema}")
        other.close()
        self.daemon = Daemon(directory)
        self.daemon.start()
        self.addCleanup(self.daemon.end)
        self.store = cascade.Store(self.daemon.path, author="python")
        return sqlite3.connect(self.daemon.path, isolation_level=None)

    def submit(self, changes, id=None):
        transaction = cascade.Transaction(id)
        transaction.changes = changes
        return self.store.submit(transaction)

    def test_conformance(self):
        for case in CASES:
            with self.subTest(case["name"]):
                with contextlib.suppress(cascade.Refused):
                    self.submit([{"deleteAll": "notes"}])
                if sqlite3.connect(self.daemon.path).execute(
                        "SELECT count(*) FROM cascade_object").fetchone()[0]:
                    self.daemon.end()
                    for file in pathlib.Path(self.directory.name).glob("store.db*"):
                        if file.is_file():
                            file.unlink()
                    self.daemon.start()
                for changes in case.get("before", []):
                    self.submit(changes)
                id = cascade.uuid7()
                if case.get("repeat"):
                    self.submit(case["changes"], id)
                try:
                    receipt, error = self.submit(case["changes"], id), None
                except cascade.Refused as refused:
                    receipt, error = refused.receipt, type(refused).__name__.lower()
                self.assertEqual(error, (case.get("error") or "").lower() or None)
                self.assertTrue(contains(receipt, case["receipt"]), receipt)

    def test_a_large_write_is_uploaded_in_parts(self):
        with self.store.transaction() as tx:
            for number in range(3_000):
                tx.put("notes", number, {"text": "x" * 500})
        count = sqlite3.connect(self.daemon.path).execute("SELECT count(*) FROM cascade_object")
        self.assertEqual(count.fetchone()[0], 3_000)

    def test_a_job_deletes_what_hangs_on_a_node_and_comes_back(self):
        database = self.serve(
            "CREATE TABLE artist(id INTEGER PRIMARY KEY);"
            "CREATE TABLE album(id INTEGER PRIMARY KEY, artist INTEGER);"
            "INSERT INTO artist VALUES(1); INSERT INTO album VALUES(1, 1), (2, 1)",
            """{ collections: { artists: { table: "artist", key: "id" },
                   albums: { table: "album", key: "id" } },
                 relationships: [{ name: "artist", from: "albums", to: "artists", column: "artist",
                   rules: ["deleteSourceIfDestinationDeleted"] }] }""")
        nina = ("artists", 1)
        self.store.protect(nina, "case 14", datetime.datetime(2100, 1, 1))
        self.assertEqual(self.store.delete(nina)["state"], "blocked")
        self.assertEqual([one["reason"] for one in self.store.protections()], ["case 14"])
        self.store.unprotect(nina)
        job = self.store.delete(nina, expect=3)
        self.assertEqual((job["state"], job["deletedCount"]), ("done", 3))
        self.assertEqual(self.store.undo(job["batch"])["restored"], 3)
        job = self.store.delete(nina)
        self.assertEqual(self.store.undo(("albums", 1))["restored"], 1)
        self.assertEqual(self.store.undo(job["batch"])["restored"], 2)
        rows = self.store.delete_rows("albums", "id = 2")
        self.assertEqual([one["deletedCount"] for one in self.store.jobs(after=job["job"])], [1])
        self.assertEqual(rows["state"], "done")
        gone = self.store.deleted(after=job["deletedCount"], collection="albums", values=True)
        self.assertEqual(next(gone)["cause"], "job")
        gone.close()
        erased = self.store.erase(("artists", 1), expect=2)
        self.assertEqual((erased["state"], erased["deletedCount"]), ("done", 2))
        self.assertEqual(erased["report"]["verified"]["referring"], 0)
        self.assertEqual(database.execute("SELECT id FROM album").fetchall(), [])

    def test_threads_that_share_a_store_get_their_own_receipts(self):
        def write(number):
            for part in range(20):
                try:
                    with self.store.transaction() as tx:
                        tx.put("notes", f"{number}-{part}")
                    if tx.receipt["id"] != tx.id or tx.receipt["outcome"] != "applied":
                        wrong.append((tx.id, tx.receipt))
                except Exception as error:
                    wrong.append((tx.id, error))

        wrong = []
        threads = [threading.Thread(target=write, args=(number,)) for number in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.assertLessEqual(len(self.store._wires.idle), 10)

    def test_a_forked_process_has_connections_of_its_own(self):
        with self.store.transaction() as tx:
            tx.put("notes", "a")
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                with self.store.transaction() as tx:
                    tx.put("notes", "b")
                os._exit(0 if tx.receipt["id"] == tx.id else 1)
            os._exit(2)
        with self.store.transaction() as tx:
            tx.put("notes", "c")
        self.assertEqual(tx.receipt["id"], tx.id)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

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

    def test_a_link_without_rules_has_those_of_the_model(self):
        database = self.serve(self.SCHEMA, self.MODEL)
        with self.store.transaction() as tx:
            tx.link("of", ("songs", 1), ("songs", 2))
            tx.link("tags", ("songs", 2), ("tags", "a"))
        edges = self.store.call("Edges", name="of")["edges"]
        self.assertEqual(edges[0]["rules"], ["deleteSourceIfDestinationDeleted"])
        self.assertEqual(database.execute("SELECT * FROM song_tag").fetchall(), [(2, "a")])
        with self.store.transaction() as tx:
            tx.relink("tags", ("songs", 2), [("tags", "b")])
        self.assertEqual(database.execute("SELECT * FROM song_tag").fetchall(), [(2, "b")])

    def test_bytes_and_infinity_are_written_as_what_they_are(self):
        database = self.serve(self.SCHEMA, self.MODEL)
        with self.store.transaction() as tx:
            tx.put("songs", 1, {"data": b"\0\xff", "size": float("-inf")})
            tx.patch("songs", 2, {"data": b""})
        rows = database.execute("SELECT data, size FROM song ORDER BY id").fetchall()
        self.assertEqual(rows, [(b"\0\xff", float("-inf")), (b"", None)])

    def test_a_write_can_be_tied_to_what_was_read(self):
        database = self.serve(self.SCHEMA, self.MODEL)
        with self.store.transaction() as tx:
            tx.patch("songs", 1, {"size": 2}, if_unchanged={"size": None, "data": None})
        database.execute("UPDATE song SET data = x'01' WHERE id = 1")
        for values in [{"size": 3.0}, {"data": b"\2"}]:
            with self.assertRaises(cascade.Changed) as caught:
                with self.store.transaction() as tx:
                    tx.delete("songs", 1, if_unchanged=values)
            self.assertEqual(caught.exception.node, ["songs", 1])
        with self.store.transaction() as tx:
            tx.delete("songs", 1, if_unchanged={"size": 2, "data": b"\1"})
        self.assertEqual(tx.receipt["deletedCount"], 1)

    def test_a_write_that_deletes_itself_is_told_or_refused(self):
        self.serve(self.SCHEMA, self.MODEL)
        with self.assertRaises(cascade.DeletesItself) as caught:
            with self.store.transaction(may_delete_itself=False) as tx:
                tx.patch("songs", 1, {"next": 9})
        self.assertEqual(caught.exception.edge["name"], "next")
        with self.store.transaction() as tx:
            tx.patch("songs", 1, {"next": 9})
        self.assertEqual(tx.receipt["deletedOwn"], [["songs", 1]])

    def test_an_error_in_the_block_writes_nothing(self):
        with self.assertRaises(ZeroDivisionError):
            with self.store.transaction() as tx:
                tx.put("notes", "a")
                1 / 0
        self.assertEqual(self.store.call("Nodes", collection="notes")["nodes"], [])

    def test_a_queued_write_is_applied_when_the_daemon_is_back(self):
        self.daemon.end()
        with self.assertRaises(cascade.Unavailable) as caught:
            with self.store.transaction(spool=True) as tx:
                tx.put("notes", "a")
        self.assertTrue(caught.exception.is_queued)
        with self.assertRaises(cascade.Unavailable) as caught:
            with self.store.transaction() as tx:
                tx.put("notes", "b")
        self.assertFalse(caught.exception.is_queued)
        self.daemon.start()
        with self.store.transaction(spool=True) as tx:
            tx.delete("notes", "a")
        self.assertEqual(tx.receipt["deletedCount"], 1)

    def test_a_waiting_write_says_why(self):
        with self.store.transaction() as tx:
            tx.put("notes", "a")
        other = sqlite3.connect(self.daemon.path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with self.assertRaises(cascade.Pending) as caught:
            with self.store.transaction(timeout=1) as tx:
                tx.put("notes", "b")
        self.assertEqual(caught.exception.why, "the database is locked")
        other.execute("COMMIT")
        self.assertEqual(cascade.Store(self.daemon.path).receipt(tx.id, wait=True)["state"], "applied")

    def test_a_lease_holds_until_the_end_of_the_block(self):
        with self.store.lease(("notes", "a"), owner="test"):
            leases = self.store.call("Leases")["leases"]
            self.assertEqual([lease["owner"] for lease in leases], ["test"])
        end = time.monotonic() + 5
        while self.store.call("Leases")["leases"] and time.monotonic() < end:
            time.sleep(0.01)
        self.assertEqual(self.store.call("Leases")["leases"], [])

    def test_notices_are_followed(self):
        rule = ["notifyIfDestinationDeleted"]
        with self.store.transaction() as tx:
            tx.put("notes", "a")
            tx.put("notes", "b")
            tx.link("of", ("notes", "a"), ("notes", "b"), rule)
        replies = self.store.follow("Notices", follow=True)
        threading.Timer(0.2, lambda: self.delete("b")).start()
        self.assertEqual(next(replies)["notices"][0]["node"], ["notes", "a"])
        replies.close()

    def delete(self, key):
        with cascade.Store(self.daemon.path).transaction() as tx:
            tx.delete("notes", key)

    def test_each_write_takes_effect_once_while_the_daemon_is_killed(self):
        stop = threading.Event()

        def kill():
            while not stop.wait(0.15):
                self.daemon.end(signal.SIGKILL)
                self.daemon.start()

        thread = threading.Thread(target=kill)
        thread.start()
        ids = []
        try:
            for number in range(150):
                transaction = cascade.Transaction()
                transaction.put("notes", number)
                ids.append(transaction.id)
                end = time.monotonic() + 30
                while time.monotonic() < end:
                    with contextlib.suppress(cascade.Unavailable, cascade.Pending):
                        self.store.submit(transaction)
                        break
        finally:
            stop.set()
            thread.join()
        rows = sqlite3.connect(self.daemon.path).execute("SELECT id FROM cascade_ledger ORDER BY seq")
        self.assertEqual([row[0] for row in rows], ids)

    def test_keys_differ_and_grow(self):
        keys = [cascade.uuid7() for _ in range(1_000)]
        self.assertEqual(len(set(keys)), 1_000)
        self.assertTrue(all(key[14] == "7" and key[19] in "89ab" for key in keys))


if __name__ == "__main__":
    unittest.main()
