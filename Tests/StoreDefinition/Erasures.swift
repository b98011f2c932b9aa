import CascadeModel
import CascadeStore
import Testing

/// Erasures: jobs that leave nothing, on every engine.
package struct Erasures {
  private let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  package enum Claim: String, CaseIterable, CustomTestStringConvertible {
    case whole = "What goes is not kept, and cannot be undone or explained"
    case earlier = "What earlier batches kept of it goes, too, and the rest stays"
    case notices = "Notices, leases and ids of change files name it no more"
    case listed = "It is listed without its key"
    case stopped = "An erasure that was stopped goes on, and leaves nothing"
    case followed = "What an application deletes right behind it is followed"
    case held = "What follows from a deletion that comes later is not taken for that of a held plan"
    case verified = "It is asked again whether something refers to it"
    case denied = "Where something has to stay, nothing is erased"

    package var testDescription: String { rawValue }
  }

  package func expect(_ claim: Claim) throws {
    let store = try PersonStore(engine)
    switch claim {
    case .whole: try whole(store)
    case .earlier: try earlier(store)
    case .notices: try notices(store)
    case .listed: try listed(store)
    case .stopped: try stopped(store)
    case .followed: try followed(store)
    case .held: try held(PersonStore(engine, limit: 1))
    case .verified: try verified(store)
    case .denied: try denied(store)
    }
  }

  private func whole(_ store: PersonStore) throws {
    let job = try store.erase("alice-key")
    #expect(job.state == .done && job.byCollection == ["users": 1, "posts": 2])
    #expect(try store.texts("SELECT id FROM account") == ["bob-key"])
    #expect(throws: (any Error).self) {
      try store.store.writer.undo(#require(job.batch), by: "me", at: now)
    }
    #expect(try store.why("alice-key") == nil)
    #expect(try !store.store.isRowInTrash(Node("posts", .integer(11))))
    #expect(
      job.request.subject == .nodes([]) && job.request.erasure?.before == ["users": 1, "posts": 2])
    try store.expectNoTokens()
  }

  private func followed(_ store: PersonStore) throws {
    try store.fill()
    #expect(try store.erase("alice-key").deletedCount == 203)
    try store.bySQL("DELETE FROM account WHERE id = 'bob-key'")
    #expect(try store.sweep().deletedCount == 1)
    #expect(try store.texts("SELECT text FROM post") == [])
  }

  private func held(_ store: PersonStore) throws {
    try store.bySQL("DELETE FROM account WHERE id = 'alice-key'")
    #expect(try store.sweep().outcome == .held)
    #expect(try store.erase("alice-key").state == .done)
    try store.expectNoTokens()
    try store.bySQL("DELETE FROM account WHERE id = 'bob-key'")
    #expect(try store.sweep().deletedCount == 1)
    #expect(try store.texts("SELECT text FROM post WHERE id = 21") == [])
  }

  private func earlier(_ store: PersonStore) throws {
    try store.bySQL("DELETE FROM post WHERE id IN (11, 21)")
    _ = try store.sweep()
    try store.bySQL("DELETE FROM account WHERE id = 'alice-key'")
    let batch = try #require(try store.sweep().batch)
    _ = try store.store.writer.undo(batch, by: "me", at: now)
    #expect(try store.store.isRowInTrash(Node("posts", .integer(11))))
    _ = try store.erase("alice-key")
    #expect(try !store.store.isRowInTrash(Node("posts", .integer(11))))
    #expect(try store.store.isRowInTrash(Node("posts", .integer(21))))
    try store.expectNoTokens()
  }

  private func notices(_ store: PersonStore) throws {
    let user = Node("users", .text("alice-key"))
    try store.store.apply(
      [
        .put(Node("notes", .text("n")), type: nil, value: nil, edges: nil),
        .link(
          name: "about", from: Node("notes", .text("n")), to: .node(user),
          rules: .notifyIfDestinationDeleted),
      ], id: "import of alice-key")
    try store.store.lease("'alice-key'", in: "users", until: 90_000_000_000)
    try store.store.endLeases()
    _ = try store.erase("alice-key")
    #expect(try store.store.reader.notices(after: 0, limit: 10).isEmpty)
    try store.expectNoTokens()
    #expect(try store.store.reader.ledgerEntry("import of alice-key") != nil)
    #expect(try store.store.writer.ledgerEntry("import of alice-key") != nil)
  }

  private func listed(_ store: PersonStore) throws {
    try store.bySQL("DELETE FROM post WHERE id = 11")
    _ = try store.sweep()
    _ = try store.erase("alice-key")
    let list = try store.store.reader.deleted(DeletedQuery(), limit: 10).nodes
    #expect(list.count == 3 && list.allSatisfy { $0.key == nil && !$0.isKept })
    #expect(list.map(\.cause) == [.application, .erased, .erased])
    #expect(list[1].json["node"] == ["users"])
  }

  private func stopped(_ store: PersonStore) throws {
    try store.fill()
    let number = try store.begin("alice-key")
    var steps = 0
    #expect(throws: Stopped.self) {
      _ = try store.carryOut(number) {
        steps += 1
        if steps == 4 { throw Stopped() }
      }
    }
    try store.store.reopen()
    #expect(try store.carryOut(number).state == .done)
    #expect(try store.texts("SELECT account FROM post WHERE id < 1000") == ["bob-key"])
    try store.expectNoTokens()
  }

  private struct Stopped: Error {}

  private func verified(_ store: PersonStore) throws {
    let job = try store.erase("alice-key")
    #expect(job.request.erasure?.referring == 1)
    #expect(try store.erase("bob-key").request.erasure?.referring == 0)
  }

  private func denied(_ store: PersonStore) throws {
    try store.bySQL("INSERT INTO bill VALUES(1, 'alice-key')")
    let job = try store.erase("alice-key")
    #expect(job.state == .blocked && job.deletedCount == 0 && !job.blocked.isEmpty)
    #expect(try store.texts("SELECT text FROM post WHERE id = 11") == ["token of alice"])
  }
}

