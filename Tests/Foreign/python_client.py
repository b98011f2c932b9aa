#!/usr/bin/env python3
"""The Python module: the conformance cases, and what else it promises. $BIN has the daemon."""
import contextlib
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
                self.assertEqual(error, case.get("error"))
                self.assertTrue(contains(receipt, case["receipt"]), receipt)

    def test_a_large_write_is_uploaded_in_parts(self):
        with self.store.transaction() as tx:
            for number in range(3_000):
                tx.put("notes", number, {"text": "x" * 500})
        count = sqlite3.connect(self.daemon.path).execute("SELECT count(*) FROM cascade_object")
        self.assertEqual(count.fetchone()[0], 3_000)

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
