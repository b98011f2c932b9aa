import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteSweeps

/// What is being built is not referenced yet: a lease holds it like an edge would.
@Suite("Leases")
struct LeaseTests {
  let store: TestStore
  /// Transactions of the test store are in the first second, and leases end with the thousandth.
  private static let end: Int64 = 1_000

  init() throws { store = try TestStore() }

  private func lease(_ key: String?, in collection: String = "n", until end: Int64 = end) throws {
    try store.lease(key.map { "'\($0)'" } ?? "NULL", in: collection, until: end)
  }

  @discardableResult
  private func sweep(_ kinds: [SweepKind] = [.cascade, .refcount]) throws -> String {
    try store.writer.sweep(kinds, at: LeaseTests.end * 1_000).deleted.letters
  }

  private func spared() throws -> Int64? {
    try Connection(path: store.path, access: .readOnly)
      .integer("SELECT count(*) FROM cascade_candidate")
  }

  // MARK: - The table

  @Test("An application writes three values, and the lease lasts a quarter of an hour")
  func defaults() throws {
    try store.bySQL(
      "INSERT INTO cascade_lease(collection, key, owner) VALUES('photos', 'p1', 'upload')")
    let left = try Connection(path: store.path, access: .readOnly)
      .integer("SELECT expires - unixepoch() FROM cascade_lease")
    #expect(895...900 ~= left!)
    let lease = try #require(try store.reader.leases().first)
    #expect((lease.collection, lease.key, lease.owner) == ("photos", .text("p1"), "upload"))
    #expect(!lease.isOfConnection)
  }

