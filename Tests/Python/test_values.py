"""What Python's values become, as keys and in columns; and keys that are made here."""
import datetime
import unittest
import uuid

from support import StoreTests, cascade

NINA = uuid.UUID("0192F1C0-7D1E-7CC2-B1A3-3F1F5A7B9E10")
BORN = datetime.datetime(1933, 2, 21, 6, 30, tzinfo=datetime.timezone(datetime.timedelta(hours=-5)))


class FormTests(unittest.TestCase):
    def changes(self, method, *arguments, **named):
        transaction = cascade.Transaction()
        getattr(transaction, method)(*arguments, **named)
        return transaction.changes[0]

    def test_times_are_of_one_length_and_in_utc(self):
        self.assertEqual(
            self.changes("put", "a", 1, {"at": BORN, "on": BORN.date()})["value"],
            {"at": "1933-02-21T11:30:00.000000+00:00", "on": "1933-02-21"})

    def test_a_time_without_a_zone_is_refused(self):
        for value in [BORN.replace(tzinfo=None), [BORN.replace(tzinfo=None)]]:
            with self.assertRaisesRegex(ValueError, "no time zone"):
                self.changes("put", "a", 1, {"at": value})
        with self.assertRaisesRegex(ValueError, "no time zone"):
            cascade.Store("/nowhere").protect(("a", 1), "x", BORN.replace(tzinfo=None))

    def test_what_is_within_a_value_is_written_as_well(self):
        value = {"who": [{"id": NINA}], "at": (BORN,)}
        self.assertEqual(self.changes("patch", "a", 1, {"data": value})["set"], {"data": {
            "who": [{"id": str(NINA)}], "at": ["1933-02-21T11:30:00.000000+00:00"]}})

    def test_bytes_within_a_value_have_no_form(self):
        transaction = cascade.Transaction()
        transaction.put("a", 1, {"data": [b"x"]})
        with self.assertRaises(TypeError):
            transaction.file(None)

    def test_keys_are_written_wherever_a_node_is_named(self):
        node, written = ("a", (NINA, BORN, b"\0\xfe", 1)), ["a", [
            "0192f1c0-7d1e-7cc2-b1a3-3f1f5a7b9e10", "1933-02-21T11:30:00.000000+00:00", "x'00FE'", 1]]
        edge = {"name": "of", "from": written, "to": written}
        self.assertEqual(self.changes("put", *node, edges=[{"name": "of", "to": node}]),
                         {"put": written, "edges": [{"name": "of", "to": written}]})
        self.assertEqual(self.changes("patch", *node, unset=["b"])["patch"], written)
        self.assertEqual(self.changes("delete", *node)["delete"], written)
        self.assertEqual(self.changes("link", "of", node, node)["link"], edge)
        self.assertEqual(self.changes("unlink", "of", node, node)["unlink"], edge)
        self.assertEqual(
            self.changes("relink", "of", node, [node])["relink"], {**edge, "to": [written]})

    def test_an_edge_may_lead_to_a_file(self):
        edge = {"name": "cover", "to": {"file": "1.jpg", "root": "media"}, "rules": []}
        self.assertEqual(self.changes("put", "a", 1, edges=[edge])["edges"], [edge])

    def test_new_keys_differ_and_are_uuids(self):
        keys = [cascade.uuid7() for _ in range(1_000)]
        self.assertEqual(len(set(keys)), 1_000)
        self.assertTrue(all(uuid.UUID(key).version == 7 for key in keys))


class StoredTests(StoreTests):
    SCHEMA = """CREATE TABLE artist(id TEXT PRIMARY KEY, born TEXT, portrait BLOB);
        CREATE TABLE picture(digest BLOB PRIMARY KEY, data BLOB);
        CREATE TABLE visit(artist TEXT, at TEXT, PRIMARY KEY(artist, at))"""
    MODEL = """{ collections: { artists: { table: 'artist', key: 'id' },
        pictures: { table: 'picture', key: 'digest' },
        visits: { table: 'visit', key: ['artist', 'at'],
          expires: { column: 'at', after: '1d', as: 'iso' } } },
      relationships: [{ name: 'portrait', from: 'artists', to: 'pictures', column: 'portrait',
        rules: ['deleteDestinationIfAllSourcesDeleted'] },
        { name: 'of', from: 'visits', to: 'artists', column: 'artist',
          rules: ['deleteSourceIfDestinationDeleted'] }] }"""

    def test_they_name_what_is_in_the_database(self):
        with self.store.transaction() as tx:
            tx.put("pictures", b"\0\xfe", {"data": b"gif"})
            tx.put("artists", NINA, {"born": BORN, "portrait": b"\0\xfe"})
            tx.put("visits", (NINA, BORN))
        self.assertEqual(self.rows("SELECT * FROM artist"), [
            (str(NINA), "1933-02-21T11:30:00.000000+00:00", b"\0\xfe")])
        self.assertEqual(self.rows("SELECT * FROM picture"), [(b"\0\xfe", b"gif")])
        with self.store.transaction() as tx:
            tx.delete("artists", NINA, if_unchanged={"born": BORN, "portrait": b"\0\xfe"})
        self.assertEqual(tx.receipt["deletedCount"], 3)
        self.assertEqual(self.store.undo(("visits", [NINA, BORN]))["restored"], 1)

    def test_a_time_can_be_one_of_expiry(self):
        now = datetime.datetime.now(datetime.timezone.utc)
        with self.store.transaction() as tx:
            tx.put("artists", NINA)
            tx.put("visits", (NINA, BORN))
            tx.put("visits", (NINA, now))
        self.store.call("Sweep", kinds=["expired"])
        self.assertEqual(self.rows("SELECT at FROM visit"), [(now.isoformat(timespec="microseconds"),)])


if __name__ == "__main__":
    unittest.main()
