import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteSweeps
import SQLiteEdges
import SQLiteJournal

/// Sweeps of one kind leave the rest of the work to the other, but not what they told already.
@Suite("Notices of sweeps of one kind")
struct NoticesOnceTests {
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

  @Test("A look through whole tables tells nothing again", arguments: [nil, 1] as [Int64?])
  func dangling(rows: Int64?) throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { a: { table: 'a', key: 'id' }, b: { table: 'b', key: 'id' } },
          relationships: [
            { name: 'b', from: 'a', to: 'b', property: 'b', toMany: true, rules: [
              'deleteSourceIfAllDestinationsDeleted', 'notifyIfDestinationDeleted'] },
            { name: 'up', from: 'b', to: 'b', column: 'up',
              rules: ['deleteSourceIfDestinationDeleted'] } ] }
        """),
      schema: """
        CREATE TABLE a(id TEXT PRIMARY KEY, b TEXT); CREATE TABLE b(id TEXT PRIMARY KEY, up TEXT);
        INSERT INTO b VALUES('1', NULL), ('2', '1'), ('3', NULL); INSERT INTO a VALUES('a', '["2", "3"]');
        """)
    if let rows { store.sweepsInSteps(of: rows) }
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL("DELETE FROM b WHERE id = '1'")
    #expect(try store.writer.sweep([.all], at: 1).deletedCount == 1)
    for time in 2...4 as ClosedRange<Int64> {
      #expect(try store.writer.sweep([.all], at: time).outcome == .nothing)
    }
    #expect(try receivers(store) == ["a/a"])
    guard case .deleted(let deletion) = try store.reader.why(Node("b", .text("2"))) else {
      return #expect(Bool(false))
    }
    #expect(deletion.at >= 1 && deletion.chain.map(\.node.description) == ["b/2", "b/1"])
  }

  @Test("Who refers to what goes in two places is told once", arguments: [nil, 1] as [Int64?])
  func twoPlaces(rows: Int64?) throws {
    let rules = "rules: ['notifyIfDestinationDeleted', 'nullifySourceIfDestinationDeleted']"
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { a: { table: 'a', key: 'id' }, b: { table: 'b', key: 'id' } },
          relationships: [
            { name: 'b', from: 'a', to: 'b', column: 'b', \(rules) },
            { name: 'b', from: 'a', to: 'b', property: 'list', toMany: true, \(rules) } ] }
        """),
      schema: """
        CREATE TABLE a(id TEXT PRIMARY KEY, b TEXT, list TEXT); CREATE TABLE b(id TEXT PRIMARY KEY);
        INSERT INTO b VALUES('1'), ('2'); INSERT INTO a VALUES('a', '1', '["1", "2"]');
        """)
    _ = try store.writer.sweep([.all], at: 0)
    if let rows { store.sweepsInSteps(of: rows) }
    try store.bySQL("DELETE FROM b")
    _ = try store.writer.sweep([.all], at: 1)
    #expect(try receivers(store) == ["a/a", "a/a"])
  }

  @Test("Join rows that it takes out itself are no news, also where the application has triggers")
  func joins() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { b: { table: 'b', key: 'id' } },
          relationships: [
            { name: 'y', from: 'b', to: 'b', join: { table: 'y', source: 's', destination: 'd' },
              rules: ['notifyIfSourceDeleted', 'deleteSourceIfAllDestinationsDeleted',
                'deleteDestinationIfAllSourcesDeleted'] } ] }
        """),
      schema: """
        CREATE TABLE b(id TEXT PRIMARY KEY); CREATE TABLE y(s, d, PRIMARY KEY(s, d));
        INSERT INTO b VALUES('2'), ('3'); INSERT INTO y VALUES('2', '2'), ('3', '2');
        CREATE TABLE heard(v);
        CREATE TRIGGER goes AFTER DELETE ON b BEGIN INSERT INTO heard VALUES(OLD.id); END;
        """)
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL("DELETE FROM b WHERE id = '3'")
    for time in 1...3 as ClosedRange<Int64> {
      for kind in [SweepKind.cascade, .refcount] { _ = try store.writer.sweep([kind], at: time) }
    }
    #expect(try receivers(store) == ["b/2"])
  }

  @Test("Sources of two collections may have the same key")
  func sameKey() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: {
            a: { table: 'a', key: 'id' }, b: { table: 'b', key: 'id' }, c: { table: 'c', key: 'id' } },
          relationships: [
            { name: 'c', from: 'a', to: 'c', column: 'c', rules: ['notifyIfSourceDeleted'] },
            { name: 'c', from: 'b', to: 'c', column: 'c', rules: ['notifyIfSourceDeleted'] },
            { name: 'a', from: 'b', to: 'a', column: 'a',
              rules: ['deleteSourceIfDestinationDeleted'] } ] }
        """),
      schema: """
        CREATE TABLE a(id TEXT PRIMARY KEY, c); CREATE TABLE b(id TEXT PRIMARY KEY, c, a);
        CREATE TABLE c(id TEXT PRIMARY KEY); INSERT INTO c VALUES('c');
        INSERT INTO a VALUES('k', 'c'); INSERT INTO b VALUES('k', 'c', 'k');
        """)
    store.sweepsInSteps(of: 1)
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL("DELETE FROM a")
    _ = try store.writer.sweep([.all], at: 1)
    #expect(try receivers(store) == ["c/c", "c/c"])
  }

  /// 1 goes with its parent; 2 tells of it, and is told; nothing else refers to 3.
  private func family() throws -> TestStore {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: {
            p: { table: 'p', key: 'id' }, q: { table: 'q', key: 'id' }, a: { table: 'a', key: 'id' } },
          relationships: [
            { name: 'p', from: 'q', to: 'p', column: 'p',
              rules: ['deleteSourceIfDestinationDeleted'] },
            { name: 'a', from: 'q', to: 'a', column: 'a',
              rules: ['notifyIfSourceDeleted', 'deleteDestinationIfAllSourcesDeleted'] },
            { name: 'q', from: 'a', to: 'q', column: 'q', rules: ['notifyIfDestinationDeleted'] },
          ] }
        """),
      schema: """
        CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE q(id INTEGER PRIMARY KEY, p INT, a INT);
        CREATE TABLE a(id INTEGER PRIMARY KEY, q INT); INSERT INTO p VALUES(1);
        INSERT INTO q VALUES(1, 1, 2), (2, NULL, 2), (3, 1, 3); INSERT INTO a VALUES(2, 1), (3, NULL);
        """)
    _ = try store.writer.sweep([.all], at: 0)
    return store
  }

  @Test(
    "What a look through whole tables told, the others do not", arguments: [nil, 1] as [Int64?])
  func lookFirst(rows: Int64?) throws {
    let store = try family()
    if let rows { store.sweepsInSteps(of: rows) }
    try store.bySQL("DELETE FROM p")
    for kinds in [[.dangling], [.cascade], [.refcount], [.cascade], [.dangling]] as [[SweepKind]] {
      _ = try store.writer.sweep(kinds, at: 1)
    }
    #expect(try receivers(store) == ["a/2", "a/2"])
    #expect(try store.texts("SELECT id FROM a UNION ALL SELECT id FROM q") == ["2", "2"])
  }

  @Test("What nobody watched leaves nothing in the journal that hits another row later")
  func unwatched() throws {
    let store = try family()
    let triggers = "SELECT name FROM sqlite_schema WHERE name GLOB 'cascade_delete_*_p'"
    try store.bySQL("DROP TRIGGER \(store.texts(triggers)[0]); DELETE FROM p")
    try store.writer.adaptToSchema()
    #expect(try store.writer.rescanReason == .watchGap)
    #expect(try store.writer.sweep([.all], at: 1).deletedCount == 3)
    #expect(try store.reader.journal() == nil)
    try store.bySQL("INSERT INTO a VALUES(3, NULL)")
    #expect(try store.writer.sweep([.all], at: 2).outcome == .nothing)
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
