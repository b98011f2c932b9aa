import CascadeModel
import CascadeStore
import Testing

/// Nodes that are kept from every deletion, on every engine.
package struct Protections {
  private let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  package enum Claim: String, CaseIterable, CustomTestStringConvertible {
    case refused = "An application cannot delete the node, nor what would go with it"
    case renamed = "A changed key is a deletion"
    case foreignKey = "A foreign key that cascades deletes nothing either"
    case replaced = "REPLACE and TRUNCATE delete nothing either"
    case file = "A change file is rejected, also where a rule would take the node"
    case swept = "A sweep leaves it, and tells; it goes when the protection has ended"
    case job = "A job deletes nothing, or leaves it"
    case aged = "It does not go because of its age"
    case added = "What is added later is protected before anything is deleted"
    case moved = "What moves away is free"
    case ended = "A protection ends with its time, and not before"
    case listed = "Protections are listed, and changed by another one"
    case alone = "A node of a table without relationships is protected, too"

    package var testDescription: String { rawValue }
  }

  package func expect(_ claim: Claim) throws {
    let store = try CaseStore(engine)
    switch claim {
    case .refused: try refused(store)
    case .renamed: try renamed(store)
    case .foreignKey: try foreignKey(store)
    case .replaced: try replaced(store)
    case .file: try file(store)
    case .swept: try swept(store)
    case .job: try job(store)
    case .aged: try aged(store)
    case .added: try added(store)
    case .moved: try moved(store)
    case .ended: try ended(store)
    case .listed: try listed(store)
    case .alone: try alone(store)
    }
  }

  private func refused(_ store: CaseStore) throws {
    try store.protect("users", 1)
    let before = try store.dump()
    store.expectRefusal("DELETE FROM person WHERE id = 1", "users/1 is protected: case 2026-14")
    store.expectRefusal("DELETE FROM person", "users/1 is protected: case 2026-14")
    store.expectRefusal(
      "DELETE FROM post WHERE id = 11", "posts/11 is protected with users/1: case 2026-14")
    store.expectRefusal("DELETE FROM note WHERE id = 111", "notes/111 is protected with users/1")
    #expect(try store.dump() == before)
    try store.bySQL("DELETE FROM post WHERE id = 21; UPDATE person SET name = 'other' WHERE id = 1")
    _ = try store.unprotect("users", 1)
    try store.bySQL("DELETE FROM person WHERE id = 1")
    #expect(try store.sweep().byCollection["posts"] == 2)
  }

  private func renamed(_ store: CaseStore) throws {
    try store.protect("users", 1)
    store.expectRefusal("UPDATE person SET id = 9 WHERE id = 1", "users/1 is protected")
    store.expectRefusal("UPDATE post SET id = 99 WHERE id = 11", "posts/11 is protected")
    try store.bySQL("UPDATE post SET id = 29 WHERE id = 21")
  }

  private func foreignKey(_ store: CaseStore) throws {
    try store.protect("users", 1)
    store.expectRefusal(
      "DELETE FROM org WHERE id = 1", "users/1 is protected", enforcing: true)
    #expect(try store.ids("org") == ["1", "2"])
    try store.bySQL("DELETE FROM org WHERE id = 2", enforcing: true)
  }

  private func replaced(_ store: CaseStore) throws {
    try store.protect("users", 1)
    let statement =
      store.isServer ? "TRUNCATE person CASCADE" : "REPLACE INTO person VALUES(9, 1, 'ann', 5)"
    store.expectRefusal(statement, "users/1 is protected")
    try store.bySQL(
      "INSERT INTO person VALUES(1, 1, 'ann', 5) ON CONFLICT(id) DO UPDATE SET name = 'anna'")
    #expect(try store.ids("person") == ["1", "2"])
  }

  private func file(_ store: CaseStore) throws {
    try store.protect("users", 1)
    let before = try store.dump()
    for node in [
      Node("users", .integer(1)), Node("posts", .integer(11)), Node("blogs", .integer(1)),
    ] {
      let reasons = try store.reasons([.delete(node)])
      #expect(reasons.contains { $0.code == .protected }, "\(node): \(reasons.map(\.message))")
    }
    #expect(try store.dump() == before)
    #expect(try store.reasons([.delete(Node("posts", .integer(21)))]).isEmpty)
    _ = try store.unprotect("users", 1)
    #expect(try store.reasons([.delete(Node("users", .integer(1)))]).isEmpty)
    #expect(try store.ids("post") == [])
  }

  private func swept(_ store: CaseStore) throws {
    try store.protect("users", 1)
    try store.bySQL("DELETE FROM blog WHERE id = 1")
    let sweep = try store.sweep()
    #expect(sweep.blocked.contains { $0.message.contains("posts/11 is protected with users/1") })
    #expect(try store.ids("post") == ["11", "12"])
    _ = try store.unprotect("users", 1)
    _ = try store.sweep()
    #expect(try store.ids("post") == [])
  }

  private func job(_ store: CaseStore) throws {
    try store.protect("posts", 11)
    let before = try store.dump()
    let job = try store.delete(Node("users", .integer(1)))
    #expect(job.state == .blocked && job.deletedCount == 0)
    #expect(
      job.blocked.contains {
        $0["message"]?.string?.contains("posts/11 is protected: case 2026-14") ?? false
      })
    #expect(try store.dump() == before)
    let rest = try store.delete(Node("blogs", .integer(1)), isPartial: true)
    #expect(rest.state == .done && rest.byCollection == ["posts": 2, "notes": 1])
    #expect(try store.ids("post") == ["11"])
  }

  private func aged(_ store: CaseStore) throws {
    try store.protect("users", 1)
    let pass = try #require(try store.pass())
    #expect(pass.byCollection["users"] == 1 && !pass.blocked.isEmpty)
    #expect(try store.ids("person") == ["1"])
  }

  private func added(_ store: CaseStore) throws {
    try store.protect("users", 1)
    try store.bySQL("INSERT INTO post VALUES(13, 1, 2); INSERT INTO note VALUES(131, 13)")
    try store.bySQL("DELETE FROM blog WHERE id = 2")
    _ = try store.sweep()
    #expect(try store.ids("post") == ["11", "12", "13", "21"])
    _ = try store.review()
    store.expectRefusal("DELETE FROM note WHERE id = 131", "notes/131 is protected with users/1")
    #expect(try !store.reasons([.delete(Node("posts", .integer(13)))]).isEmpty)
  }

  private func moved(_ store: CaseStore) throws {
    try store.protect("users", 1)
    try store.bySQL("UPDATE post SET person = 2 WHERE id = 12")
    _ = try store.review()
    try store.bySQL("DELETE FROM post WHERE id = 12")
    store.expectRefusal("DELETE FROM post WHERE id = 11", "posts/11 is protected")
  }

  private func ended(_ store: CaseStore) throws {
    try store.protect("users", 1, until: store.now + 1_000)
    #expect(try store.review().isEmpty)
    store.expectRefusal("DELETE FROM person WHERE id = 1", "users/1 is protected")
    store.now += 1_000
    #expect(try store.review().map(\.node) == [Node("users", .integer(1))])
    try store.bySQL("DELETE FROM person WHERE id = 1")
    #expect(try store.protections().isEmpty)
  }

  private func listed(_ store: CaseStore) throws {
    try store.protect("users", 1)
    try store.protect("users", 2, because: "an audit")
    try store.protect("users", 1, because: "another case", until: 5_000_000_000_000)
    let all = try store.protections()
    #expect(all.map(\.node.key) == [.integer(1), .integer(2)])
    #expect(all[0].reason == "another case" && all[0].until == 5_000_000_000_000)
    #expect(all[1].reason == "an audit" && all[1].author == "me" && all[1].until == nil)
    store.expectRefusal("DELETE FROM person WHERE id = 1", "another case")
    #expect(throws: NoNodeToProtect.self) { try store.protect("users", 7) }
    #expect(try store.unprotect("users", 2)?.reason == "an audit")
    #expect(try store.unprotect("users", 2) == nil && store.protections().count == 1)
    try store.reopen()
    store.expectRefusal("DELETE FROM person WHERE id = 1", "another case")
  }

  private func alone(_ store: CaseStore) throws {
    try store.protect("lamps", 1)
    store.expectRefusal("DELETE FROM lamp", "lamps/1 is protected: case 2026-14")
    try store.bySQL("DELETE FROM lamp WHERE id = 2")
    _ = try store.unprotect("lamps", 1)
    try store.bySQL("DELETE FROM lamp")
  }
}

