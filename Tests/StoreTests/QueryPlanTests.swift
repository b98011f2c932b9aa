import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteSweeps
import SQLiteTables
import StoreDefinition
import StoreFixtures
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// How SQLite carries out the statements of the rules, for edges in every kind of relation. A
/// statement of a level may not read a whole table of the application.
@Suite("Query plans")
struct QueryPlanTests {
  private static let schema = """
    CREATE TABLE target(id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE named(id TEXT PRIMARY KEY, target INTEGER);
    CREATE TABLE pair(x, y, target INTEGER, PRIMARY KEY(x, y)) WITHOUT ROWID;
    CREATE TABLE origin(
      id INTEGER PRIMARY KEY, target INTEGER, named TEXT, any INTEGER, kind TEXT, note TEXT);
    CREATE TABLE list(id INTEGER PRIMARY KEY, targets TEXT);
    CREATE TABLE link(origin INTEGER, target INTEGER, PRIMARY KEY(origin, target));
    CREATE TABLE row(id INTEGER PRIMARY KEY, origin INTEGER, target INTEGER);
    CREATE TABLE child(id INTEGER PRIMARY KEY, target INTEGER REFERENCES target ON DELETE CASCADE);
    CREATE INDEX named_target ON named(target);
    CREATE INDEX pair_target ON pair(target);
    CREATE INDEX origin_target ON origin(target);
    CREATE INDEX origin_named ON origin(named);
    CREATE INDEX origin_any ON origin(any);
    CREATE INDEX origin_note ON origin(note);
    CREATE INDEX link_target ON link(target);
    CREATE INDEX row_origin ON row(origin);
    CREATE INDEX row_target ON row(target);
    CREATE INDEX child_target ON child(target);
    """

  private static func model(_ rules: [String]) throws -> StoreModel {
    let given = "rules: [\(rules.map { "'\($0)'" }.joined(separator: ", "))]"
    return try StoreModel(
      """
      { collections: {
          targets: { table: 'target', key: 'id' }, named: { table: 'named', key: 'id' },
          pairs: { table: 'pair', key: ['x', 'y'] }, origins: { table: 'origin', key: 'id' },
          rows: { table: 'row', key: 'id' }, children: { table: 'child', key: 'id' },
          lists: { table: 'list', key: 'id' }, notes: {} },
        relationships: [
          { name: 'target', from: 'origins', to: 'targets', column: 'target', \(given) },
          { name: 'target', from: 'named', to: 'targets', column: 'target', \(given) },
          { name: 'target', from: 'pairs', to: 'targets', column: 'target', \(given) },
          { name: 'named', from: 'origins', to: 'named', column: 'named', \(given) },
          { name: 'any', from: 'origins', to: { T: 'targets', C: 'children' }, column: 'any',
            typeColumn: 'kind', \(given) },
          { name: 'list', from: 'lists', to: 'targets', property: 'targets', toMany: true,
            \(given) },
          { name: 'linked', from: 'origins', to: 'targets', toMany: true,
            join: { table: 'link', source: 'origin', destination: 'target' }, \(given) },
          { name: 'rows', from: 'origins', to: 'targets', toMany: true,
            join: { table: 'row', source: 'origin', destination: 'target' }, \(given) },
          { name: 'note', from: 'origins', to: 'notes', column: 'note', \(given) },
          { name: 'next', from: 'notes', to: 'notes', \(given) },
        ], limits: { hold: { deletes: 1000000, share: 1 } } }
      """)
  }

  /// The tables that may be read as a whole, after review. No index tells which JSON lists have an
  /// element.
  private static let reviewed = ["main.\"list\""]

