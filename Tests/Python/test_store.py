"""What Store promises."""
import contextlib
import datetime
import os
import signal
import threading
import time
import unittest

from support import Songs, StoreTests, cascade


class WritingTests(StoreTests):
    def test_a_large_write_is_uploaded_in_parts(self):
        with self.store.transaction() as tx:
            for number in range(3_000):
                tx.put("notes", number, {"text": "x" * 500})
        self.assertEqual(self.rows("SELECT count(*) FROM cascade_object"), [(3_000,)])

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
        self.assertLessEqual(len(self.store._methods._wires.idle), 10)

    def test_a_forked_process_has_connections_of_its_own(self):
        with self.store.transaction() as tx:
            tx.put("notes", "a")
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                wires = self.store._methods._wires
                of_parent = set(wires.idle)
                with self.store.transaction() as tx:
                    tx.put("notes", "b")
                os._exit(0 if of_parent.isdisjoint(wires.idle) else 1)
            os._exit(2)
        with self.store.transaction() as tx:
            tx.put("notes", "c")
        self.assertEqual(tx.receipt["id"], tx.id)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_a_daemon_that_was_started_again_is_called_at_once(self):
        self.store.call("Status")
        self.daemon.end()
        self.daemon.start()
        self.store.call("Status")

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
        self.database.execute("BEGIN IMMEDIATE")
        with self.assertRaises(cascade.Pending) as caught:
            with self.store.transaction(timeout=1) as tx:
                tx.put("notes", "b")
        self.assertEqual(caught.exception.why, "the database is locked")
        self.database.execute("COMMIT")
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
        rows = self.rows("SELECT id FROM cascade_ledger ORDER BY seq")
        self.assertEqual([row[0] for row in rows], ids)


class SongTests(Songs):
    def test_a_link_without_rules_has_those_of_the_model(self):
        with self.store.transaction() as tx:
            tx.link("of", ("songs", 1), ("songs", 2))
            tx.link("tags", ("songs", 2), ("tags", "a"))
        edges = self.store.call("Edges", name="of")["edges"]
        self.assertEqual(edges[0]["rules"], ["deleteSourceIfDestinationDeleted"])
        self.assertEqual(self.rows("SELECT * FROM song_tag"), [(2, "a")])
        with self.store.transaction() as tx:
            tx.relink("tags", ("songs", 2), [("tags", "b")])
        self.assertEqual(self.rows("SELECT * FROM song_tag"), [(2, "b")])

    def test_bytes_and_infinity_are_written_as_what_they_are(self):
        with self.store.transaction() as tx:
            tx.put("songs", 1, {"data": b"\0\xff", "size": float("-inf")})
            tx.patch("songs", 2, {"data": b""})
        rows = self.rows("SELECT data, size FROM song ORDER BY id")
        self.assertEqual(rows, [(b"\0\xff", float("-inf")), (b"", None)])

    def test_a_write_can_be_tied_to_what_was_read(self):
        with self.store.transaction() as tx:
            tx.patch("songs", 1, {"size": 2}, if_unchanged={"size": None, "data": None})
        self.database.execute("UPDATE song SET data = x'01' WHERE id = 1")
        for values in [{"size": 3.0}, {"data": b"\2"}]:
            with self.assertRaises(cascade.Changed) as caught:
                with self.store.transaction() as tx:
                    tx.delete("songs", 1, if_unchanged=values)
            self.assertEqual(caught.exception.node, ["songs", 1])
        with self.store.transaction() as tx:
            tx.delete("songs", 1, if_unchanged={"size": 2, "data": b"\1"})
        self.assertEqual(tx.receipt["deletedCount"], 1)

    def test_a_write_that_deletes_itself_is_told_or_refused(self):
        with self.assertRaises(cascade.DeletesItself) as caught:
            with self.store.transaction(may_delete_itself=False) as tx:
                tx.patch("songs", 1, {"next": 9})
        self.assertEqual(caught.exception.edge["name"], "next")
        with self.store.transaction() as tx:
            tx.patch("songs", 1, {"next": 9})
        self.assertEqual(tx.receipt["deletedOwn"], [["songs", 1]])


class JobTests(StoreTests):
    SCHEMA = """CREATE TABLE artist(id INTEGER PRIMARY KEY);
        CREATE TABLE album(id INTEGER PRIMARY KEY, artist INTEGER);
        INSERT INTO artist VALUES(1); INSERT INTO album VALUES(1, 1), (2, 1)"""
    MODEL = """{ collections: { artists: { table: "artist", key: "id" },
        albums: { table: "album", key: "id" } },
      relationships: [{ name: "artist", from: "albums", to: "artists", column: "artist",
        rules: ["deleteSourceIfDestinationDeleted"] }] }"""

    def test_a_job_deletes_what_hangs_on_a_node_and_comes_back(self):
        nina = ("artists", 1)
        self.store.protect(nina, "case 14", datetime.datetime(2100, 1, 1, tzinfo=datetime.timezone.utc))
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
        self.assertEqual(self.rows("SELECT id FROM album"), [])


if __name__ == "__main__":
    unittest.main()