/// Users with posts, which go with them and with their blogs, and notes, which go with posts.
private final class CaseStore {
  private var store: any StoreUnderTest
  private let enforcing: String
  let isServer: Bool
  var now: Int64 = 1_800_000_000_000

  init(_ engine: any EngineUnderTest) throws {
    enforcing = engine.enforcingForeignKeys
    isServer = engine.typeOfBytes == "bytea"
    store = try engine.makeStore(
      model: StoreModel(
        """
        { collections: {
            users: { table: "person", key: "id", expires: { when: "seen < 10" } },
            posts: { table: "post", key: "id" }, notes: { table: "note", key: "id" },
            blogs: { table: "blog", key: "id" }, lamps: { table: "lamp", key: "id" } },
          relationships: [
            { name: "user", from: "posts", to: "users", column: "person",
              rules: ["deleteSourceIfDestinationDeleted"] },
            { name: "blog", from: "posts", to: "blogs", column: "blog",
              rules: ["deleteSourceIfDestinationDeleted"] },
            { name: "post", from: "notes", to: "posts", column: "post",
              rules: ["deleteSourceIfDestinationDeleted"] }] }
        """),
      schema: """
        CREATE TABLE org(id INTEGER PRIMARY KEY);
        CREATE TABLE person(id INTEGER PRIMARY KEY, org INTEGER REFERENCES org(id) ON DELETE CASCADE,
          name TEXT UNIQUE, seen INTEGER);
        CREATE TABLE blog(id INTEGER PRIMARY KEY);
        CREATE TABLE post(id INTEGER PRIMARY KEY, person INTEGER, blog INTEGER);
        CREATE TABLE note(id INTEGER PRIMARY KEY, post INTEGER);
        CREATE TABLE lamp(id INTEGER PRIMARY KEY);
        CREATE INDEX post_person ON post(person); CREATE INDEX post_blog ON post(blog);
        CREATE INDEX note_post ON note(post); CREATE INDEX person_org ON person(org);
        INSERT INTO org VALUES(1), (2); INSERT INTO blog VALUES(1), (2);
        INSERT INTO person VALUES(1, 1, 'ann', 5), (2, 2, 'bob', 5);
        INSERT INTO post VALUES(11, 1, 1), (12, 1, 1), (21, 2, 1);
        INSERT INTO note VALUES(111, 11), (211, 21); INSERT INTO lamp VALUES(1), (2);
        """)
    _ = try store.writer.sweep([.all], at: now)
  }

