import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteDeletion
import SQLiteStore
import SQLiteSweeps
import StoreDefinition
import StoreFixtures
import Testing

/// References to one of several tables without a type, in a schema like GnuCash's: a slot says by a
/// GUID alone what it belongs to. The keys 'both' and 'two' are in both tables.
@Suite("References to one of several tables")
struct AlternativeTests {
  private static let schema = """
    CREATE TABLE accounts(guid TEXT PRIMARY KEY NOT NULL);
    CREATE TABLE transactions(guid TEXT PRIMARY KEY NOT NULL);
    CREATE TABLE slots(id INTEGER PRIMARY KEY, obj TEXT);
    CREATE INDEX slots_obj ON slots(obj);
    INSERT INTO accounts VALUES ('a'), ('both'), ('two');
    INSERT INTO transactions VALUES ('t'), ('both'), ('two');
    INSERT INTO slots VALUES (1, 'a'), (2, 't'), (3, 'both'), (4, NULL), (5, 'two'), (6, 'two');
    """

  private static func model(_ rules: [String], _ more: String = "") -> String {
    """
    { collections: { accounts: { table: 'accounts', key: 'guid' },
        transactions: { table: 'transactions', key: 'guid' }, slots: { table: 'slots', key: 'id' } },
      relationships: [ { name: 'obj', from: 'slots', to: ['accounts', 'transactions'],
        column: 'obj', rules: [\(rules.map { "'\($0)'" }.joined(separator: ", "))] \(more) } ] }
    """
  }

  private func store(_ rules: String..., more: String = "", rows: Int64? = nil) throws -> TestStore
  {
    let store = try TestStore(
      model: StoreModel(AlternativeTests.model(rules, more)), schema: AlternativeTests.schema)
    _ = try store.writer.sweep([.all], at: 0)
    if let rows { store.sweepsInSteps(of: rows) }
    return store
  }

  private func node(_ collection: String, _ key: String) -> Node { Node(collection, .text(key)) }

  private let slots = "SELECT id || ifnull(obj, '-') FROM slots ORDER BY 1"
  private let all = ["1a", "2t", "3both", "4-", "5two", "6two"]

  // MARK: - Rules

