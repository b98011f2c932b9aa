internal import CascadeModel
internal import CascadeStore
import Testing

/// Others refer, between the steps of a sweep, to what they still see: it has all that it leads to,
/// after every step.
package struct UnreachableSweeps {
  package let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  private static let schema = """
    CREATE TABLE r(id INTEGER PRIMARY KEY, top INTEGER); CREATE INDEX r_top ON r(top);
    CREATE TABLE n(id INTEGER PRIMARY KEY, x INTEGER, y INTEGER);
    CREATE INDEX n_x ON n(x); CREATE INDEX n_y ON n(y);
    """
  /// What is broken: references to nothing.
  private static let broken = """
    SELECT count(*) FROM (SELECT x AS id FROM n UNION ALL SELECT y FROM n UNION ALL SELECT top FROM r) ends
    WHERE id IS NOT NULL AND id NOT IN (SELECT id FROM n)
    """

  private static func model(_ rule: String) -> String {
    """
    { collections: { r: { table: 'r', key: 'id' }, n: { table: 'n', key: 'id' } }, roots: ['r'],
      relationships: [ { name: 'top', from: 'r', to: 'n', column: 'top' },
        { name: 'x', from: 'n', to: 'n', column: 'x' },
        { name: 'y', from: 'n', to: 'n', column: 'y', rules: [\(rule)] } ] }
    """
  }

  /// `rule` is that of the edges "y".
  package func compare(rule: String, _ seeds: some Sequence<UInt64>) throws {
    for seed in seeds {
      var random = Seeded(seed)
      let store = try engine.makeStore(
        model: StoreModel(UnreachableSweeps.model(rule)), schema: UnreachableSweeps.schema)
      _ = try store.writer.sweep([.all], at: 0)
      let rows = (1...30).map { "(\($0), \(end(&random)), \(end(&random)))" }
      try store.bySQL("INSERT INTO n VALUES \(rows.joined(separator: ", "))")
      store.sweepsInSteps(of: Int64.random(in: 1...3, using: &random))
      let manners = StepPolicy { _ in
        let broken = try UnreachableSweeps.broken(store)
        #expect(broken == 0, "seed \(seed)")
        if Int.random(in: 0..<3, using: &random) == 0 { try write(store, &random) }
      }
      _ = try store.writer.sweep([.unreachable], at: 1, manners: manners)
      #expect(try UnreachableSweeps.broken(store) == 0, "seed \(seed)")
    }
  }

  private static func broken(_ store: any StoreUnderTest) throws -> Int64? {
    try store.texts(broken).first.flatMap { Int64($0) }
  }

  /// Few refer to many: circles are small, and some are in none.
  private func end(_ random: inout Seeded) -> String {
    Bool.random(using: &random) ? "NULL" : "\(Int.random(in: 1...30, using: &random))"
  }

  /// Only to what is there.
  private func write(_ store: any StoreUnderTest, _ random: inout Seeded) throws {
    let (from, to) = (
      Int.random(in: 1...30, using: &random), Int.random(in: 1...30, using: &random)
    )
    let isThere = "(SELECT id FROM n WHERE id = \(to))"
    switch Int.random(in: 0..<3, using: &random) {
    case 0:
      try store.bySQL(
        "INSERT INTO r SELECT coalesce((SELECT max(id) FROM r), 0) + 1, \(isThere)")
    case 1: try store.bySQL("UPDATE n SET x = \(isThere) WHERE id = \(from)")
    default: try store.bySQL("DELETE FROM r WHERE id % 2 = 1")
    }
  }
}
