import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteBinding
import SQLiteTables
import Testing
import SQLiteUndo
import SQLiteSweeps

/// Somebody commits between any two steps, in a table that is nobody's business: a sweep must end
/// where it would have ended alone, and not leave the rest to a better time.
@Suite("Sweeps beside a writer that never rests")
struct BusyWriterTests {
  private static let keys = [
    "id INTEGER PRIMARY KEY", "id TEXT PRIMARY KEY",
    "id TEXT NOT NULL UNIQUE, no INTEGER PRIMARY KEY",
  ]

  private static func model(_ place: String, _ rules: [String]) throws -> StoreModel {
    let list = rules.map { "'\($0)'" }.joined(separator: ", ")
    return try StoreModel(
      """
      {
        limits: { hold: { deletes: 1000 } }, collections: { items: { table: 'item', key: 'id' } },
        relationships: [
          { name: 'link', from: 'items', to: 'items', \(place), toMany: true, rules: [\(list)] } ],
      }
      """)
  }

  private static let places = [
    "join: { table: 'link', source: 'a', destination: 'b' }", "property: 'list'",
  ]

  /// Sixty nodes with up to two edges each, whichever way; five of them go.
  private func store(_ key: String, _ model: StoreModel, seed: UInt64) throws -> TestStore {
    var random = Seeded(seed)
    let edges = (1...60).flatMap { source in
      (0..<Int.random(in: 0...2, using: &random)).map { _ in
        (source, Int.random(in: 1...60, using: &random))
      }
    }
    let inserts = edges.map { source, destination in
      """
      INSERT OR IGNORE INTO link VALUES('\(source)', '\(destination)');
      UPDATE item SET list = json_insert(list, '$[#]', CAST('\(destination)' AS TEXT))
        WHERE id = '\(source)';
      """
    }
    let store = try TestStore(
      model: model,
      schema: """
        CREATE TABLE item(\(key), list TEXT DEFAULT '[]');
        CREATE TABLE link(a, b, PRIMARY KEY(a, b)); CREATE INDEX link_b ON link(b);
        CREATE TABLE other(x);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
        INSERT INTO item(id) SELECT i FROM n;
        \(inserts.joined(separator: "\n"))
        """)
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL("DELETE FROM item WHERE id IN ('1', '2', '3', '4', '5')")
    return store
  }

  private func writing(_ store: TestStore) -> StepPolicy {
    StepPolicy { _ in try store.bySQL("INSERT INTO other VALUES(1)") }
  }

  @Test(
    "End where they would alone", arguments: keys,
    [
      ["deleteDestinationIfSourceDeleted"],
      ["deleteDestinationIfSourceDeleted", "deleteSourceIfDestinationDeleted"],
    ])
  func agreement(key: String, rules: [String]) throws {
    for place in Self.places {
      for seed in 0..<(Histories.isLong ? 4 : 2) as Range<UInt64> {
        let model = try Self.model(place, rules)
        let (alone, beside) = (
          try store(key, model, seed: seed), try store(key, model, seed: seed)
        )
        beside.sweepsInSteps(of: Int64(seed % 2 * 4 + 1))
        let wanted = try alone.writer.sweep([.cascade], at: 1)
        let result = try beside.writer.sweep([.cascade], at: 1, manners: writing(beside))
        #expect(result.deletedCount == wanted.deletedCount, "\(place), seed \(seed)")
        #expect(
          try beside.texts("SELECT id FROM item ORDER BY id")
            == alone.texts("SELECT id FROM item ORDER BY id"))
      }
    }
  }

  @Test("End with the first plan that finds nothing more")
  func plans() throws {
    let model = try Self.model(Self.places[0], ["deleteDestinationIfSourceDeleted"])
    let store = try store(Self.keys[0], model, seed: 1)
    store.sweepsInSteps(of: 4)
    var count = 0
    let manners = StepPolicy(
      pause: writing(store).pause, reportProgress: { if $0.phase == .planning { count += 1 } })
    #expect(try store.writer.sweep([.cascade], at: 1, manners: manners).outcome == .done)
    #expect(count <= 3)
  }

  @Test("What waits for each other goes together")
  func deniesEachOther() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        {
          collections: {
            tops: { table: 'top', key: 'id' }, xs: { table: 'x', key: 'id' },
            ys: { table: 'y', key: 'id' },
          },
          relationships: [
            { name: 'top', from: 'xs', to: 'tops', column: 'top',
              rules: ['deleteSourceIfDestinationDeleted'] },
            { name: 'follows', from: 'ys', to: 'xs', column: 'x',
              rules: ['deleteSourceIfDestinationDeleted'] },
            { name: 'denies', from: 'ys', to: 'xs', column: 'other',
              rules: ['denyDestinationDeletion'] } ],
        }
        """),
      schema: """
        CREATE TABLE top(id INTEGER PRIMARY KEY); CREATE TABLE x(id INTEGER PRIMARY KEY, top INT);
        CREATE TABLE y(id INTEGER PRIMARY KEY, x INT, other INT); CREATE TABLE other(x);
        INSERT INTO top VALUES(1); INSERT INTO x VALUES(1, 1); INSERT INTO y VALUES(1, 1, 1);
        """)
    _ = try store.writer.sweep([.all], at: 0)
    store.sweepsInSteps(of: 1)
    store.writer.lock.fewNodes = 1
    try store.bySQL("DELETE FROM top")
    let result = try store.writer.sweep([.cascade, .refcount], at: 1, manners: writing(store))
    #expect(result.outcome == .done && result.deletedCount == 2 && result.blocked.isEmpty)
    try store.bySQL("INSERT INTO top VALUES(1)")
    #expect(try store.writer.undo(#require(result.batch), by: "test", at: 2).leftCount == 0)
    #expect(try store.texts("SELECT count(*) FROM x JOIN y ON y.x = x.id") == ["1"])
  }
}
