"""The example program, where its session in the guide does not show it."""
import asyncio
import contextlib
import io
import sys
from unittest import mock

from support import ROOT, StoreTests, cascade

EXAMPLES = ROOT / "deploy/examples"
sys.path.insert(0, str(EXAMPLES))
import feedreader  # noqa: E402

JAZZ = str(EXAMPLES / "feeds/jazz.xml")


class FeedReaderTests(StoreTests):
    SCHEMA = feedreader.SCHEMA
    MODEL = (EXAMPLES / "feedreader.json").read_text(encoding="utf-8")

    def setUp(self):
        super().setUp()
        self.store = cascade.AsyncStore(self.daemon.path)
        database = mock.patch.object(feedreader, "DATABASE", self.daemon.path)
        database.start()
        self.addCleanup(database.stop)
        self.output = io.StringIO()
        printing = contextlib.redirect_stdout(self.output)
        printing.__enter__()
        self.addCleanup(printing.__exit__, None, None, None)

    async def until(self, line):
        while line not in self.output.getvalue().splitlines():
            await asyncio.sleep(0.01)

    def test_it_tells_what_went_while_it_reads_again(self):
        async def watch():
            await feedreader.add(self.store, JAZZ)
            watching = asyncio.create_task(feedreader.watch(self.store))
            url = feedreader.address(JAZZ)
            await self.until(f"{url}: Jazz")
            await feedreader.remove(self.store, JAZZ)
            await self.until(f"gone: feeds {feedreader.key(url)}")
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

        asyncio.run(asyncio.wait_for(watch(), 30))
        self.assertEqual(self.rows("SELECT count(*) FROM item"), [(0,)])

    def test_a_feed_that_is_added_again_is_the_same(self):
        for _ in range(2):
            asyncio.run(feedreader.add(self.store, JAZZ))
        self.assertEqual(self.rows("SELECT count(*) FROM feed"), [(1,)])
        self.assertEqual(self.rows("SELECT published FROM item ORDER BY 1"), [
            ("1965-10-12T16:00:00.000000+00:00",), ("1965-10-13T16:00:00.000000+00:00",)])