  @Test(
    "A statement of the rules reads no whole table",
    arguments: [
      ["deleteSourceIfDestinationDeleted", "deleteDestinationIfSourceDeleted"],
      ["deleteSourceIfAllDestinationsDeleted", "deleteDestinationIfAllSourcesDeleted"],
      ["denyDestinationDeletion", "denySourceDeletion"],
      [
        "nullifySourceIfDestinationDeleted", "notifyIfSourceDeleted", "notifyIfDestinationDeleted",
      ],
    ])
  func plans(rules: [String]) throws {
    let store = try TestStore(
      model: QueryPlanTests.model(rules), schema: QueryPlanTests.schema)
    var plans: [String: [String]] = [:]
    func record() throws {
      for text in store.writer.db.keptTexts where plans[text] == nil {
        guard QueryPlanTests.kinds.contains(where: text.hasPrefix),
          QueryPlanTests.tables.contains(where: text.mentions)
        else { continue }
        plans[text] = try store.writer.db.all(generated: "EXPLAIN QUERY PLAN \(text)") {
          $0.text(3)
        }
      }
    }
    for round in 0..<3 {
      try bySQL(QueryPlanTests.rows, store)
      let name = rules[0]
      let linked = Rules(names: rules)
      for (from, to) in [("a", "b"), ("b", "c"), ("c", "d")] {
        try store.apply([
          .put(Node("notes", .text(from)), type: nil, value: nil, edges: nil),
          .put(Node("notes", .text(to)), type: nil, value: nil, edges: nil),
          .link(
            name: "next", from: Node("notes", .text(from)), to: .node(Node("notes", .text(to))),
            rules: linked),
          .link(
            name: "target", from: Node("origins", .integer(4)),
            to: .node(Node("targets", .integer(4))), rules: linked),
        ])
      }
      try record()
      if round == 0 {
        _ = try? store.apply([
          .delete(Node("targets", .integer(1))), .delete(Node("notes", .text("a"))),
          .delete(Node("origins", .integer(2))), .delete(Node("origins", .integer(4))),
        ])
      } else {
        try bySQL(
          """
          DELETE FROM target WHERE id IN (1, 3, 4); DELETE FROM origin WHERE id = 2;
          DELETE FROM row WHERE id = 3; DELETE FROM named WHERE id = 'p';
          """, store)
      }
      try record()
      let kinds: [[SweepKind]] = round == 1 ? [[.refcount], [.cascade]] : [[.all]]
      store.writer.lock.fewNodes = round == 2 ? 0 : 1_000
      for kind in kinds {
        _ = try store.writer.sweep(kind, at: Int64(round + 1))
        try record()
      }
      #expect(!plans.isEmpty, "\(name)")
    }
    if let path = unsafe getenv("QUERY_PLANS") {
      try write(plans, unsafe String(cString: path), rules[0])
    }
    let scans = plans.flatMap { text, plan in QueryPlanTests.scans(of: text, plan) }
    #expect(Set(scans).sorted() == [])
  }

  /// Denials do not refuse what is written here.
  private func bySQL(_ sql: String, _ store: TestStore) throws {
    try store.bySQL(
      """
      BEGIN; INSERT INTO cascade_muted VALUES(0); \(sql) DELETE FROM cascade_muted; COMMIT;
      """)
  }

  private static let tables = ["temp.gone", "temp.level_losses", "temp.remaining_counts"]

  private static let kinds = ["INSERT", "UPDATE", "DELETE", "SELECT", "WITH"]

  private static let rows = """
    DELETE FROM target; DELETE FROM named; DELETE FROM pair; DELETE FROM origin; DELETE FROM link;
    DELETE FROM row; DELETE FROM child; DELETE FROM list;
    INSERT INTO target(id) VALUES(1), (2), (3), (4), (5);
    INSERT INTO named VALUES('p', 1), ('q', 3), ('r', 3);
    INSERT INTO pair VALUES(1, 1, 1), (1, 2, 3), (2, 1, 5);
    INSERT INTO origin VALUES(1, 1, 'p', 1, 'T', 'a'), (2, 2, 'q', 3, 'T', 'b'),
      (3, 3, 'q', 3, 'C', 'b'), (4, 4, 'r', 5, 'T', NULL), (5, NULL, NULL, 2, 'C', 'd');
    INSERT INTO list VALUES(1, '[1, 2]'), (2, '[3]'), (3, '[3, 4]'), (4, '4'), (5, NULL);
    INSERT INTO link VALUES(1, 1), (1, 2), (2, 3), (3, 4), (5, 5);
    INSERT INTO row VALUES(1, 1, 1), (2, 1, 2), (3, 3, 4), (4, 5, 5);
    INSERT INTO child VALUES(1, 1), (2, 2), (3, 5);
    """

  /// The tables of the application that a plan reads as a whole, with the beginning of the
  /// statement. A plan names a table by its alias.
  private static func scans(of text: String, _ plan: [String]) -> [String] {
    let words = text.split(whereSeparator: { " \n()".contains($0) }).map(String.init)
    let start = words.prefix(3).joined(separator: " ")
    return plan.compactMap { step -> String? in
      let parts = step.split(separator: " ").map(String.init)
      guard parts.first == "SCAN", parts.count > 1 else { return nil }
      let tables = words.indices.filter {
        words[$0] == "AS" && $0 + 1 < words.count && words[$0 + 1] == parts[1]
      }.map { words[$0 - 1] }.filter { $0.hasPrefix("main.\"") }
      let scanned = Set(tables).subtracting(reviewed).sorted()
      return scanned.isEmpty ? nil : "\(start): \(scanned.joined(separator: ", "))"
    }
  }

  private func write(_ plans: [String: [String]], _ path: String, _ name: String) throws {
    let text = plans.sorted { $0.key < $1.key }.map {
      "\($0.key)\n" + $0.value.map { "    -- \($0)\n" }.joined()
    }.joined(separator: "\n")
    let file = unsafe fopen("\(path).\(name)", "w")
    unsafe fputs(text, file)
    unsafe fclose(file)
  }
}

extension Rules {
  fileprivate init(names: [String]) {
    self = names.reduce(into: []) { $0.insert(Rules(name: $1)!) }
  }
}
