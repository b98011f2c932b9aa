import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing

/// References by several columns, in a schema like that of reader, a program for feeds: tags of
/// entries name an entry by its id and its feed, and the order in the table is not that of the key.
@Suite("References by several columns")
struct SeveralColumnTests {
  static let schema = """
    CREATE TABLE entries(
      id TEXT NOT NULL, feed TEXT NOT NULL, title TEXT, PRIMARY KEY(id, feed));
    CREATE TABLE entry_tags(
      id TEXT NOT NULL, feed TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY(id, feed, key));
    CREATE TABLE bookmarks(name TEXT PRIMARY KEY, feed TEXT, id TEXT);
    CREATE TABLE links(a_id TEXT, a_feed TEXT, b_feed TEXT, b_id TEXT);
    INSERT INTO entries VALUES
      ('1', 'a', 'one'), ('2', 'a', 'two'), ('1', 'b', 'one of b'), ('2', 'b', NULL);
    INSERT INTO entry_tags VALUES
      ('1', 'a', 'red'), ('1', 'a', 'blue'), ('1', 'b', 'red'), ('2', 'a', 'red');
    INSERT INTO bookmarks VALUES
      ('x', 'a', '1'), ('y', 'b', '1'), ('half', 'a', NULL), ('none', NULL, NULL);
    INSERT INTO links VALUES ('1', 'a', 'b', '1'), ('2', 'a', 'b', '1'), ('1', 'a', 'b', '2');
    """

  private static let collections = """
    entries: { table: 'entries', key: ['feed', 'id'] },
    tags: { table: 'entry_tags', key: ['id', 'feed', 'key'] },
    bookmarks: { table: 'bookmarks', key: 'name' }
    """

  private static let tag = relationship("entry", "tags", "deleteSourceIfDestinationDeleted")

  private static func relationship(_ name: String, _ from: String, _ rules: String...) -> String {
    """
    { name: '\(name)', from: '\(from)', to: 'entries', column: ['feed', 'id'],
      rules: [\(rules.map { "'\($0)'" }.joined(separator: ", "))] }
    """
  }

  private static let links = """
    { name: 'link', from: 'entries', to: 'entries', join: { table: 'links',
        source: ['a_feed', 'a_id'], destination: ['b_feed', 'b_id'] },
      rules: ['deleteDestinationIfAllSourcesDeleted'] }
    """