  @Test(
    "Milliseconds, and words, are refused with a reason", arguments: ["1796000000000", "'now'"])
  func notSeconds(expires: String) throws {
    #expect {
      try store.lease("'A'", in: "n", until: expires)
    } throws: {
      "\($0)".contains("expires is in seconds since 1970")
    }
  }

  // MARK: - Holding

  @Test(
    "By no rule a leased node goes, nor what would follow from it; when it ends, both do",
    arguments: ["A-8>B", "A-32>B", "B-4>A", "B-16>A"])
  func everyRule(edge: String) throws {
    try store.run("A B C \(edge) B-8y>C")
    try lease("B")
    #expect(try store.gone("!A") == "A")
    #expect(try store.alive() == "B C")
    #expect(try store.writer.sweep([.all], at: 1).deletedCount == 0)
    #expect(try store.reader.planSweep([.all], at: 1).deletedCount == 0)
    #expect(try store.reader.planSweep([.all], at: 1_000_000).deletedCount == 2)
    #expect(try sweep() == "B C")
    #expect(try spared() == 0)
    let deletion = try #require(try store.deletion(of: "C"))
    #expect(deletion.cause == .file)
    #expect(try deletion.chainStart?.batch == store.deletion(of: "A")?.batch)
    let chain = deletion.chain
    #expect(chain.map(\.node.letters) == ["C", "B", "A"])
    #expect(chain.dropFirst().first?.edge?.letters == edge.replacingDash)
  }

  @Test("What is deleted explicitly goes, whoever leases it, and so does what is not leased")
  func explicit() throws {
    try store.run("A B C A-8>B A-8>C")
    try lease("A")
    try lease("C")
    #expect(try store.gone("!A") == "A B")
    #expect(try store.gone("!C") == "C")
    #expect(try sweep() == "")
  }

  @Test("A lease of a collection holds all of it")
  func collection() throws {
    try store.run("A B x/1 x/2 A-8>B A-8>x/1 A-8>x/2")
    try lease(nil, in: "x")
    #expect(try store.gone("!A") == "A B")
    #expect(try sweep() == "x/1 x/2")
  }

  @Test("What was leased before it is there is held from its beginning")
  func before() throws {
    try lease("B")
    try lease(nil, in: "x")
    try store.run("A B x/1 A-32>B A-8>x/1")
    #expect(try store.gone("!A") == "A")
  }

  @Test("A lease that is over holds nothing")
  func expired() throws {
    try store.run("A B A-8>B")
    try lease("B", until: 0)
    #expect(try store.gone("!A") == "A B")
  }

  @Test("A managed key is a text, and an integer stands for its digits")
  func integerKey() throws {
    try store.run("A 7 A-8>7")
    try store.lease("7", in: "n", until: LeaseTests.end)
    #expect(try store.gone("!A") == "A")
    #expect(try sweep() == "7")
  }

  @Test("What an application deleted by SQL takes nothing along that is leased")
  func dangling() throws {
    try store.run("A B C D A-8>B B-8>C A-8>D")
    try lease("B")
    try store.bySQL("DELETE FROM cascade_node WHERE key = 'A'")
    #expect(try store.writer.sweep([.dangling], at: 1).deleted.letters == "D")
    #expect(try sweep() == "B C")
  }

  @Test("A sweep of one kind leaves to the other what is the other's")
  func oneKind() throws {
    try store.run("A B C A-8>B A-32>C")
    try lease(nil)
    #expect(try store.gone("!A") == "A")
    #expect(try sweep([.refcount]) == "C")
    #expect(try sweep([.refcount]) == "")
    #expect(try sweep([.cascade]) == "B")
  }

  // MARK: - The reason may have gone

  @Test("Who is referred to again when the lease ends stays")
  func referredTo() throws {
    try store.run("A B C A-32>B A-8>C")
    try lease(nil)
    #expect(try store.gone("!A") == "A")
    try store.run("X X-0>B X-0>C")
    #expect(try sweep() == "")
    #expect(try store.alive() == "B C X")
    #expect(try spared() == 0)
  }

  @Test("Of several reasons one is enough")
  func severalReasons() throws {
    try store.run("A B N A-8>N B-32x>N")
    try lease("N")
    #expect(try store.gone("!A !B") == "A B")
    try store.run("A")
    #expect(try sweep() == "N")
  }

  @Test("Who went meanwhile for another reason is no matter")
  func wentMeanwhile() throws {
    try store.run("A B A-8>B")
    try lease("B")
    try store.run("!A")
    try store.run("!B")
    #expect(try sweep() == "")
    #expect(try spared() == 0)
  }

  @Test("What a leased node denied goes with it")
  func denied() throws {
    try store.run("A V H A-8>V A-8>H H-128>V")
    try lease("H")
    try store.bySQL("DELETE FROM cascade_node WHERE key = 'A'")
    let result = try store.writer.sweep([.dangling], at: 1)
    #expect(result.blocked.compactMap(\.edge).map(\.letters) == ["H-128>V"])
    #expect(try store.alive() == "H V")
    #expect(try sweep() == "H V")
  }

  @Test("What stays because of a lease breaks no demand")
  func demands() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { relationships: [{ name: "e", from: "n", to: "n", optional: false,
          rules: ["deleteSourceIfDestinationDeleted"] }] }
        """))
    try store.run("A{>A} B{>A}")
    try store.lease("'B'", in: "n", until: 1_000)
    #expect(try store.gone("!A") == "A")
    #expect(try store.writer.sweep([.cascade, .refcount], at: 1_000_000).deletedCount == 1)
  }

  // MARK: - Questions

  @Test("A plan honours leases as the deletion does")
  func plan() throws {
    try store.run("A B C A-8>B B-8>C")
    try lease("B")
    try lease("A")
    let plan = try store.reader.plan(deleting: [node("A")], at: 1)
    #expect(plan.steps.map(\.node).letters == "A")
    let later = try store.reader.plan(deleting: [node("A")], at: 1_000_000)
    #expect(later.steps.map(\.node).letters == "A B C")
  }

  @Test("Why names the leases of a node among what holds it")
  func why() throws {
    try store.run("A B")
    try lease("A")
    try lease(nil, until: 2_000)
    guard case .alive(let holders, _, let leases) = try store.reader.why(node("A"), at: 1) else {
      return #expect(Bool(false), "A is alive")
    }
    #expect(holders.isEmpty)
    #expect(leases.map(\.expires) == [1_000, 2_000])
    #expect(leases.map(\.key) == [.text("A"), nil])
  }

  // MARK: - The daemon's side

  @Test("The same owner renews, another adds, and a release ends them all")
  func renewed() throws {
    let a = [Lease.Subject.node(node("A"))]
    try store.writer.lease(a, owner: "one", seconds: 10, at: 0)
    try store.writer.lease(a, owner: "one", seconds: 20, at: 0)
    try store.writer.lease(a, owner: "two", seconds: 30, at: 0)
    try store.writer.lease(a, owner: "one", seconds: 40, connection: 1, at: 0)
    #expect(try store.reader.leases(at: 0).map(\.expires) == [20, 30, 40])
    try store.writer.releaseConnections()
    #expect(try store.writer.release(a, owner: "two") == 1)
    #expect(try store.writer.release(a) == 1)
    #expect(try store.reader.leases(at: 0).isEmpty)
  }

  @Test("Expired leases are forgotten, and the next end is told")
  func forgotten() throws {
    try lease("A", until: 10)
    try lease("B", until: 20)
    var ends = try store.writer.deleteExpiredLeases(at: 9_000)
    #expect((ends.wereAny, ends.next) == (false, 10_000))
    ends = try store.writer.deleteExpiredLeases(at: 10_000)
    #expect((ends.wereAny, ends.next) == (true, 20_000))
    ends = try store.writer.deleteExpiredLeases(at: 20_000)
    #expect((ends.wereAny, ends.next) == (true, nil))
  }

  @Test("Only when nobody leases what was spared there is something to sweep")
  func freed() throws {
    try store.run("A B A-8>B")
    try lease("B")
    try store.run("!A")
    #expect(try !store.writer.hasReleasedCandidate(at: 999_000))
    #expect(try store.writer.hasReleasedCandidate(at: 1_000_000))
    try lease(nil, until: 2_000)
    #expect(try !store.writer.hasReleasedCandidate(at: 1_000_000))
    #expect(try sweep() == "")
    try store.bySQL("DELETE FROM cascade_lease")
    #expect(try store.writer.hasReleasedCandidate(at: 1))
  }
}

extension String {
  fileprivate var replacingDash: String {
    split(separator: "-", maxSplits: 1).joined(separator: "=")
  }

  @Test("What was spared and is gone is no reason for another one by its key", arguments: [8, 32])
  func anotherByItsKey(rule: Int) throws {
    let rules = Rules(rawValue: Int64(rule)).names[0]
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { x: { table: 'x', key: 'id' }, d: { table: 'd', key: 'id' } },
          relationships: [ { name: 'e', from: 'x', to: 'd', column: 'e', rules: ['\(rules)'] } ] }
        """),
      schema: """
        CREATE TABLE x(id INTEGER PRIMARY KEY, e INT); CREATE TABLE d(id INTEGER PRIMARY KEY);
        INSERT INTO d VALUES(1), (2); INSERT INTO x VALUES(1, 1), (2, 2)
        """)
    _ = try store.writer.sweep([.all], at: 0)
    try store.lease("NULL", in: "d", until: 1_000)
    try store.bySQL("DELETE FROM x")
    #expect(try store.writer.sweep([.cascade, .refcount], at: 1).deletedCount == 0)
    try store.bySQL("DELETE FROM d WHERE id = 1")
    _ = try store.writer.sweep([.cascade, .refcount], at: 2)
    try store.bySQL("INSERT INTO d VALUES(1)")
    try store.apply([.delete(Node("d", .integer(2)))])
    try store.bySQL("INSERT INTO d VALUES(2)")
    let end: Int64 = 2_000_000
    #expect(try store.writer.sweep([.cascade, .refcount], at: end).deletedCount == 0)
    #expect(try store.texts("SELECT id FROM d") == ["1", "2"])
  }
}