private let now: Int64 = 1_800_000_000_000

/// People with posts; likes refer to them without a rule, and bills keep them.
private final class PersonStore {
  let store: any StoreUnderTest
  private let isServer: Bool

  init(_ engine: any EngineUnderTest, limit: Int = 100_000) throws {
    isServer = engine.typeOfBytes == "bytea"
    store = try engine.makeStore(
      model: StoreModel(
        """
        { keepDeleted: true, collections: {
            users: { table: "account", key: "id" }, posts: { table: "post", key: "id" },
            likes: { table: "likes", key: "id" }, bills: { table: "bill", key: "id" }, notes: {} },
          relationships: [
            { name: "user", from: "posts", to: "users", column: "account",
              rules: ["deleteSourceIfDestinationDeleted"] },
            { name: "liked", from: "likes", to: "users", column: "account", rules: [] },
            { name: "of", from: "bills", to: "users", column: "account", rules: ["denyDestinationDeletion"] }],
          limits: { hold: { deletes: \(limit), share: 0.01 } } }
        """),
      schema: """
        CREATE TABLE account(id TEXT PRIMARY KEY, name TEXT);
        CREATE TABLE post(id INTEGER PRIMARY KEY, account TEXT, text TEXT);
        CREATE TABLE likes(id INTEGER PRIMARY KEY, account TEXT);
        CREATE TABLE bill(id INTEGER PRIMARY KEY, account TEXT);
        CREATE INDEX post_account ON post(account); CREATE INDEX likes_account ON likes(account);
        CREATE INDEX bill_account ON bill(account);
        INSERT INTO account VALUES('alice-key', 'name of alice'), ('bob-key', 'Bob');
        INSERT INTO post VALUES(11, 'alice-key', 'token of alice'), (12, 'alice-key', 'token of alice'), (21, 'bob-key', 'b');
        INSERT INTO likes VALUES(1, 'alice-key');
        """)
    _ = try store.writer.sweep([.cascade, .refcount], at: now)
  }

  func fill() throws {
    let posts = (0..<200).map { "(\(1_000 + $0), 'alice-key', 'token of alice')" }
    try bySQL("INSERT INTO post VALUES \(posts.joined(separator: ", "))")
    store.sweepsInSteps(of: 20)
  }

  func begin(_ user: String) throws -> Int64 {
    var request = DeletionJob.Request(.nodes([Node("users", .text(user))]), by: "me")
    request.erasure = DeletionJob.Erasure()
    return try store.writer.begin(request, at: now)
  }

  func carryOut(_ job: Int64, _ pause: () throws -> Void = {}) throws -> DeletionJob {
    try withoutActuallyEscaping(pause) { pause in
      try store.writer.carryOut(job: job, at: now, manners: StepPolicy { _ in try pause() })
    }
  }

  func erase(_ user: String) throws -> DeletionJob { try carryOut(begin(user)) }
  func sweep() throws -> SweepResult { try store.writer.sweep([.cascade, .refcount], at: now) }
  func bySQL(_ sql: String) throws { try store.bySQL(sql) }
  func texts(_ sql: String) throws -> [String] { try store.texts(sql) }

  func why(_ user: String) throws -> Why.Deletion? {
    let why = try store.reader.why(.node(Node("users", .text(user))), at: nil)
    return if case .deleted(let deletion) = why { deletion } else { nil }
  }

  /// Of all of Cascade's own tables, as an application reads them.
  func expectNoTokens() throws {
    for table in try ownTables() {
      let rows =
        try isServer
        ? texts("SELECT t::text FROM cascade.\(table) t WHERE t::text LIKE '%alice%'")
        : columns(of: table).flatMap {
          try texts("SELECT \"\($0)\" FROM \(table) WHERE CAST(\"\($0)\" AS TEXT) LIKE '%alice%'")
        }
      #expect(rows == [], "\(table)")
    }
  }

  private func ownTables() throws -> [String] {
    try isServer
      ? texts(
        "SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'cascade' AND table_type = 'BASE TABLE'"
      )
      : texts("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'cascade_*'")
  }

  private func columns(of table: String) throws -> [String] {
    try texts("SELECT name FROM pragma_table_info('\(table)')")
  }
}
