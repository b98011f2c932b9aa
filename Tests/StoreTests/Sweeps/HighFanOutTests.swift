import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteSweeps
import SQLiteUndo
import CascadeEngine

/// Very many rows refer to one that goes, and stay: nobody waits while they are let go.
@Suite("Rows that very many refer to")
struct HighFanOutTests {
  private static let items: Int64 = 300
  private static let step: Int64 = 20

  private static let schema = """
    CREATE TABLE shop(id INTEGER PRIMARY KEY);
    CREATE TABLE category(id INTEGER PRIMARY KEY, shop INTEGER);
    CREATE INDEX category_shop ON category(shop);
    CREATE TABLE item(id TEXT PRIMARY KEY, category INTEGER, kind TEXT, of TEXT);
    CREATE INDEX item_category ON item(category);
    CREATE INDEX item_of ON item(of);
    CREATE TABLE tagged(item TEXT, tag INTEGER, PRIMARY KEY(item, tag)) WITHOUT ROWID;
    CREATE INDEX tagged_tag ON tagged(tag);
    CREATE TABLE tag(id INTEGER PRIMARY KEY);
    INSERT INTO shop VALUES(1);
    INSERT INTO category VALUES(1, 1), (2, NULL);
    INSERT INTO tag VALUES(1), (2);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(items))
    INSERT INTO item SELECT 'item ' || i, 1, 'c', 1 FROM n;
    INSERT INTO tagged SELECT id, 1 FROM item UNION ALL SELECT 'item 7', 2;
    """

  private static let model = """
    {
      collections: {
        shops: { table: 'shop', key: 'id' }, categories: { table: 'category', key: 'id' },
        items: { table: 'item', key: 'id' }, tags: { table: 'tag', key: 'id' },
      },
      relationships: [
        { name: 'shop', from: 'categories', to: 'shops', column: 'shop',
          rules: ['deleteSourceIfDestinationDeleted'] },
        { name: 'category', from: 'items', to: 'categories', column: 'category',
          rules: ['nullifySourceIfDestinationDeleted'] },
        { name: 'of', from: 'items', column: 'of', typeColumn: 'kind', to: { c: 'categories' },
          rules: ['nullifySourceIfDestinationDeleted'] },
        { name: 'tags', from: 'items', to: 'tags', toMany: true,
          join: { table: 'tagged', source: 'item', destination: 'tag' },
          rules: ['nullifySourceIfDestinationDeleted'] },
      ],
    }
    """

  private func store(_ schema: String = schema) throws -> TestStore {
    let store = try TestStore(model: StoreModel(HighFanOutTests.model), schema: schema)
    _ = try store.writer.sweep([.all], at: 0)
    store.writer.lock.fewNodes = HighFanOutTests.step
    store.writer.lock.pace.rowsToAStep = HighFanOutTests.step
    return store
  }

