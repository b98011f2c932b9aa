import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteSweeps

/// A sweep of one kind leaves what the other has to do, and both end where one of all ends.
@Suite("Kinds one by one")
struct SingleKindTests {
  /// Each d goes with its x, by a join row, a rule of x and a column; h denies that, and goes as
  /// soon as nothing refers to it.
  private static let model = """
    { collections: { x: { table: 'x', key: 'id' }, d: { table: 'd', key: 'id' },
        h: { table: 'h', key: 'id' }, p: { table: 'p', key: 'id' } },
      relationships: [
        { name: 'join', from: 'd', to: 'x', join: { table: 'dx', source: 'd', destination: 'x' },
          rules: ['deleteSourceIfDestinationDeleted'] },
        { name: 'd', from: 'x', to: 'd', column: 'd', rules: ['deleteDestinationIfSourceDeleted'] },
        { name: 'x', from: 'd', to: 'x', column: 'x', rules: ['deleteSourceIfDestinationDeleted'] },
        { name: 'deny', from: 'h', to: 'd', column: 'd', rules: ['denyDestinationDeletion'] },
        { name: 'h', from: 'p', to: 'h', column: 'h',
          rules: ['deleteDestinationIfAllSourcesDeleted'] } ] }
    """
  private static let schema = """
    CREATE TABLE x(id INTEGER PRIMARY KEY, d INT); CREATE TABLE d(id INTEGER PRIMARY KEY, x INT);
    CREATE TABLE h(id INTEGER PRIMARY KEY, d INT); CREATE TABLE p(id INTEGER PRIMARY KEY, h INT);
    CREATE TABLE dx(d INT, x INT);
    INSERT INTO x VALUES(1, NULL), (2, 2), (3, NULL); INSERT INTO d VALUES(1, NULL), (2, NULL), (3, 3);
    INSERT INTO dx VALUES(1, 1); INSERT INTO h VALUES(1, 1), (2, 2), (3, 3);
    INSERT INTO p VALUES(1, 1), (2, 2), (3, 3);
    """

  @Test(
    "What is denied by what the other kind deletes goes in the end",
    arguments: [nil, 1] as [Int64?],
    [
      [.cascade, .refcount, .cascade], [.refcount, .cascade], [.cascade, .refcount, .all],
    ] as [[SweepKind]])
  func denied(rows: Int64?, kinds: [SweepKind]) throws {
    let store = try TestStore(
      model: StoreModel(SingleKindTests.model), schema: SingleKindTests.schema)
    if let rows { store.sweepsInSteps(of: rows) }
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL("DELETE FROM x; DELETE FROM p")
    for kind in kinds { _ = try store.writer.sweep([kind], at: 1) }
    #expect(try store.texts("SELECT id FROM d UNION ALL SELECT id FROM h") == [])
    #expect(try store.writer.sweep([.all], at: 2).outcome == .nothing)
  }

  @Test(
    "Two that deny each other, and go by one kind each, go when both kinds have looked",
    arguments: [nil, 1] as [Int64?],
    [[.cascade, .refcount], [.refcount, .cascade]] as [[SweepKind]])
  func mutual(rows: Int64?, kinds: [SweepKind]) throws {
    let model = """
      { collections: { a: { table: 'a', key: 'id' }, b: { table: 'b', key: 'id' } },
        relationships: [
          { name: 'b', from: 'a', to: 'b', column: 'b', rules: ['deleteSourceIfDestinationDeleted'] },
          { name: 'up', from: 'a', to: 'a', column: 'up',
            rules: ['denyDestinationDeletion', 'deleteDestinationIfAllSourcesDeleted'] } ] }
      """
    let store = try TestStore(
      model: StoreModel(model),
      schema: """
        CREATE TABLE b(id INTEGER PRIMARY KEY);
        CREATE TABLE a(id INTEGER PRIMARY KEY, b INT, up INT);
        INSERT INTO b VALUES(1), (2); INSERT INTO a VALUES(1, 1, 2), (2, NULL, 1), (3, 2, NULL);
        """)
    if let rows { store.sweepsInSteps(of: rows) }
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL("DELETE FROM b WHERE id = 1")
    #expect(try store.writer.sweep([kinds[0]], at: 1).deletedCount == 0)
    #expect(try store.writer.sweep([kinds[1]], at: 1).deletedCount == 2)
    #expect(try store.texts("SELECT id FROM a") == ["3"])
    #expect(try store.writer.sweep([.all], at: 2).outcome == .nothing)
  }

