import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import SQLiteBinding
import SQLiteTables
import Testing
import SQLiteUndo
import SQLiteSweeps

/// What the application's own foreign keys did on a deletion comes back with it.
@Suite("Undo of what foreign keys did")
struct UndoForeignKeyTests {
  @Test("Rows that followed a foreign key which no rule sees come back")
  func foreignKeys() throws {
    let store = try TestStore(
      model: StoreModel("{ collections: { a: { table: 'a', key: 'id' } } }"),
      schema: """
        CREATE TABLE a(id TEXT PRIMARY KEY, code INTEGER UNIQUE);
        CREATE TABLE note(id INTEGER PRIMARY KEY, a TEXT REFERENCES a ON DELETE CASCADE);
        CREATE TABLE line(note REFERENCES note(id) ON DELETE CASCADE, text);
        CREATE TABLE coded(code INT REFERENCES a(code) ON DELETE CASCADE) ;
        INSERT INTO a VALUES('x', 1), ('y', 2);
        INSERT INTO note VALUES(1, 'x'), (2, 'x'), (3, 'y');
        INSERT INTO line VALUES(1, 'one'), (1, 'two'), (3, 'three');
        INSERT INTO coded VALUES(1), (2);
        """)
    let before = try store.dump()
    let receipt = try store.apply([.delete(Node("a", .text("x")))])
    #expect(try store.dump().count == before.count - 6)
    #expect(try store.undo(receipt).rows == 5)
    #expect(try store.dump() == before)
  }

  @Test("A reference does not come back into another row that has the rowid by then")
  func rowidTaken() throws {
    let store = try TestStore(
      model: StoreModel("{ collections: { a: { table: 'a', key: 'id' } } }"),
      schema: """
        CREATE TABLE a(id INTEGER PRIMARY KEY);
        CREATE TABLE log(text, a REFERENCES a ON DELETE SET NULL, b REFERENCES a ON DELETE SET NULL);
        INSERT INTO a VALUES(1), (2);
        INSERT INTO log VALUES('stays', 1, 2), (NULL, 1, NULL), ('goes', NULL, 1);
        """)
    let receipt = try store.apply([.delete(Node("a", .text("1"))), .delete(Node("a", .text("2")))])
    try store.bySQL(
      "DELETE FROM log WHERE text = 'goes'; INSERT INTO log VALUES('another', NULL, NULL)")
    let result = try store.undo(receipt)
    #expect(result.references == 3)
    #expect(result.left.count == 1)
    let rows = try store.texts("SELECT text || ifnull(a, '') || ifnull(b, '') FROM log")
    #expect(rows == ["stays12", "", "another"])
    #expect(try store.texts("SELECT a FROM log WHERE text IS NULL") == ["1"])
  }