  private func store(
    _ relationships: String..., schema: String = SeveralColumnTests.schema
  ) throws -> TestStore {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { \(SeveralColumnTests.collections) },
          relationships: [\(relationships.joined(separator: ", "))] }
        """),
      schema: schema)
    _ = try store.writer.sweep([.all], at: 0)
    return store
  }

  private func entry(_ feed: String, _ id: String) -> Node {
    Node("entries", .composite([.text(feed), .text(id)]))
  }

  private func tag(_ feed: String, _ id: String, _ key: String) -> Node {
    Node("tags", .composite([.text(id), .text(feed), .text(key)]))
  }

  private let tags = "SELECT feed || id || key FROM entry_tags ORDER BY 1"

  // MARK: - Rules

  @Test("A row goes with what its columns name, and with nothing that only shares a part of it")
  func cascade() throws {
    let store = try store(SeveralColumnTests.tag)
    let before = try store.dump()
    let receipt = try store.apply([.delete(entry("a", "1"))])
    #expect(
      Set(receipt.deleted) == [entry("a", "1"), tag("a", "1", "blue"), tag("a", "1", "red")])
    #expect(try store.texts(tags) == ["a2red", "b1red"])
    #expect(try store.undo(receipt).leftCount == 0)
    #expect(try store.dump() == before)
  }

  @Test("A sweep finds what an application deleted", arguments: [nil, 1])
  func swept(rows: Int64?) throws {
    let store = try store(SeveralColumnTests.tag)
    if let rows { store.sweepsInSteps(of: rows) }
    try store.bySQL("DELETE FROM entries WHERE feed = 'a'")
    #expect(try store.writer.sweep([.cascade], at: 1).deletedCount == 3)
    #expect(try store.texts(tags) == ["b1red"])
    #expect(try store.writer.sweep([.all], at: 2).outcome == .nothing)
  }

  @Test("A row with a NULL in one of the columns refers to nothing", arguments: [false, true])
  func missingPart(bySQL: Bool) throws {
    let rule = "deleteSourceIfDestinationDeleted"
    let store = try store(SeveralColumnTests.relationship("entry", "bookmarks", rule))
    #expect(try store.edges().count == 2)
    #expect(try store.reader.checkReferences().total == 0)
    let all = ["1", "2"].flatMap { id in ["a", "b"].map { entry($0, id) } }
    if bySQL {
      try store.bySQL("DELETE FROM entries")
      _ = try store.writer.sweep([.all], at: 1)
    } else {
      try store.apply(all.map { .delete($0) })
    }
    #expect(try store.texts("SELECT name FROM bookmarks ORDER BY 1") == ["half", "none"])
  }

  @Test("Nullify sets all of the columns, and undo brings all of them back", arguments: [nil, 1])
  func nullify(rows: Int64?) throws {
    let store = try store(
      SeveralColumnTests.relationship("entry", "bookmarks", "nullifySourceIfDestinationDeleted"))
    if let rows { store.sweepsInSteps(of: rows) }
    let before = try store.dump()
    let receipt = try store.apply([.delete(entry("a", "1"))])
    let marks = "SELECT name || coalesce(feed, '-') || coalesce(id, '-') FROM bookmarks ORDER BY 1"
    #expect(try store.texts(marks) == ["halfa-", "none--", "x--", "yb1"])
    #expect(try store.undo(receipt).leftCount == 0)
    #expect(try store.dump() == before)
    try store.bySQL("DELETE FROM entries WHERE feed = 'b'")
    _ = try store.writer.sweep([.all], at: 1)
    #expect(try store.texts(marks) == ["halfa-", "none--", "xa1", "y--"])
  }

  @Test("Undo leaves a reference alone that somebody has written since")
  func undoneTooLate() throws {
    let store = try store(
      SeveralColumnTests.relationship("entry", "bookmarks", "nullifySourceIfDestinationDeleted"))
    let receipt = try store.apply([.delete(entry("a", "1"))])
    try store.bySQL("UPDATE bookmarks SET feed = 'b' WHERE name = 'x'")
    #expect(try store.undo(receipt).leftCount == 1)
    #expect(
      try store.texts("SELECT feed || ifnull(id, '-') FROM bookmarks WHERE name = 'x'") == ["b-"])
  }

  @Test("The last of several references takes the destination along", arguments: [nil, 1])
  func counting(rows: Int64?) throws {
    let rule = "deleteDestinationIfAllSourcesDeleted"
    let store = try store(SeveralColumnTests.relationship("entry", "bookmarks", rule))
    if let rows { store.sweepsInSteps(of: rows) }
    try store.bySQL("INSERT INTO bookmarks VALUES('z', 'a', '1')")
    try store.bySQL("UPDATE bookmarks SET feed = 'b' WHERE name = 'x'")
    #expect(try store.writer.sweep([.cascade, .refcount], at: 1).outcome == .nothing)
    // Only a part of the reference changes, and with it what it names.
    try store.bySQL("UPDATE bookmarks SET id = '2' WHERE name = 'z'")
    #expect(try store.writer.sweep([.cascade, .refcount], at: 2).deletedCount == 1)
    #expect(try !store.exists(entry("a", "1")))
    #expect(try store.exists(entry("a", "2")) && store.exists(entry("b", "1")))
  }

  @Test("A join table names both ends by several columns", arguments: [nil, 1])
  func joins(rows: Int64?) throws {
    let store = try store(SeveralColumnTests.links)
    if let rows { store.sweepsInSteps(of: rows) }
    let before = try store.dump()
    let first = try store.apply([.delete(entry("a", "1"))])
    #expect(Set(first.deleted) == [entry("a", "1"), entry("b", "2")])
    #expect(try store.undo(first).leftCount == 0)
    #expect(try store.dump() == before)
    try store.bySQL("DELETE FROM links WHERE a_id = '2'")
    #expect(try store.writer.sweep([.all], at: 1).outcome == .nothing)
    let receipt = try store.apply([.delete(entry("a", "1"))])
    #expect(Set(receipt.deleted) == [entry("a", "1"), entry("b", "1"), entry("b", "2")])
    #expect(try store.texts("SELECT count(*) FROM links") == ["0"])
    #expect(try store.undo(receipt).leftCount == 0)
    #expect(try store.texts("SELECT count(*) FROM links") == ["2"])
  }

  @Test("A deletion that would take the last reference away is refused at once")
  func denial() throws {
    let store = try store(
      SeveralColumnTests.relationship("entry", "bookmarks", "denyDestinationDeletion"))
    try store.bySQL("DELETE FROM entries WHERE id = '2'")
    for statement in ["DELETE FROM entries", "UPDATE entries SET feed = 'c' WHERE id = '1'"] {
      let error = #expect(throws: SQLiteError.self) { try store.bySQL(statement) }
      #expect(
        error?.message.contains("holds it by \"entry\" (denyDestinationDeletion)") == true,
        "\(statement): \(error.map { "\($0)" } ?? "")")
    }
    #expect(throws: Rejection.self) { try store.apply([.delete(entry("a", "1"))]) }
    try store.bySQL("DELETE FROM bookmarks; DELETE FROM entries")
  }

  @Test("A source cannot go while its destination is there")
  func denySource() throws {
    let store = try store(
      SeveralColumnTests.relationship("entry", "bookmarks", "denySourceDeletion"))
    #expect(throws: SQLiteError.self) {
      try store.bySQL("DELETE FROM bookmarks WHERE name = 'x'")
    }
    try store.bySQL("DELETE FROM bookmarks WHERE name = 'half'; DELETE FROM entries")
    try store.bySQL("DELETE FROM bookmarks")
  }

  @Test("A mandatory reference must be complete")
  func mandatory() throws {
    let store = try store(
      """
      { name: 'entry', from: 'bookmarks', to: 'entries', column: ['feed', 'id'], optional: false }
      """)
    func put(_ value: JSON) -> Change {
      .put(Node("bookmarks", .text("new")), type: nil, value: JSONText(value), edges: nil)
    }
    #expect(try store.reasons([put(["feed": "a"])]).map(\.code) == [.missingMandatory])
    try store.apply([put(["feed": "a", "id": "2"])])
    #expect(try store.reader.checkReferences().total == 2)
  }

  // MARK: - Types

  @Test("A type column says which collection the columns name")
  func typed() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { \(SeveralColumnTests.collections), pages: { table: 'page', key: ['f', 'i'] },
            notes: { table: 'note', key: 'n' } },
          relationships: [
            { name: 'about', from: 'notes', column: ['feed', 'id'], typeColumn: 'kind',
              to: { entry: 'entries', page: 'pages' },
              rules: ['nullifySourceIfDestinationDeleted'] } ] }
        """),
      schema: """
        \(SeveralColumnTests.schema)
        CREATE TABLE page(f TEXT NOT NULL, i INTEGER NOT NULL, PRIMARY KEY(f, i)) WITHOUT ROWID;
        CREATE TABLE note(n INTEGER PRIMARY KEY, feed, id, kind);
        INSERT INTO page VALUES('a', 1);
        INSERT INTO note VALUES(1, 'a', '1', 'entry'), (2, 'a', 1, 'page'), (3, 'a', 1, 'x');
        """)
    let text = "SELECT n || ifnull(feed, '-') || ifnull(id, '-') || ifnull(kind, '-') FROM note"
    try store.bySQL("DELETE FROM page")
    _ = try store.writer.sweep([.all], at: 1)
    #expect(try store.texts(text) == ["1a1entry", "2---", "3a1x"])
    try store.apply([.delete(entry("a", "1"))])
    #expect(try store.texts(text) == ["1---", "2---", "3a1x"])
  }

  // MARK: - Questions

  @Test("Both ends of such an edge can be asked for, and it explains what keeps a row")
  func questions() throws {
    let store = try store(
      SeveralColumnTests.tag,
      SeveralColumnTests.relationship(
        "mark", "bookmarks", "deleteDestinationIfAllSourcesDeleted"))
    let to = try store.reader.edges(EdgeQuery(to: .node(entry("a", "1"))))
    #expect(to.edges.map(\.source).count == 3)
    let from = try store.reader.edges(EdgeQuery(from: tag("a", "2", "red")))
    #expect(from.edges.map(\.destination) == [.node(entry("a", "2"))])
    guard case .alive(let holders, _, _) = try store.reader.why(.node(entry("a", "1"))) else {
      Issue.record("not alive")
      return
    }
    #expect(holders.count == 3 && holders.map(\.source).contains(Node("bookmarks", .text("x"))))
    try store.bySQL("DELETE FROM bookmarks WHERE name = 'x'")
    _ = try store.writer.sweep([.all], at: 1)
    #expect(try !store.exists(entry("a", "1")))
  }

  @Test("A reference to nothing is listed with the key that it names")
  func dangling() throws {
    let store = try store(
      SeveralColumnTests.relationship("entry", "bookmarks", "nullifySourceIfDestinationDeleted"))
    try store.bySQL("INSERT INTO bookmarks VALUES('lost', 'b', '9')")
    let findings = try store.reader.checkReferences().list
    #expect(findings.map(\.edge?.destination) == [.node(entry("b", "9"))])
    #expect(try store.writer.sweep([.dangling], at: 1).outcome == .done)
    #expect(
      try store.texts("SELECT count(*) FROM bookmarks WHERE feed IS NULL AND id IS NULL") == ["2"])
  }

  @Test("An index that begins with the columns, in any order, is enough; a missing one is made")
  func indexes() throws {
    let store = try store(
      SeveralColumnTests.tag, SeveralColumnTests.relationship("entry", "bookmarks"),
      SeveralColumnTests.links)
    let missing = ["bookmarks(feed, id)", "links(a_feed, a_id)", "links(b_feed, b_id)"]
    let report = try store.writer.attach(createIndexes: false)
    #expect(report.missingIndexes.map(\.description).sorted() == missing)
    #expect(try store.writer.attach(createIndexes: true).indexesMade.count == 3)
    #expect(try store.writer.attach(createIndexes: false).missingIndexes == [])
    #expect(try store.writer.detach().indexes.count == 3)
  }

  @Test("Whatever the parts of a key are, its reference is followed", arguments: ["", "BLOB"])
  func everyValue(type: String) throws {
    let values = [
      "x'00FF'", "x''", "'a' || char(0) || 'b'", "0.1 + 0.2", "1e300", "9007199254740993", "'x'",
      "'x''0'", "'\\u0000'", "'\"'", "CAST(x'C3FF41' AS TEXT)", "''", "'x''00FF'''", "'Ä'",
    ]
    let rows = values.map { "(\($0), 1), (1, \($0))" }.joined(separator: ", ")
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { pairs: { table: 'pair', key: ['a', 'b'] }, uses: { table: 'use', key: 'n' } },
          relationships: [ { name: 'pair', from: 'uses', to: 'pairs', column: ['x', 'y'],
            rules: ['deleteSourceIfDestinationDeleted', 'deleteDestinationIfAllSourcesDeleted'] } ] }
        """),
      schema: """
        CREATE TABLE pair(a \(type), b \(type), PRIMARY KEY(a, b));
        CREATE TABLE use(n INTEGER PRIMARY KEY, x \(type), y \(type));
        INSERT INTO pair VALUES \(rows);
        INSERT INTO use(x, y) SELECT a, b FROM pair; INSERT INTO use(x, y) SELECT a, b FROM pair;
        """)
    let count = Int64(2 * values.count)
    #expect(try Int64(store.edges().count) == 2 * count)
    try store.bySQL("DELETE FROM pair WHERE b = 1")
    #expect(try store.writer.sweep([.cascade], at: 1).deletedCount == count)
    try store.bySQL("UPDATE use SET x = NULL WHERE n <= \(count)")
    #expect(try store.writer.sweep([.all], at: 2).outcome == .nothing)
    try store.bySQL("UPDATE use SET y = NULL WHERE n > \(count) AND n % 4 = 0")
    #expect(try store.writer.sweep([.all], at: 3).deletedCount == values.count / 2)
    #expect(try store.edges().count == values.count / 2)
    #expect(try store.writer.sweep([.all], at: 4).outcome == .nothing)
  }
}