  @Test(
    "An edge that was removed is told of once, though the other kind deleted its source since",
    arguments: [nil, 1] as [Int64?],
    [[.cascade, .refcount], [.refcount, .cascade], [.refcount, .all]] as [[SweepKind]])
  func toldOfARemovedEdge(rows: Int64?, kinds: [SweepKind]) throws {
    let model = """
      { collections: { h: { table: 'h', key: 'id' }, a: { table: 'a', key: 'id' },
          b: { table: 'b', key: 'id' } },
        relationships: [
          { name: 'a', from: 'h', to: 'a', column: 'a',
            rules: ['deleteDestinationIfAllSourcesDeleted'] },
          { name: 'b', from: 'a', to: 'b', column: 'b', rules: ['notifyIfSourceDeleted'] },
          { name: 'j', from: 'a', to: 'b', join: { table: 'j', source: 's', destination: 'd' },
            rules: ['notifyIfSourceDeleted'] } ] }
      """
    let store = try TestStore(
      model: StoreModel(model),
      schema: """
        CREATE TABLE h(id TEXT PRIMARY KEY, a TEXT); CREATE TABLE a(id TEXT PRIMARY KEY, b TEXT);
        CREATE TABLE b(id TEXT PRIMARY KEY); CREATE TABLE j(s TEXT, d TEXT, PRIMARY KEY(s, d));
        INSERT INTO b VALUES('removed'), ('left'), ('moved');
        INSERT INTO a VALUES('A', 'removed'); INSERT INTO h VALUES('H', 'A');
        INSERT INTO j VALUES('A', 'removed'), ('A', 'left'), ('A', 'moved');
        """)
    if let rows { store.sweepsInSteps(of: rows) }
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL(
      """
      UPDATE a SET b = NULL; DELETE FROM j WHERE d <> 'left'; INSERT INTO j VALUES('A', 'moved');
      DELETE FROM h
      """)
    for kind in kinds { _ = try store.writer.sweep([kind], at: 1) }
    let told = try store.reader.notices(after: 0).map { "\($0.edge.name) \($0.node)" }
    #expect(told.sorted() == ["b b/removed", "j b/left", "j b/moved", "j b/removed"])
  }

  @Test(
    "What stays because it is denied is told once of what it lost", arguments: [nil, 1] as [Int64?])
  func toldOnce(rows: Int64?) throws {
    let model = """
      { collections: { a: { table: 'a', key: 'id' }, n: { table: 'n', key: 'id' },
          h: { table: 'h', key: 'id' } },
        relationships: [
          { name: 'a', from: 'n', to: 'a', column: 'a',
            rules: ['notifyIfDestinationDeleted', 'deleteSourceIfDestinationDeleted'] },
          { name: 'n', from: 'h', to: 'n', column: 'n', rules: ['denyDestinationDeletion'] } ] }
      """
    let store = try TestStore(
      model: StoreModel(model),
      schema: """
        CREATE TABLE a(id TEXT PRIMARY KEY); CREATE TABLE n(id TEXT PRIMARY KEY, a TEXT);
        CREATE TABLE h(id TEXT PRIMARY KEY, n TEXT);
        INSERT INTO a VALUES('a'); INSERT INTO n VALUES('n', 'a'); INSERT INTO h VALUES('h', 'n'), ('i', 'n');
        """)
    if let rows { store.sweepsInSteps(of: rows) }
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL("DELETE FROM a")
    for kinds in [[.cascade, .dangling], [.cascade], [.all]] as [[SweepKind]] {
      _ = try store.writer.sweep(kinds, at: 1)
      #expect(try store.reader.notices(after: 0).count == 1)
    }
    try store.bySQL("DELETE FROM h WHERE id = 'i'")
    _ = try store.writer.sweep([.cascade], at: 2)
    #expect(try store.reader.notices(after: 0).count == 1)
    try store.bySQL("DELETE FROM h")
    _ = try store.writer.sweep([.all], at: 2)
    #expect(try store.texts("SELECT id FROM n").isEmpty)
  }

  @Test(
    "What is denied by what goes with it goes, though one kind looked before",
    arguments: [nil, 1] as [Int64?], ["DELETE FROM x WHERE id = 2", "UPDATE x SET d = NULL"])
  func deniedByItsOwn(rows: Int64?, sql: String) throws {
    let model = """
      { collections: { x: { table: 'x', key: 'id' }, d: { table: 'd', key: 'id' },
          h: { table: 'h', key: 'id' } },
        relationships: [
          { name: 'd', from: 'x', to: 'd', column: 'd', rules: ['deleteDestinationIfSourceDeleted'] },
          { name: 'deny', from: 'h', to: 'd', column: 'd', rules: ['denyDestinationDeletion'] },
          { name: 'x', from: 'd', to: 'h', column: 'x',
            rules: ['deleteDestinationIfAllSourcesDeleted'] } ] }
      """
    let store = try TestStore(model: StoreModel(model), schema: SingleKindTests.schema)
    try store.bySQL(
      """
      UPDATE x SET d = NULL WHERE id <> 2; UPDATE d SET x = iif(id = 2, 3, NULL);
      DELETE FROM h; INSERT INTO h VALUES(3, 2)
      """)
    _ = try store.writer.sweep([.all], at: 0)
    if let rows { store.sweepsInSteps(of: rows) }
    try store.bySQL(sql)
    _ = try store.writer.sweep([.refcount], at: 1)
    let plan = try store.reader.planSweep([.all])
    let result = try store.writer.sweep([.all], at: 2)
    #expect(plan.deletedCount == 2 && result.deletedCount == 2)
    #expect(result.outcome == .done && result.blocked.isEmpty)
  }