  @Test("Trees and rings that followed come back whole")
  func trees() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { shops: { table: 'shop', key: 'id' }, items: { table: 'item', key: 'id' },
            parts: { table: 'part', key: 'id' } } }
        """),
      schema: """
        CREATE TABLE shop(id INTEGER PRIMARY KEY);
        CREATE TABLE item(id INTEGER PRIMARY KEY, code TEXT UNIQUE,
          shop INT REFERENCES shop ON DELETE CASCADE, of TEXT REFERENCES item(code) ON DELETE CASCADE);
        CREATE TABLE part(id INTEGER PRIMARY KEY, item INT REFERENCES item ON DELETE CASCADE);
        CREATE TABLE folder(id INTEGER PRIMARY KEY, shop INT REFERENCES shop ON DELETE CASCADE,
          up INT REFERENCES folder ON DELETE CASCADE);
        CREATE INDEX folder_up ON folder(up);
        CREATE TABLE file(folder INT REFERENCES folder ON DELETE CASCADE, text);
        CREATE TABLE place(x INT, y INT, shop INT REFERENCES shop ON DELETE CASCADE, x2 INT, y2 INT,
          PRIMARY KEY(x, y), FOREIGN KEY(x2, y2) REFERENCES place ON DELETE CASCADE) WITHOUT ROWID;
        CREATE TABLE hen(id INTEGER PRIMARY KEY, shop INT REFERENCES shop ON DELETE CASCADE,
          egg INT REFERENCES egg ON DELETE CASCADE);
        CREATE TABLE egg(id INTEGER PRIMARY KEY, hen INT REFERENCES hen ON DELETE CASCADE);
        INSERT INTO shop VALUES(1), (2);
        INSERT INTO item VALUES(1, 'a', 1, NULL), (2, 'b', NULL, 'a'), (3, 'c', NULL, 'b'), (4, 'd', 2, NULL);
        INSERT INTO part VALUES(1, 1), (2, 2), (3, 3), (4, 4);
        INSERT INTO folder VALUES(1, 1, NULL), (2, NULL, 1), (3, NULL, 2), (4, NULL, 3), (5, 2, NULL);
        INSERT INTO file VALUES(1, 'one'), (4, 'four'), (4, 'more'), (5, 'five');
        INSERT INTO place VALUES(1, 1, 1, 1, 3), (1, 2, NULL, 1, 1), (1, 3, NULL, 1, 2), (2, 2, 2, NULL, NULL);
        INSERT INTO hen VALUES(1, 1, NULL), (2, NULL, NULL), (3, NULL, NULL), (4, 2, NULL);
        INSERT INTO egg VALUES(1, 1), (2, 2), (3, 3), (4, 4);
        UPDATE hen SET egg = id - 1 WHERE id IN (2, 3);
        """)
    let before = try store.dump()
    let receipt = try store.apply([.delete(Node("shops", .integer(1)))])
    #expect(try store.texts("SELECT id FROM part UNION SELECT 10 * id FROM folder") == ["4", "50"])
    #expect(try store.texts("SELECT count(*) FROM egg") == ["1"])
    _ = try store.undo(receipt)
    #expect(try store.dump() == before)
  }

  @Test("What foreign keys set to null, or to a default, comes back", arguments: [true, false])
  func nulledByForeignKeys(bySweep: Bool) throws {
    let cascade = "deleteSourceIfDestinationDeleted"
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { tops: { table: 'top', key: 'id' }, a: { table: 'a', key: 'id' },
            b: { table: 'b', key: 'id' } },
          relationships: [ { name: 'top', from: 'a', to: 'tops', column: 'top', rules: ['\(cascade)'] } ]
        }
        """),
      schema: """
        CREATE TABLE top(id INTEGER PRIMARY KEY);
        CREATE TABLE a(id TEXT PRIMARY KEY, x INT, y INT, top INT,
          twin TEXT REFERENCES a ON DELETE SET NULL, UNIQUE(x, y));
        CREATE TABLE b(id INTEGER PRIMARY KEY, a TEXT DEFAULT 'none' REFERENCES a ON DELETE SET DEFAULT);
        CREATE TABLE out(a TEXT REFERENCES a ON DELETE SET NULL, text);
        CREATE TABLE pair(k INT, l TEXT, x INT, y INT, PRIMARY KEY(k, l),
          FOREIGN KEY(x, y) REFERENCES a(x, y) ON DELETE SET NULL) WITHOUT ROWID;
        CREATE TABLE both(a TEXT REFERENCES a ON DELETE CASCADE, other TEXT REFERENCES a ON DELETE SET NULL);
        INSERT INTO top VALUES(1);
        INSERT INTO a VALUES('none', 0, 0, NULL, 'p'), ('p', 1, 2, 1, 'q'), ('q', 3, 4, 1, 'none');
        INSERT INTO b VALUES(1, 'p'), (2, 'q'), (3, 'none'), (4, NULL);
        INSERT INTO out VALUES('p', 1), ('p', 2), ('none', 3), (NULL, 4);
        INSERT INTO pair VALUES(1, 'm', 1, 2), (1, 'n', 3, 4), (2, 'm', 0, 0);
        INSERT INTO both VALUES('p', 'q'), ('none', 'p'), ('none', 'none');
        """)
    let before = try store.dump()
    var batch: Int64?
    if bySweep {
      try store.bySQL("DELETE FROM top")
      batch = try store.writer.sweep([.cascade], at: 1).batch
      try store.bySQL("INSERT INTO top VALUES(1)")
    } else {
      batch = try store.apply([.delete(Node("tops", .integer(1)))]).batch
    }
    #expect(try store.dump() != before)
    let result = try store.writer.undo(try #require(batch), by: "test", at: 2)
    #expect((result.references, result.leftCount) == (8, 0), "\(result.left)")
    #expect(try store.dump() == before)
  }

  @Test(
    "A key that they would take from a node keeps what they lead to",
    arguments: ["SET NULL", "SET DEFAULT"])
  func sharedColumns(action: String) throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { tops: { table: 'top', key: 'id' }, mids: { table: 'mid', key: ['of', 'id'] },
            ends: { table: 'end', key: ['of', 'id'] } },
          relationships: [ { name: 'top', from: 'mids', to: 'tops', column: 'top',
            rules: ['deleteSourceIfDestinationDeleted'] } ] }
        """),
      schema: """
        CREATE TABLE top(id INTEGER PRIMARY KEY);
        CREATE TABLE mid(of INT, id TEXT, top INT, PRIMARY KEY(of, id));
        CREATE TABLE "end"(of INT DEFAULT 0, id TEXT, mid TEXT, PRIMARY KEY(of, id),
          FOREIGN KEY(of, mid) REFERENCES mid(of, id) ON DELETE \(action));
        INSERT INTO top VALUES(1);
        INSERT INTO mid VALUES(1, 'a', 1), (1, 'b', 1); INSERT INTO "end" VALUES(1, 'x', 'a');
        """)
    _ = try store.writer.sweep([.all], at: 0)
    #expect(try store.reasons([.delete(Node("tops", .integer(1)))]).map(\.code) == [.denied])
    try store.bySQL("DELETE FROM top")
    let result = try store.writer.sweep([.cascade, .refcount], at: 1)
    #expect(result.outcome == .blocked && result.deletedCount == 1)
    #expect(try store.texts("SELECT of || id || mid FROM \"end\"") == ["1xa"])
  }

  @Test("What such a row refers to meanwhile stays, and is listed")
  func nulledAndWritten() throws {
    let store = try TestStore(
      model: StoreModel("{ collections: { a: { table: 'a', key: 'id' } } }"),
      schema: """
        CREATE TABLE a(id TEXT PRIMARY KEY);
        CREATE TABLE out(a TEXT REFERENCES a ON DELETE SET NULL, text);
        INSERT INTO a VALUES('p'), ('q'); INSERT INTO out VALUES('p', 1), ('p', 2);
        """)
    let receipt = try store.apply([.delete(Node("a", .text("p")))])
    try store.bySQL("UPDATE out SET a = 'q' WHERE text = 1")
    let result = try store.undo(receipt)
    #expect((result.references, result.leftCount) == (1, 1))
    #expect(result.left.first?.what == "the references of a row of \"out\"")
  }
}