  func reopen() throws { try store.reopen() }

  @discardableResult
  func protect(
    _ collection: String, _ key: Int64, because reason: String = "case 2026-14",
    until: Int64? = nil
  ) throws -> Protection {
    try store.writer.protect(
      Protection.Request(
        Node(collection, .integer(key)), because: reason, by: "me", until: until), at: now)
  }

  func unprotect(_ collection: String, _ key: Int64) throws -> Protection? {
    try store.writer.unprotect(Node(collection, .integer(key)), by: "me", at: now)
  }
  func review() throws -> [Protection] { try store.writer.reviewProtections(at: now) }
  func protections() throws -> [Protection] { try store.reader.protections() }

  func sweep() throws -> SweepResult { try store.writer.sweep([.cascade, .refcount], at: now) }
  func delete(_ node: Node, isPartial: Bool = false) throws -> DeletionJob {
    let request = DeletionJob.Request(.nodes([node]), by: "me", isPartial: isPartial)
    return try store.writer.carryOut(job: store.writer.begin(request, at: now), at: now)
  }
  func pass() throws -> DeletionJob? {
    try store.writer.beginExpired(at: now).jobs.first.map {
      try store.writer.carryOut(job: $0, at: now)
    }
  }

  /// Why a change file is rejected.
  func reasons(_ changes: [Change]) throws -> [Reason] {
    try store.writer.followProtected()
    return try store.reasons(changes)
  }

  // MARK: - The application

  func bySQL(_ sql: String, enforcing: Bool = false) throws {
    try store.bySQL(enforcing ? "\(self.enforcing); \(sql)" : sql)
  }

  func expectRefusal(_ sql: String, _ text: String, enforcing: Bool = false) {
    do {
      try bySQL(sql, enforcing: enforcing)
      Issue.record("\(sql) was not refused")
    } catch {
      #expect("\(error)".contains(text), "\(sql)")
    }
  }

  func ids(_ table: String) throws -> [String] {
    try store.texts("SELECT CAST(id AS TEXT) FROM \(table)").sorted()
  }
  func dump() throws -> [String] { try store.dump().sorted() }
}