  @Test("A reference is an edge to each table that has its key")
  func edges() throws {
    let store = try store()
    let edges = try store.edges().map { "\($0.source.key.json.text)>\($0.destination.node!)" }
    #expect(
      Set(edges) == [
        "1>accounts/a", "2>transactions/t", "3>accounts/both", "3>transactions/both",
        "5>accounts/two", "5>transactions/two", "6>accounts/two", "6>transactions/two",
      ])
    let to = try store.reader.edges(EdgeQuery(to: .node(node("transactions", "both")))).edges
    #expect(to.map(\.source) == [Node("slots", .integer(3))])
    #expect(try store.reader.checkReferences().total == 0)
  }

  @Test(
    "A source goes with the last of its destinations, and not before",
    arguments: [nil, 1],
    ["deleteSourceIfDestinationDeleted", "deleteSourceIfAllDestinationsDeleted"])
  func cascade(rows: Int64?, rule: String) throws {
    let store = try store(rule, rows: rows)
    try store.bySQL("DELETE FROM accounts")
    #expect(try store.writer.sweep([.all], at: 1).deletedCount == 1)
    #expect(try store.texts(slots) == ["2t", "3both", "4-", "5two", "6two"])
    try store.bySQL("DELETE FROM transactions WHERE guid = 'both'")
    #expect(try store.writer.sweep([.all], at: 2).deletedCount == 1)
    #expect(try store.texts(slots) == ["2t", "4-", "5two", "6two"])
    #expect(try store.writer.sweep([.all], at: 3).outcome == .nothing)
  }

  @Test("It goes in one batch where a change file deletes all, and undo brings everything back")
  func cascadeByFile() throws {
    let store = try store("deleteSourceIfDestinationDeleted")
    let before = try store.dump()
    let one = try store.apply([.delete(node("accounts", "both"))])
    #expect(one.deletedCount == 1)
    let both = try store.apply([
      .delete(node("accounts", "two")), .delete(node("transactions", "two")),
    ])
    #expect(both.deletedCount == 4)
    #expect(try store.undo(both).leftCount == 0)
    #expect(try store.undo(one).leftCount == 0)
    #expect(try store.dump() == before)
  }

  @Test("A reference becomes null with the last of its destinations", arguments: [nil, 1])
  func nullify(rows: Int64?) throws {
    let store = try store("nullifySourceIfDestinationDeleted", rows: rows)
    let before = try store.dump()
    let receipt = try store.apply([
      .delete(node("accounts", "both")), .delete(node("accounts", "two")),
      .delete(node("transactions", "two")),
    ])
    #expect(try store.texts(slots) == ["1a", "2t", "3both", "4-", "5-", "6-"])
    #expect(try store.undo(receipt).leftCount == 0)
    #expect(try store.dump() == before)
    try store.bySQL("DELETE FROM accounts; DELETE FROM transactions WHERE guid = 'both'")
    _ = try store.writer.sweep([.all], at: 1)
    #expect(try store.texts(slots) == ["1-", "2t", "3-", "4-", "5two", "6two"])
    #expect(try store.writer.sweep([.all], at: 2).outcome == .nothing)
  }

  @Test("A node that very many refer to leaves them alone while another has its key")
  func highFanOut() throws {
    let store = try store("nullifySourceIfDestinationDeleted", rows: 1)
    try store.bySQL(
      """
      WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
      INSERT INTO slots SELECT i, 'both' FROM n;
      DELETE FROM accounts WHERE guid = 'both'
      """)
    _ = try store.writer.sweep([.all], at: 1)
    let count = "SELECT count(*) FROM slots WHERE obj = 'both'"
    #expect(try store.texts(count) == ["392"])
    try store.bySQL("DELETE FROM transactions WHERE guid = 'both'")
    _ = try store.writer.sweep([.all], at: 2)
    #expect(try store.texts(count) == ["0"])
  }

  @Test("A row stays if its reference leads somewhere again between two steps")
  func writerBetweenSteps() throws {
    let store = try store("deleteSourceIfDestinationDeleted", rows: 1)
    try store.bySQL(
      """
      INSERT INTO slots VALUES(7, 'two'), (8, 'two');
      DELETE FROM accounts WHERE guid = 'two'; DELETE FROM transactions WHERE guid = 'two'
      """)
    var left: [String] = []
    let policy = StepPolicy { _ in
      let now = try store.texts(slots)
      if !left.isEmpty || now.count == 8 { return }
      left = now
      try store.bySQL("INSERT INTO transactions VALUES('two')")
    }
    _ = try store.writer.sweep([.cascade], at: 1, manners: policy)
    #expect((5..<8).contains(left.count))
    #expect(try store.texts(slots) == left)
  }

  @Test("A notice is due when the last destination has gone")
  func notices() throws {
    let store = try store("notifyIfDestinationDeleted")
    try store.bySQL("DELETE FROM accounts")
    _ = try store.writer.sweep([.all], at: 1)
    #expect(try store.reader.notices(after: 0, limit: 9).map(\.edge.source.key) == [.integer(1)])
    try store.bySQL("DELETE FROM transactions WHERE guid = 'both'")
    _ = try store.writer.sweep([.all], at: 2)
    let last = try #require(try store.reader.notices(after: 1, limit: 9).first)
    #expect(last.edge.destination == .node(node("transactions", "both")))
    #expect(try store.reader.notices(after: 2, limit: 9).isEmpty)
  }

  @Test("The last destination is denied, whoever deletes it, and no other")
  func denial() throws {
    let store = try store("denyDestinationDeletion")
    try store.bySQL("DELETE FROM accounts WHERE guid = 'both'")
    for statement in [
      "DELETE FROM transactions WHERE guid = 'both'", "DELETE FROM accounts WHERE guid = 'a'",
      "UPDATE accounts SET guid = 'x' WHERE guid = 'a'",
    ] {
      #expect(throws: SQLiteError.self) { try store.bySQL(statement) }
    }
    try store.bySQL("UPDATE accounts SET guid = 'x' WHERE guid = 'two'")
    try store.bySQL("UPDATE accounts SET guid = 'two' WHERE guid = 'x'")
    #expect(throws: Rejection.self) { try store.apply([.delete(node("transactions", "both"))]) }
    #expect(throws: Rejection.self) {
      try store.apply([.delete(node("accounts", "two")), .delete(node("transactions", "two"))])
    }
    try store.apply([.delete(node("accounts", "two"))])
    #expect(throws: Rejection.self) { try store.apply([.delete(node("transactions", "two"))]) }
  }

  @Test("A source cannot go while one of its destinations is there")
  func denySource() throws {
    let store = try store("denySourceDeletion")
    try store.bySQL("DELETE FROM accounts WHERE guid IN ('a', 'both')")
    #expect(throws: SQLiteError.self) { try store.bySQL("DELETE FROM slots WHERE id = 3") }
    try store.bySQL("DELETE FROM slots WHERE id = 1")
  }

  @Test("Each table counts its own references", arguments: [nil, 1])
  func counting(rows: Int64?) throws {
    let store = try store("deleteDestinationIfAllSourcesDeleted", rows: rows)
    try store.bySQL("UPDATE slots SET obj = 't' WHERE id IN (3, 5)")
    #expect(try store.writer.sweep([.all], at: 1).deletedCount == 2)
    #expect(try store.texts("SELECT guid FROM accounts ORDER BY 1") == ["a", "two"])
    #expect(try store.texts("SELECT guid FROM transactions ORDER BY 1") == ["t", "two"])
  }

  // MARK: - References to nothing

  @Test("A reference dangles when no table has its key, and is listed once")
  func dangling() throws {
    let store = try store("deleteSourceIfDestinationDeleted")
    try store.bySQL("INSERT INTO slots VALUES(7, 'lost'), (8, 'late')")
    let findings = try store.reader.checkReferences()
    #expect(findings.total == 2)
    #expect(
      findings.list.first?.message
        == "\"obj\" of slots/7 refers to \"lost\", which is in none of accounts, transactions")
    try store.bySQL("INSERT INTO transactions VALUES('late')")
    #expect(try store.writer.sweep([.dangling], at: 1).deletedCount == 1)
    #expect(try store.texts(slots) == all + ["8late"])
  }

  @Test("A value that looks like none is held once, whichever tables it may lead to")
  func heldValue() throws {
    let store = try store("deleteSourceIfDestinationDeleted")
    try store.bySQL("INSERT INTO slots VALUES(7, ''), (8, '')")
    #expect(try store.writer.sweep([.dangling], at: 1).outcome == .held)
    #expect(try store.writer.heldSweeps.count == 1)
    #expect(try store.texts("SELECT count(*) FROM slots") == ["8"])
  }

  @Test("A mandatory reference needs one of them, and both are not too many")
  func mandatory() throws {
    let store = try store(more: ", optional: false")
    func put(_ value: String) -> Change {
      .put(
        Node("slots", .integer(9)), type: nil, value: JSONText(["obj": .string(value)]), edges: nil)
    }
    #expect(try store.reasons([put("lost")]).map(\.code) == [.missingMandatory])
    for value in ["t", "both"] { #expect(try store.reasons([put(value)]).isEmpty) }
    #expect(try store.reader.checkReferences().list.map(\.kind) == ["missingMandatory"])
  }

  @Test("A change file that names a key of one table says nothing of the other")
  func namedByFile() throws {
    let store = try TestStore(
      model: StoreModel(
        AlternativeTests.model(["deleteSourceIfDestinationDeleted"]).replacingOccurrence(
          of: "relationships: [",
          with: """
            relationships: [ { name: 'other', from: 'accounts', to: 'accounts', column: 'parent',
              rules: ['deleteSourceIfDestinationDeleted'] },
            """)),
      schema: AlternativeTests.schema + "ALTER TABLE accounts ADD COLUMN parent TEXT;")
    _ = try store.writer.sweep([.all], at: 0)
    // Left to a sweep of what dangles.
    try store.bySQL("UPDATE accounts SET parent = 't' WHERE guid = 'a'")
    let receipt = try store.apply([
      .put(
        Node("slots", .integer(9)), type: nil, value: JSONText(["obj": .string("t")]), edges: nil)
    ])
    #expect(receipt.deletedCount == 0 && receipt.edgesAdded == 1)
    #expect(try store.exists(node("accounts", "a")))
  }

  @Test(
    "A leased source stays after the lease if its reference leads elsewhere by then",
    arguments: [false, true])
  func leased(isThere: Bool) throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { accounts: { table: 'accounts', key: 'guid' }, notes: {},
            slots: { table: 'slots', key: 'id' } },
          relationships: [ { name: 'obj', from: 'slots', to: ['notes', 'accounts'], column: 'obj',
            rules: ['deleteSourceIfDestinationDeleted'] } ] }
        """),
      schema: """
        CREATE TABLE accounts(guid TEXT PRIMARY KEY);
        CREATE TABLE slots(id INTEGER PRIMARY KEY, obj TEXT);
        """)
    try store.apply([.put(node("notes", "n"), type: nil, value: nil, edges: nil)])
    try store.bySQL("INSERT INTO slots VALUES(1, 'n')")
    try store.lease("1", in: "slots", until: 1_000)
    try store.apply([.delete(node("notes", "n"))])
    #expect(try store.texts(slots) == ["1n"])
    if isThere { try store.bySQL("INSERT INTO accounts VALUES('n')") }
    _ = try store.writer.sweep([.cascade, .refcount], at: 1_000_000)
    #expect(try store.texts(slots) == (isThere ? ["1n"] : []))
    #expect(try store.writer.sweep([.all], at: 1_000_001).outcome == .nothing)
  }

  // MARK: - Questions

  @Test("A node says what holds it, and a plan what would go with it")
  func questions() throws {
    let store = try store("deleteSourceIfDestinationDeleted")
    guard case .alive(let holders, _, _) = try store.reader.why(.node(node("transactions", "both")))
    else {
      Issue.record("not alive")
      return
    }
    #expect(holders.map(\.source) == [Node("slots", .integer(3))])
    func planned(_ nodes: Node...) throws -> Int {
      try store.reader.plan(deleting: nodes).steps.count
    }
    #expect(try planned(node("accounts", "both")) == 1)
    #expect(try planned(node("accounts", "both"), node("transactions", "both")) == 3)
  }

  @Test("An index is wanted once")
  func index() throws {
    let store = try store("deleteSourceIfDestinationDeleted")
    try store.bySQL("DROP INDEX slots_obj")
    let report = try store.writer.attach(createIndexes: true)
    #expect(report.indexesMade.count == 1)
    #expect(try store.writer.detach().indexes.count == 1)
  }
}

extension String {
  fileprivate func replacingOccurrence(of text: String, with other: String) -> String {
    guard let range = firstRange(of: text) else { return self }
    return self[..<range.lowerBound] + other + self[range.upperBound...]
  }
}
