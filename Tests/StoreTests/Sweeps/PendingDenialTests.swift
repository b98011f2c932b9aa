import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteBinding
import Testing
import SQLiteSweeps

/// What has a reason to go, and is denied, goes with what denied it, or when that has gone.
@Suite("What is still denied")
struct PendingDenialTests {
  /// Of each kind of edge between x and d, one rule says that d goes; h denies that.
  private func store(
    _ rule: Rules, from source: String, to destination: String, roots: String = ""
  ) throws -> TestStore {
    let model = """
      { collections: { x: { table: 'x', key: 'id' }, d: { table: 'd', key: 'id' },
          h: { table: 'h', key: 'id' }, r: { table: 'r', key: 'id' } },
        relationships: [
          { name: 'e', from: '\(source)', to: '\(destination)', column: 'e',
            rules: ['\(rule.names[0])'] },
          { name: 'deny', from: 'h', to: 'd', column: 'd', rules: ['denyDestinationDeletion'] },
          { name: 'top', from: 'r', to: 'd', column: 'd' },
          { name: 'unused', from: 'r', to: 'h', column: 'h' } ] \(roots) }
      """
    let store = try TestStore(
      model: StoreModel(model),
      schema: """
        CREATE TABLE x(id INTEGER PRIMARY KEY, e INT); CREATE TABLE d(id INTEGER PRIMARY KEY, e INT);
        CREATE TABLE h(id INTEGER PRIMARY KEY, d INT);
        CREATE TABLE r(id INTEGER PRIMARY KEY, d INT, h INT);
        INSERT INTO \(destination) VALUES(1, NULL); INSERT INTO \(source) VALUES(1, 1);
        INSERT INTO h VALUES(1, 1); INSERT INTO r VALUES(1, 1, NULL);
        """)
    _ = try store.writer.sweep([.cascade, .refcount], at: 0)
    return store
  }

  private static let ways: [(rule: Rules, source: String, destination: String)] = [
    (4, "d", "x"), (8, "x", "d"), (16, "d", "x"), (32, "x", "d"),
  ]

  @Test("Another one by its key has no reason to go", arguments: ways)
  func stays(_ way: (rule: Rules, source: String, destination: String)) throws {
    let store = try store(way.rule, from: way.source, to: way.destination, roots: ", roots: ['r']")
    try store.bySQL("DELETE FROM x; INSERT INTO r VALUES(2, NULL, 1)")
    for kinds in [[.cascade, .refcount], [.all]] as [[SweepKind]] {
      _ = try store.writer.sweep(kinds, at: 1)
      #expect(try store.texts("SELECT id FROM d") == ["1"])
    }
    try store.bySQL("DELETE FROM h; DELETE FROM d; INSERT INTO d VALUES(1, NULL)")
    #expect(try store.writer.sweep([.all], at: 2).outcome == .nothing)
    #expect(try store.texts("SELECT id FROM d") == ["1"])
  }

  @Test("What denied it may go in the same sweep, as unreachable", arguments: ways)
  func unreachable(_ way: (rule: Rules, source: String, destination: String)) throws {
    let store = try store(way.rule, from: way.source, to: way.destination, roots: ", roots: ['r']")
    try store.bySQL("DELETE FROM x")
    let result = try store.writer.sweep([.all], at: 1)
    #expect(result.outcome == .done && result.blocked.isEmpty)
    #expect(result.byCollection == ["d": 1, "h": 1])
    #expect(try store.writer.sweep([.all], at: 2).outcome == .nothing)
  }

  private static let orders: [[[SweepKind]]] = [
    [[.dangling], [.cascade], [.refcount], [.cascade]],
    [[.refcount, .dangling], [.cascade], [.refcount], [.cascade]],
    [[.dangling], [.refcount], [.cascade], [.refcount], [.cascade]], [[.all]],
    [[.dangling], [.all]],
  ]

  /// Here d dangles, and takes a along, which h denies for as long as nobody reads that p is gone.
  @Test(
    "What denied it may wait for another kind", arguments: orders,
    ["", ", limits: { lock: 'none' }"])
  func otherKind(order: [[SweepKind]], limits: String) throws {
    let model = """
      { collections: { x: { table: 'x', key: 'id' }, d: { table: 'd', key: 'id' },
          a: { table: 'a', key: 'id' }, h: { table: 'h', key: 'id' }, p: { table: 'p', key: 'id' } },
        relationships: [
          { name: 'e', from: 'd', to: 'x', column: 'e', rules: ['deleteSourceIfDestinationDeleted'] },
          { name: 'a', from: 'd', to: 'a', column: 'a', rules: ['deleteDestinationIfSourceDeleted'] },
          { name: 'deny', from: 'h', to: 'a', column: 'a', rules: ['denyDestinationDeletion'] },
          { name: 'h', from: 'p', to: 'h', column: 'h', rules: ['deleteDestinationIfSourceDeleted'] }
        ] \(limits) }
      """
    let store = try TestStore(
      model: StoreModel(model),
      schema: """
        CREATE TABLE x(id INTEGER PRIMARY KEY); CREATE TABLE d(id INTEGER PRIMARY KEY, e INT, a INT);
        CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE h(id INTEGER PRIMARY KEY, a INT);
        CREATE TABLE p(id INTEGER PRIMARY KEY, h INT);
        INSERT INTO x VALUES(1); INSERT INTO d VALUES(1, 1, 1); INSERT INTO a VALUES(1);
        INSERT INTO h VALUES(1, 1); INSERT INTO p VALUES(1, 1);
        """)
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL("DELETE FROM x; DELETE FROM p")
    for kinds in order { _ = try store.writer.sweep(kinds, at: 1) }
    for table in ["d", "h", "a"] {
      #expect(try store.texts("SELECT id FROM \(table)").isEmpty, "\(table)")
    }
    let chain = try #require(try store.deletion(of: "a/1")).chain
    #expect(chain.map(\.node.letters) == ["a/1", "d/1", "x/1"])
  }
}
