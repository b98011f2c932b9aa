"""What AsyncStore promises, and that it and Store are alike."""
import asyncio
import contextlib
import inspect
import pathlib
import socket
import tempfile
import threading
import time
import unittest

from support import StoreTests, cascade


def public(store):
    return {name for name, member in inspect.getmembers(store)
            if not name.startswith("_") and callable(member)}


class LikenessTests(unittest.TestCase):
    def test_both_have_the_same_methods_with_the_same_parameters(self):
        self.assertEqual(public(cascade.Store), public(cascade.AsyncStore))
        for name in public(cascade.Store):
            ours, theirs = getattr(cascade.Store, name), getattr(cascade.AsyncStore, name)
            self.assertEqual(inspect.signature(ours), inspect.signature(theirs), name)
            self.assertTrue(ours.__doc__, name)

    def test_both_tell_where_they_are(self):
        for kind in [cascade.Store, cascade.AsyncStore]:
            store = kind("/srv/a.db", author="me")
            self.assertEqual((store.path, store.author), ("/srv/a.db", "me"))
            self.assertEqual((store.socket, store.spool),
                             ("/srv/a.db.cascade/control", "/srv/a.db.cascade"))

    def test_a_database_of_a_server_keeps_its_address(self):
        store = cascade.Store("postgresql://host/music", socket="/run/cascaded/control")
        self.assertEqual(store.path, "postgresql://host/music")


class AsyncTests(StoreTests):
    def setUp(self):
        super().setUp()
        self.both = self.store
        self.store = cascade.AsyncStore(self.daemon.path, author="python")

    def count(self, collection="notes"):
        return self.rows(
            f"SELECT count(*) FROM cascade_object WHERE collection = '{collection}'")[0][0]

    async def put(self, key, **options):
        async with self.store.transaction(**options) as tx:
            tx.put("notes", key)
        return tx

    def test_many_writes_at_once_get_their_own_receipts(self):
        async def write():
            return await asyncio.gather(*(self.put(f"{number}") for number in range(400)))

        for tx in asyncio.run(write()):
            self.assertEqual((tx.receipt["id"], tx.receipt["outcome"]), (tx.id, "applied"))
        self.assertLessEqual(len(self.store._wires.idle), 32)

    def test_a_store_outlives_its_loop(self):
        for key in "ab":
            asyncio.run(self.put(key))
        self.assertEqual(self.count(), 2)

    def test_loops_in_threads_may_share_a_store(self):
        threads = [threading.Thread(target=lambda n=n: asyncio.run(self.many(n))) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.count(), 4 * 60)

    async def many(self, number):
        await asyncio.gather(*(self.put(f"{number}-{part}") for part in range(60)))

    def test_others_go_on_while_a_write_waits(self):
        async def wait():
            self.database.execute("BEGIN IMMEDIATE")
            write = asyncio.create_task(self.put("a", timeout=20))
            while (await self.store.call("Status"))["stores"][0]["spool"]["waiting"] == 0:
                await asyncio.sleep(0.01)
            self.assertFalse(write.done())
            self.database.execute("COMMIT")
            return await write

        self.assertEqual(asyncio.run(wait()).receipt["outcome"], "applied")

    def test_a_waiting_write_says_why(self):
        self.database.execute("BEGIN IMMEDIATE")
        with self.assertRaises(cascade.Pending) as caught:
            asyncio.run(self.put("a", timeout=1))
        self.assertEqual(caught.exception.why, "the database is locked")
        self.database.execute("COMMIT")
        receipt = asyncio.run(self.store.receipt(caught.exception.id, wait=True))
        self.assertEqual(receipt["state"], "applied")

    def test_a_cancelled_write_leaves_no_connection_in_between(self):
        async def cancel():
            self.database.execute("BEGIN IMMEDIATE")
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(self.put("a"), 0.5)
            self.assertEqual(self.store._wires.idle, [])
            self.database.execute("COMMIT")
            await self.put("b")

        asyncio.run(cancel())
        self.assertEqual(self.count(), 2)

    def test_an_error_in_the_block_writes_nothing(self):
        async def fail():
            async with self.store.transaction() as tx:
                tx.put("notes", "a")
                raise ZeroDivisionError

        with self.assertRaises(ZeroDivisionError):
            asyncio.run(fail())
        self.assertEqual(self.count(), 0)

    def test_a_lease_holds_until_the_end_of_the_block(self):
        async def hold():
            async with self.store.lease(("notes", "a"), owner="test"):
                leases = (await self.store.call("Leases"))["leases"]
            return [lease["owner"] for lease in leases]

        self.assertEqual(asyncio.run(hold()), ["test"])
        end = time.monotonic() + 5
        while self.both.call("Leases")["leases"] and time.monotonic() < end:
            time.sleep(0.01)
        self.assertEqual(self.both.call("Leases")["leases"], [])

    def test_what_goes_is_followed_while_other_tasks_write(self):
        async def follow():
            gone = self.store.deleted(after=0)
            first = asyncio.create_task(gone.__anext__())
            await self.put("a")
            async with self.store.transaction() as tx:
                tx.delete("notes", "a")
            node = await asyncio.wait_for(first, 10)
            await gone.aclose()
            return node

        self.assertEqual(asyncio.run(follow())["node"], ["notes", "a"])

    def test_a_daemon_that_is_away_is_told(self):
        self.daemon.end()
        for spool in [False, True]:
            with self.assertRaises(cascade.Unavailable) as caught:
                asyncio.run(self.put("a", spool=spool))
            self.assertEqual(caught.exception.is_queued, spool)
        self.daemon.start()
        self.assertEqual(asyncio.run(self.put("b", spool=True)).receipt["outcome"], "applied")
        self.assertEqual(self.count(), 2)


class OtherDaemonTests(unittest.TestCase):
    """A daemon that does what cascaded does not do on demand."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = str(pathlib.Path(directory.name) / "control")
        self.server = socket.socket(socket.AF_UNIX)
        self.addCleanup(self.server.close)
        self.server.bind(self.path)
        self.server.listen(0)
        self.calls = []

    def serve(self):
        """Answers the first call on each connection, and ends it when there is another one."""
        while True:
            connection = self.server.accept()[0]
            with connection, contextlib.suppress(ConnectionError):
                if call := connection.recv(1 << 16):
                    self.calls.append(call)
                    connection.sendall(b'{"parameters": {"job": {"state": "running"}}}\0')
                    self.calls.append(connection.recv(1 << 16))

    def test_a_call_that_may_have_been_carried_out_is_not_made_again(self):
        threading.Thread(target=self.serve, daemon=True).start()
        store = cascade.Store("/srv/a.db", socket=self.path)
        store.delete(("a", 1), wait=False)
        with self.assertRaises(cascade.Unavailable):
            store.delete(("a", 2), wait=False)
        self.assertEqual(len(self.calls), 2)

    def test_where_too_many_want_to_connect_a_task_waits_for_its_turn(self):
        async def wait():
            store = cascade.AsyncStore("/srv/a.db", socket=self.path)
            with socket.socket(socket.AF_UNIX) as other:
                other.connect(self.path)
                call = asyncio.create_task(store.delete(("a", 1), wait=False))
                await asyncio.sleep(0.1)
                self.assertFalse(call.done())
            threading.Thread(target=self.serve, daemon=True).start()
            return await asyncio.wait_for(call, 10)

        self.assertEqual(asyncio.run(wait()), {"state": "running"})


if __name__ == "__main__":
    unittest.main()