  @Test("What stays denied is told by each sweep that looks again, and nothing else goes")
  func staysDenied() throws {
    let store = try TestStore(
      model: StoreModel(SingleKindTests.model), schema: SingleKindTests.schema)
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL("DELETE FROM x")
    #expect(try store.writer.sweep([.cascade], at: 1).outcome == .blocked)
    for kind in [.refcount, .cascade, .refcount, .cascade] as [SweepKind] {
      let result = try store.writer.sweep([kind], at: 2)
      #expect(result.deletedCount == 0 && result.batch == nil)
      #expect(kind == .refcount || result.outcome == .blocked)
    }
    #expect(try store.texts("SELECT id FROM d") == ["1", "2", "3"])
  }

  // MARK: - Edges of one name with other rules

  /// t goes with the last s that refers to it; what a refers to by the same name is held, and goes
  /// by no rule. a goes with its p.
  private func mixed() throws -> TestStore {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { t: { table: 't', key: 'id' }, s: { table: 's', key: 'id' },
            a: { table: 'a', key: 'id' }, p: { table: 'p', key: 'id' } },
          relationships: [
            { name: 'uses', from: 's', to: 't', column: 't',
              rules: ['deleteDestinationIfAllSourcesDeleted'] },
            { name: 'uses', from: 'a', to: 't', column: 't', rules: [] },
            { name: 'p', from: 'a', to: 'p', column: 'p',
              rules: ['deleteSourceIfDestinationDeleted'] } ] }
        """),
      schema: """
        CREATE TABLE t(id INTEGER PRIMARY KEY); CREATE TABLE s(id INTEGER PRIMARY KEY, t INT);
        CREATE TABLE a(id INTEGER PRIMARY KEY, t INT, p INT); CREATE TABLE p(id INTEGER PRIMARY KEY);
        INSERT INTO t VALUES(1); INSERT INTO s VALUES(1, 1); INSERT INTO p VALUES(1);
        INSERT INTO a VALUES(1, 1, 1);
        """)
    _ = try store.writer.sweep([.all], at: 0)
    return store
  }

  @Test(
    "What an edge without a rule held goes, where the other kind removes that edge",
    arguments: [nil, 1] as [Int64?],
    [[.all], [.cascade, .refcount], [.refcount, .cascade, .refcount]] as [[SweepKind]])
  func heldWithoutRule(rows: Int64?, kinds: [SweepKind]) throws {
    let store = try mixed()
    if let rows { store.sweepsInSteps(of: rows) }
    try store.bySQL("DELETE FROM s; DELETE FROM p")
    for kind in kinds { _ = try store.writer.sweep([kind], at: 1) }
    #expect(try store.texts("SELECT id FROM t UNION ALL SELECT id FROM a") == [])
    #expect(try store.texts("SELECT id FROM cascade_candidate") == [])
  }

  @Test("What an edge without a rule holds stays, when that edge goes later")
  func heldForLonger() throws {
    let store = try mixed()
    for sql in ["DELETE FROM s", "DELETE FROM a"] {
      try store.bySQL(sql)
      for kind in [.refcount, .cascade, .refcount] as [SweepKind] {
        _ = try store.writer.sweep([kind], at: 1)
      }
    }
    #expect(try store.texts("SELECT id FROM t") == ["1"])
  }

  @Test(
    "What holds another by an edge of the name that is counted goes with it, whoever looks first",
    arguments: [nil, 1] as [Int64?],
    [[.cascade, .refcount], [.refcount, .cascade, .refcount], [.all]]
      as [[SweepKind]])
  func heldByTheOther(rows: Int64?, kinds: [SweepKind]) throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { a: { table: 'a', key: 'id' }, b: { table: 'b', key: 'id' } },
          relationships: [ { name: 'a', from: 'b', to: 'a', column: 'a',
            rules: ['deleteSourceIfDestinationDeleted'] } ] }
        """),
      schema: """
        CREATE TABLE a(id TEXT PRIMARY KEY); CREATE TABLE b(id TEXT PRIMARY KEY, a TEXT);
        INSERT INTO a VALUES('1'); INSERT INTO b VALUES('1', '1');
        """)
    if let rows { store.sweepsInSteps(of: rows) }
    try store.apply(changes("s{16z>a/1,128z>b/1}"))
    try store.bySQL("DELETE FROM a")
    for kind in kinds { _ = try store.writer.sweep([kind], at: 1) }
    #expect(try store.texts("SELECT id FROM b").isEmpty)
    #expect(try !store.exists(node("s")))
    #expect(try store.texts("SELECT rule FROM cascade_candidate").isEmpty)
  }
}