  /// Notes that tell of the category in their values, and others that Cascade has an edge for.
  private func storeOfNotes() throws -> TestStore {
    let model = HighFanOutTests.model
      .replacing("collections: {", with: "collections: { notes: {},")
      .replacing(
        "relationships: [",
        with: """
          relationships: [
            { name: 'about', from: 'notes', to: 'categories', property: 'about',
              rules: ['nullifySourceIfDestinationDeleted'] },
          """
      ).replacing(
        "rules: ['nullifySourceIfDestinationDeleted']",
        with: """
          rules: ['nullifySourceIfDestinationDeleted', 'notifyIfSourceDeleted', \
          'notifyIfDestinationDeleted']
          """)
    let store = try TestStore(model: StoreModel(model), schema: HighFanOutTests.schema)
    let rules: Rules = [.notifyIfSourceDeleted, .notifyIfDestinationDeleted]
    try store.apply(
      (0..<HighFanOutTests.items).flatMap { index -> [Change] in
        let note = Node("notes", .text("\(index)"))
        let category = Node("categories", .integer(1))
        let value = JSONText(valid: #"{"about": 1, "text": "\#(index)"}"#)
        return [
          .put(note, type: nil, value: value, edges: nil),
          .link(name: "read", from: note, to: .node(category), rules: rules),
          .link(name: "listed", from: category, to: .node(note), rules: rules),
        ]
      })
    _ = try store.writer.sweep([.all], at: 0)
    store.sweepsInSteps(of: HighFanOutTests.step)
    return store
  }

  /// How many refer to the category, in its two columns, and to the tag.
  private func references(_ store: TestStore) throws -> Int64 {
    try Connection(path: store.path, access: .readOnly).integer(
      """
      SELECT (SELECT count(category) + count(of) + count(kind) FROM item)
        + (SELECT count(*) FROM tagged WHERE tag = 1)
      """) ?? 0
  }

  @Test(
    "They are let go in steps, and come back bit for bit",
    arguments: [
      ("DELETE FROM category WHERE id = 1", "INSERT INTO category VALUES(1, 1)", 600, 0),
      ("DELETE FROM tag WHERE id = 1", "INSERT INTO tag VALUES(1)", 300, 0),
      ("DELETE FROM shop", "INSERT INTO shop VALUES(1)", 600, 1),
    ], [[SweepKind.all], [.cascade]])
  func lets(_ deletion: (sql: String, undo: String, lost: Int, nodes: Int), kinds: [SweepKind])
    throws
  {
    let store = try store()
    let before = try store.dump()
    try store.bySQL(deletion.sql)
    var left = try references(store)
    let manners = StepPolicy { _ in
      let now = try references(store)
      #expect(left - now <= 3 * HighFanOutTests.step)
      left = now
    }
    let result = try store.writer.sweep(kinds, at: 1, manners: manners)
    #expect(result.outcome == .done)
    #expect(result.deletedCount == deletion.nodes)
    #expect(result.edgesRemoved == deletion.lost)
    #expect(try store.reader.checkReferences().total == 0)
    #expect(try store.writer.sweep([.all], at: 2).outcome == .nothing)
    try store.bySQL(deletion.undo)
    let undone = try store.writer.undo(#require(result.batch), by: "me", at: 3)
    #expect(undone.leftCount == 0)
    #expect(try store.dump() == before)
  }

  @Test(
    "All that refers to it is told once, whatever it is", .timeLimit(.minutes(1)),
    arguments: [
      ("DELETE FROM category WHERE id = 1", "INSERT INTO category VALUES(1, 1)", 1_500),
      ("DELETE FROM shop", "INSERT INTO shop VALUES(1)", 1_500),
      ("DELETE FROM tag WHERE id = 1", "INSERT INTO tag VALUES(1)", 300),
    ], [0, 9, 14])
  func tells(_ deletion: (sql: String, undo: String, lost: Int), pauses: Int) throws {
    let store = try storeOfNotes()
    let before = try store.dump()
    try store.bySQL(deletion.sql)
    if pauses > 0 {
      #expect(throws: Stopped.self) {
        try store.writer.sweep([.cascade], at: 1, manners: .stopping(after: pauses))
      }
      try store.reopen()
    }
    var told = try store.lastNotice()
    let manners = StepPolicy { _ in
      let now = try store.lastNotice()
      #expect(now - told <= 3 * HighFanOutTests.step)
      told = now
    }
    let result = try store.writer.sweep([.cascade], at: 2, manners: manners)
    let receivers = try store.texts(
      "SELECT receiver_key || ' ' || name || ' ' || reason FROM cascade_notice")
    #expect(receivers.count == deletion.lost)
    #expect(Set(receivers).count == deletion.lost)
    #expect(try store.reader.checkReferences().total == 0)
    #expect(try store.writer.sweep([.all], at: 3).outcome == .nothing)
    try store.bySQL(deletion.undo)
    var edges = try store.edgeCount()
    let watching = StepPolicy { _ in
      let now = try store.edgeCount()
      #expect(now - edges <= HighFanOutTests.step)
      edges = now
    }
    let batch = try #require(result.batch)
    #expect(try store.writer.undo(batch, by: "me", at: 4, manners: watching).leftCount == 0)
    #expect(try store.dump() == before)
  }

  @Test("An object that very many refer to goes with their references")
  func object() throws {
    let model = HighFanOutTests.model.replacing(
      "collections: {", with: "collections: { notes: {},"
    ).replacing(
      "relationships: [",
      with: """
        relationships: [
          { name: 'noted', from: 'items', to: 'notes', column: 'note',
            rules: ['nullifySourceIfDestinationDeleted'] },
        """)
    let schema =
      HighFanOutTests.schema + """
        ALTER TABLE item ADD COLUMN note TEXT;
        CREATE INDEX item_note ON item(note);
        UPDATE item SET note = 'n';
        """
    let store = try TestStore(model: StoreModel(model), schema: schema)
    let note = Node("notes", .text("n"))
    try store.apply([
      .put(note, type: nil, value: nil, edges: nil),
      .link(
        name: "of", from: note, to: .node(Node("shops", .integer(1))),
        rules: [.deleteSourceIfDestinationDeleted]),
    ])
    _ = try store.writer.sweep([.all], at: 0)
    store.sweepsInSteps(of: HighFanOutTests.step)
    try store.bySQL("DELETE FROM shop")
    _ = try store.writer.sweep([.cascade], at: 1)
    #expect(try store.texts("SELECT id FROM item WHERE note IS NOT NULL").isEmpty)
  }

  @Test("Who is there again keeps the rest of them")
  func returns() throws {
    let store = try store()
    try store.bySQL("DELETE FROM category WHERE id = 1")
    var left: Int64?
    let manners = StepPolicy { _ in
      let now = try references(store)
      if left != nil || now > 1_000 { return }
      try store.bySQL("INSERT INTO category VALUES(1, 1)")
      left = now
    }
    _ = try store.writer.sweep([.all], at: 1, manners: manners)
    #expect(left != nil)
    #expect(try references(store) == left)
  }

  @Test("Several of them go at once", arguments: [[SweepKind.all], [.cascade]])
  func severalGo(kinds: [SweepKind]) throws {
    let store = try store()
    try store.bySQL(
      """
      INSERT INTO category VALUES(11, 1), (12, 1), (13, 1), (14, 1), (15, 1);
      UPDATE item SET category = 11 + CAST(substr(id, 6) AS INTEGER) % 5;
      DELETE FROM shop
      """)
    let result = try store.writer.sweep(kinds, at: 1)
    #expect(result.edgesRemoved == 600)
    #expect(try references(store) == 300)
    #expect(try store.reader.checkReferences().total == 0)
    #expect(try store.writer.sweep([.all], at: 2).outcome == .nothing)
  }

  @Test("A sweep that is stopped goes on", arguments: [1, 5, 16, 17, 18, 25])
  func resumes(pauses: Int) throws {
    let store = try store()
    let before = try store.dump()
    try store.bySQL("DELETE FROM shop")
    #expect(throws: Stopped.self) {
      try store.writer.sweep([.all], at: 1, manners: .stopping(after: pauses))
    }
    try store.reopen()
    let result = try store.writer.sweep([.all], at: 2)
    #expect(try references(store) == 300)
    #expect(try store.writer.sweep([.all], at: 3).outcome == .nothing)
    try store.bySQL("INSERT INTO shop VALUES(1)")
    _ = try store.writer.undo(#require(result.batch), by: "me", at: 4)
    #expect(try store.dump() == before)
  }

  @Test(
    "Who must not lose a reference keeps the node",
    arguments: ["NOT NULL", "CHECK(category IS NOT NULL)"])
  func blocks(constraint: String) throws {
    let store = try store(
      HighFanOutTests.schema.replacing(
        "category INTEGER, kind", with: "category INTEGER \(constraint), kind"))
    try store.bySQL("DELETE FROM shop")
    let result = try store.writer.sweep([.all], at: 1)
    #expect(result.outcome == .blocked)
    #expect(try references(store) == 1_200)
    #expect(try store.texts("SELECT id FROM category ORDER BY id") == ["1", "2"])
  }

  @Test("What one kind of sweep lets go of, the other one follows")
  func kinds() throws {
    let model = HighFanOutTests.model.replacing(
      "destination: 'tag' },\n      rules: [",
      with: "destination: 'tag' },\n      rules: ['deleteDestinationIfAllSourcesDeleted', ")
    let store = try TestStore(model: StoreModel(model), schema: HighFanOutTests.schema)
    _ = try store.writer.sweep([.all], at: 0)
    store.sweepsInSteps(of: HighFanOutTests.step)
    try store.bySQL(
      """
      DELETE FROM tagged;
      WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < 102)
      INSERT INTO tag SELECT i FROM n;
      INSERT INTO tagged SELECT 'item 1', id FROM tag
      """)
    _ = try store.writer.sweep([.all], at: 1)
    try store.bySQL("DELETE FROM item WHERE id = 'item 1'")
    #expect(try store.writer.sweep([.cascade], at: 2).deletedCount == 0)
    #expect(try store.writer.sweep([.refcount], at: 3).deletedCount == 102)
  }

  @Test("Few of them are undone too")
  func few() throws {
    let store = try store()
    let before = try store.dump()
    try store.bySQL("DELETE FROM tag WHERE id = 2")
    let result = try store.writer.sweep([.cascade], at: 1)
    #expect(result.outcome == .done)
    #expect(result.edgesRemoved == 1)
    try store.bySQL("INSERT INTO tag VALUES(2)")
    _ = try store.writer.undo(#require(result.batch), by: "me", at: 2)
    #expect(try store.dump() == before)
  }
}

extension TestStore {
  fileprivate func edgeCount() throws -> Int64 {
    try Connection(path: path, access: .readOnly)
      .integer("SELECT count(*) FROM cascade_edge") ?? 0
  }
}
