internal import CascadeModel
internal import CascadeStore
import Testing

/// The unreferenced sweep on random tables, beside the same in plain SQL; and beside writers that
/// refer, between its steps, to what they still see.
package struct UnreferencedSweeps {
  package let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  private static let schema = """
    CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(id INTEGER PRIMARY KEY, z INTEGER);
    CREATE TABLE s(id INTEGER PRIMARY KEY, w INTEGER, x INTEGER, y INTEGER);
    CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE j(p INTEGER, s INTEGER);
    CREATE INDEX b_z ON b(z); CREATE INDEX s_w ON s(w); CREATE INDEX s_x ON s(x);
    CREATE INDEX s_y ON s(y); CREATE INDEX j_p ON j(p); CREATE INDEX j_s ON j(s);
    """

  /// Rows of `a` and `b` live by their sources, and rows of `p` by their destinations. `y` does not
  /// count, but is a reference. `rule` is that of the edges "z".
  private static func model(_ rule: String, _ free: String) -> String {
    """
    { collections: { a: { table: 'a', key: 'id', \(free) }, b: { table: 'b', key: 'id' },
        s: { table: 's', key: 'id' }, p: { table: 'p', key: 'id', \(free) } },
      sweeps: { trash: 'never' },
      relationships: [ { name: 'z', from: 'b', to: 'a', column: 'z', rules: [\(rule)] },
        { name: 'w', from: 's', to: 'b', column: 'w',
          rules: ['deleteDestinationIfAllSourcesDeleted'] },
        { name: 'x', from: 's', to: 'a', column: 'x',
          rules: ['deleteDestinationIfAllSourcesDeleted'] },
        { name: 'y', from: 's', to: 'a', column: 'y' },
        { name: 'item', from: 'p', to: 's',
          join: { table: 'j', source: 'p', destination: 's' },
          rules: ['deleteSourceIfAllDestinationsDeleted'] } ] }
    """
  }

  private func store(_ rule: String, _ random: inout Seeded, free: String = "") throws
    -> any StoreUnderTest
  {
    let model = try StoreModel(UnreferencedSweeps.model(rule, free))
    let store = try engine.makeStore(model: model, schema: UnreferencedSweeps.schema)
    _ = try store.writer.sweep([.all], at: 0)
    let rows = (1...12).map { id in
      """
      INSERT INTO a VALUES(\(id)); INSERT INTO p VALUES(\(id));
      INSERT INTO b VALUES(\(id), \(end(&random)));
      INSERT INTO s VALUES(\(id), \(end(&random)), \(end(&random)), \(end(&random)));
      INSERT INTO j VALUES(\(Int.random(in: 1...12, using: &random)), \(id));
      """
    }
    try store.bySQL(rows.joined())
    return store
  }

  private func end(_ random: inout Seeded) -> String {
    Int.random(in: 0..<3, using: &random) > 0 ? "NULL" : "\(Int.random(in: 1...12, using: &random))"
  }

  private static let nodes = """
    SELECT 'a' || id FROM a UNION SELECT 'b' || id FROM b UNION SELECT 'p' || id FROM p
    UNION SELECT 's' || id FROM s ORDER BY 1
    """

  private static let isUncounted = "id NOT IN (SELECT z FROM b WHERE z IS NOT NULL)"

  /// What the sweep must leave: deletes what nothing refers to until there is nothing more. With
  /// `counting`, the edges "z" take along what loses its last one.
  private static func expected(counting: Bool) -> String {
    """
    CREATE TABLE IF NOT EXISTS lost(id INTEGER);
    DELETE FROM lost;
    INSERT INTO lost SELECT z FROM b WHERE NOT EXISTS (SELECT 1 FROM s WHERE w = b.id);
    DELETE FROM a WHERE NOT EXISTS (SELECT 1 FROM s WHERE x = a.id OR y = a.id)
      AND NOT EXISTS (SELECT 1 FROM b WHERE z = a.id);
    DELETE FROM b WHERE NOT EXISTS (SELECT 1 FROM s WHERE w = b.id);
    DELETE FROM p WHERE NOT EXISTS (SELECT 1 FROM j WHERE j.p = p.id);
    \(counting ? "DELETE FROM a WHERE id IN (SELECT id FROM lost) AND \(isUncounted)" : "");
    """
  }

  /// Sweeps, and approves what is held, until nothing is. Other databases of a server may cut a sweep short.
  private func sweep(_ store: any StoreUnderTest) throws {
    for _ in 0..<10 {
      let result = try store.writer.sweep([.unreferenced], at: 1)
      if result.isCutShort { continue }
      guard result.outcome == .held else { return }
      _ = try store.writer.approve(plan: #require(result.plan))
    }
    Issue.record("it is held again and again")
  }

  /// `rule` is that of the edges "z"; `free` says which collections need no approval.
  package func compare(rule: String, free: String, _ seeds: some Sequence<UInt64>) throws {
    for seed in seeds {
      var (random, again) = (Seeded(seed), Seeded(seed))
      let store = try store(rule, &random, free: free)
      if seed % 2 == 0 { store.sweepsInSteps(of: Int64.random(in: 1...3, using: &random)) }
      try sweep(store)
      let reference = try self.store("", &again)
      var left: [String] = []
      repeat {
        left = try reference.texts(UnreferencedSweeps.nodes)
        try reference.bySQL(UnreferencedSweeps.expected(counting: !rule.isEmpty))
      } while try reference.texts(UnreferencedSweeps.nodes) != left
      let there = try store.texts(UnreferencedSweeps.nodes)
      let unlike = Set(there).symmetricDifference(left).sorted()
      #expect(there == left, "seed \(seed): \(unlike)")
    }
  }

  /// References to nothing.
  private static let broken = """
    SELECT id FROM s WHERE x NOT IN (SELECT id FROM a) OR y NOT IN (SELECT id FROM a)
      OR w NOT IN (SELECT id FROM b)
    UNION ALL SELECT id FROM b WHERE z NOT IN (SELECT id FROM a)
    UNION ALL SELECT s FROM j WHERE p NOT IN (SELECT id FROM p)
    """

  package func holdBesideWriters(_ seeds: some Sequence<UInt64>) throws {
    for seed in seeds {
      var random = Seeded(seed)
      let store = try store("", &random, free: "unreferenced: true")
      store.sweepsInSteps(of: Int64.random(in: 1...3, using: &random))
      let manners = StepPolicy { _ in
        #expect(try store.texts(UnreferencedSweeps.broken) == [], "seed \(seed)")
        if Int.random(in: 0..<2, using: &random) == 0 { try write(store, &random) }
      }
      _ = try store.writer.sweep([.unreferenced], at: 1, manners: manners)
      #expect(try store.texts(UnreferencedSweeps.broken) == [], "seed \(seed)")
    }
  }

  /// Only to what is there.
  private func write(_ store: any StoreUnderTest, _ random: inout Seeded) throws {
    let (from, to) = (
      Int.random(in: 1...12, using: &random), Int.random(in: 1...12, using: &random)
    )
    let a = "(SELECT id FROM a WHERE id = \(to))"
    switch Int.random(in: 0..<4, using: &random) {
    case 0: try store.bySQL("UPDATE s SET x = \(a) WHERE id = \(from)")
    case 1: try store.bySQL("UPDATE b SET z = \(a) WHERE id = \(from)")
    case 2: try store.bySQL("INSERT INTO j SELECT id, \(from) FROM p WHERE id = \(to)")
    default: try store.bySQL("UPDATE s SET y = \(a) WHERE id = \(from)")
    }
  }
}
