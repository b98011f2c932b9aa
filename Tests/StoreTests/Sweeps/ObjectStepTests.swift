import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import Testing
import SQLiteSweeps

/// Of an object that went in a step nothing is left that says so: rows that refer to it follow all
/// the same, whatever comes between.
@Suite("Rows that follow objects in steps")
struct ObjectStepTests {
  /// Two tops, each with a note, that has a row and a joined one.
  private func store(_ rule: String) throws -> TestStore {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { tops: { table: 'top', key: 'id' }, notes: {},
            rows: { table: 'r', key: 'id' }, joined: { table: 'joined', key: 'id' } },
          relationships: [
            { name: 'note', from: 'rows', to: 'notes', column: 'note', rules: ['\(rule)'] },
            { name: 'notes', from: 'joined', to: 'notes', toMany: true,
              join: { table: 'link', source: 'joined', destination: 'note' }, rules: ['\(rule)'] } ] }
        """),
      schema: """
        CREATE TABLE top(id INTEGER PRIMARY KEY); CREATE TABLE other(x);
        CREATE TABLE r(id INTEGER PRIMARY KEY, note TEXT); CREATE INDEX r_note ON r(note);
        CREATE TABLE joined(id INTEGER PRIMARY KEY);
        CREATE TABLE link(joined INT, note TEXT);
        """)
    _ = try store.writer.sweep([.all], at: 0)
    for key in ["1", "2"] {
      let rules: Rules = .deleteSourceIfDestinationDeleted
      let top = Destination.node(Node("tops", .text(key)))
      try store.apply([
        .put(Node("tops", .text(key)), type: nil, value: nil, edges: nil),
        .put(
          Node("notes", .text(key)), type: nil, value: nil,
          edges: [DeclaredEdge(name: "top", destination: top, rules: rules)]),
      ])
    }
    try store.bySQL(
      """
      INSERT INTO r VALUES(1, '1'), (2, '2'); INSERT INTO joined VALUES(1), (2);
      INSERT INTO link VALUES(1, '1'), (2, '2'); DELETE FROM top WHERE id = 1
      """)
    return store
  }

  private func left(_ store: TestStore) throws -> [String] {
    try store.texts("SELECT 'r' || id FROM r UNION ALL SELECT 'j' || id FROM joined ORDER BY 1")
  }

  private static let rules = [
    "deleteSourceIfDestinationDeleted", "deleteSourceIfAllDestinationsDeleted",
  ]

  @Test("Where the daemon ends between two steps", arguments: rules, 1...4)
  func stopped(rule: String, steps: Int) throws {
    let store = try store(rule)
    store.sweepsInSteps(of: 1)
    #expect(throws: Stopped.self) {
      try store.writer.sweep(
        [.cascade, .refcount], at: 1, manners: .stopping(after: steps))
    }
    try store.reopen()
    _ = try store.writer.sweep([.cascade, .refcount], at: 2)
    #expect(try left(store) == ["j2", "r2"])
    #expect(try store.reader.checkReferences().total == 0)
  }

  @Test("Where the other kind of sweep comes later", arguments: rules, [true, false])
  func oneKind(rule: String, inSteps: Bool) throws {
    let store = try store(rule)
    if inSteps { store.sweepsInSteps(of: 1) }
    for kind in [SweepKind.cascade, .refcount, .cascade] {
      _ = try store.writer.sweep([kind], at: 1)
    }
    #expect(try left(store) == ["j2", "r2"])
  }
}
