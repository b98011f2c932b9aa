import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteBinding
import Testing
import SQLiteSweeps

/// Somebody commits between any two steps of a sweep: in each form that a reference may have, what
/// follows goes at once if it was none of his business, and stays if it was.
///
/// A root takes its `a` along, and these the `b` of the same number, from 1 to 3 of 6.
@Suite("A writer between all steps of a sweep")
struct WriterBetweenStepsTests {
  enum Form: String, CaseIterable {
    case column = "column: 'ref'"
    case typed = "column: 'ref', typeColumn: 'type'"
    case join = "join: { table: 'pair', source: 's', destination: 'd' }, toMany: true"
    case list = "property: 'refs', toMany: true"
  }

  private static let ofSources = [
    "deleteSourceIfDestinationDeleted", "deleteSourceIfAllDestinationsDeleted",
  ]
  private static let ofDestinations = [
    "deleteDestinationIfSourceDeleted", "deleteDestinationIfAllSourcesDeleted",
  ]

  /// Of the two tables `a` and `b`, one refers to the other.
  private func store(_ form: Form, from source: String, _ rule: String) throws -> TestStore {
    let destination = source == "a" ? "b" : "a"
    let to = form == .typed ? "{ T: '\(destination)' }" : "'\(destination)'"
    let model = """
      {
        collections: {
          roots: { table: 'root', key: 'id' }, a: { table: 'a', key: 'id' },
          b: { table: 'b', key: 'id' },
        },
        relationships: [
          { name: 'root', from: 'a', to: 'roots', column: 'root',
            rules: ['deleteSourceIfDestinationDeleted'] },
          { name: 'x', from: '\(source)', to: \(to), \(form.rawValue), rules: ['\(rule)'] },
        ],
      }
      """
    let pairs = "INSERT INTO pair SELECT id, ref FROM \(source)"
    let store = try TestStore(
      model: StoreModel(model), schema: WriterBetweenStepsTests.schema + pairs)
    _ = try store.writer.sweep([.all], at: 0)
    store.sweepsInSteps(of: 1)
    return store
  }

  /// An `a` is known by its row, a `b` by its name.
  private static let schema = """
    CREATE TABLE root(id INTEGER PRIMARY KEY);
    CREATE TABLE a(id INTEGER PRIMARY KEY, root INTEGER, ref, type TEXT, refs TEXT);
    CREATE TABLE b(id TEXT, ref INTEGER, type TEXT, refs TEXT, UNIQUE(id COLLATE NOCASE));
    CREATE TABLE pair(s, d, PRIMARY KEY(s, d)) WITHOUT ROWID;
    CREATE TABLE noise(id INTEGER PRIMARY KEY);
    WITH n(i) AS (VALUES(1), (2), (3), (4), (5), (6))
    INSERT INTO a SELECT i, 1 + (i > 3), 'b' || i, 'T', json_array('b' || i) FROM n;
    INSERT INTO b SELECT 'b' || id, id, 'T', json_array(id) FROM a;
    INSERT INTO root VALUES(1), (2);
    """

  /// What is left behind the first plan, and in the end. `sql` comes after so many steps.
  private func left(
    _ store: TestStore, _ sql: String = "", after step: Int = 0
  ) throws -> (first: String, last: String) {
    try store.bySQL("DELETE FROM root WHERE id = 1")
    var (steps, plans, first) = (0, 0, "")
    let manners = StepPolicy(
      pause: { _ in
        steps += 1
        try store.bySQL("INSERT INTO noise DEFAULT VALUES; \(steps == step ? sql : "")")
      },
      reportProgress: { progress in
        if progress.phase != .planning { return }
        plans += 1
        if plans == 2 { first = self.rows(store) }
      })
    _ = try store.writer.sweep([.all], at: 1, manners: manners)
    #expect(try store.writer.sweep([.all], at: 2).outcome == .nothing)
    return (first, rows(store))
  }

  private func rows(_ store: TestStore) -> String {
    let rows = try? Connection(path: store.path, access: .readOnly)
      .all("SELECT id FROM a UNION ALL SELECT id FROM b") { $0.text(0) }
    return rows?.joined(separator: " ") ?? ""
  }

  private static let rest = "4 5 6 b4 b5 b6"

  @Test("Who refers to it goes in the first plan", arguments: Form.allCases, ofSources)
  func sources(form: Form, rule: String) throws {
    let store = try store(form, from: "b", rule)
    #expect(try left(store) == (WriterBetweenStepsTests.rest, WriterBetweenStepsTests.rest))
  }

  @Test("To whom it refers goes in the first plan", arguments: Form.allCases, ofDestinations)
  func destinations(form: Form, rule: String) throws {
    let store = try store(form, from: "a", rule)
    let left = try left(store)
    #expect(left.last == WriterBetweenStepsTests.rest)
    // Whether a list holds something is noted from the second one on.
    if form != .list { #expect(left.first == WriterBetweenStepsTests.rest) }
  }

  @Test("Who refers to it no more stays", arguments: Form.allCases, ofSources)
  func letsGo(form: Form, rule: String) throws {
    for step in 1...4 {
      let store = try store(form, from: "b", rule)
      let left = try left(
        store, WriterBetweenStepsTests.referring("b2", to: nil, form), after: step)
      #expect(left.last == "4 5 6 b2 b4 b5 b6", "\(step)")
    }
  }

  @Test("Who refers to another stays, and goes with that", arguments: Form.allCases, ofSources)
  func changes(form: Form, rule: String) throws {
    for step in 1...4 {
      let store = try store(form, from: "b", rule)
      let left = try left(store, WriterBetweenStepsTests.referring("b2", to: 5, form), after: step)
      #expect(left.last == "4 5 6 b2 b4 b5 b6", "\(step)")
      try store.bySQL("DELETE FROM a WHERE id = 5")
      _ = try store.writer.sweep([.all], at: 3)
      #expect(rows(store) == "4 6 b4 b6")
    }
  }

  private static func referring(_ b: String, to a: Int?, _ form: Form) -> String {
    switch form {
    case .column, .typed: "UPDATE b SET ref = \(a.map(String.init) ?? "NULL") WHERE id = '\(b)'"
    case .list: "UPDATE b SET refs = '[\(a.map(String.init) ?? "")]' WHERE id = '\(b)'"
    case .join:
      "DELETE FROM pair WHERE s = '\(b)'"
        + (a.map { "; INSERT INTO pair VALUES('\(b)', \($0))" } ?? "")
    }
  }
}
