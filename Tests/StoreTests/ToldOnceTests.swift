import Model
import Store
import Testing

/// Sweeps of one kind leave the rest of the work to the other, but not what they told already.
@Suite("Notices of sweeps of one kind")
struct ToldOnceTests {
  /// 2 goes with 1, its last source; 3 refers to 2, and 2 to 4.
  private func store(trash: String) throws -> TestStore {
    let model = """
      {
        collections: { rows: { table: 'row', key: 'id' } }, trash: '\(trash)',
        relationships: [
          { name: 'last', from: 'rows', to: 'rows', column: 'last',
            rules: ['deleteDestinationIfAllSourcesDeleted'] },
          { name: 'told', from: 'rows', to: 'rows', column: 'told',
            rules: ['notifyIfSourceDeleted', 'notifyIfDestinationDeleted'] },
        ],
      }
      """
    let schema = """
      CREATE TABLE row(id TEXT PRIMARY KEY, last, told);
      INSERT INTO row VALUES('1', '2', NULL), ('2', NULL, '4'), ('3', NULL, '2'), ('4', NULL, NULL);
      """
    let store = try TestStore(model: StoreModel(model), schema: schema)
    _ = try store.writer.sweep([.all], at: 0)
    return store
  }

  private func receivers(_ store: TestStore) throws -> [String] {
    try store.reader.notices(after: 0).map(\.node.description).sorted()
  }

  @Test(
    "Each neighbour is told once, whichever kind comes first",
    arguments: ["0", "1d"], [SweepKind.cascade, .refcount])
  func once(trash: String, first: SweepKind) throws {
    for rows in [nil, 1] as [Int64?] {
      let store = try store(trash: trash)
      if let rows { store.sweepsInSteps(of: rows) }
      try store.bySQL("DELETE FROM row WHERE id = '1'")
      let kinds: [SweepKind] = first == .cascade ? [.cascade, .refcount] : [.refcount, .cascade]
      for kind in kinds + kinds { _ = try store.writer.sweep([kind], at: 1) }
      #expect(try receivers(store) == ["rows/3", "rows/4"], "steps of \(rows ?? 0)")
    }
  }

  @Test("What an application deletes meanwhile is told of")
  func others() throws {
    let store = try store(trash: "0")
    try store.bySQL("DELETE FROM row WHERE id = '1'")
    _ = try store.writer.sweep([.refcount], at: 1)
    try store.bySQL("INSERT INTO row VALUES('5', NULL, '4'); DELETE FROM row WHERE id = '5'")
    for kind in [SweepKind.cascade, .refcount, .cascade] {
      _ = try store.writer.sweep([kind], at: 2)
    }
    #expect(try receivers(store) == ["rows/3", "rows/4", "rows/4"])
  }

  @Test("What always led to nothing is no news with each look")
  func dangling() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { a: { table: 'a', key: 'id' } },
          relationships: [ { name: 'a', from: 'a', to: 'a', column: 'a',
            rules: ['notifyIfDestinationDeleted'] } ] }
        """),
      schema: """
        CREATE TABLE a(id INTEGER PRIMARY KEY, a INTEGER); INSERT INTO a VALUES(1, 9), (2, 3), (3, 1)
        """)
    // Nobody watched before.
    #expect(try store.writer.sweep([.all], at: 0).notices == 1)
    try store.bySQL("DELETE FROM a WHERE id = 3; INSERT INTO a VALUES(4, 8)")
    #expect(try store.writer.sweep([.all], at: 1).notices == 1)
    for time in 2...4 as ClosedRange<Int64> {
      #expect(try store.writer.sweep([.all], at: time).outcome == .nothing)
    }
  }
}
