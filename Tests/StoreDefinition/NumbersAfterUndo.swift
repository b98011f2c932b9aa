internal import CascadeModel
internal import CascadeStore
import Testing

/// What an undo says of numbers by which an application orders rows.
package struct NumbersAfterUndo {
  private let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  package enum Claim: String, CaseIterable, CustomTestStringConvertible {
    case tellsRepeated =
      "Where others were given the numbers of a nested set, that is told of these columns alone"
    case tellsNothingElse = "Where the numbers are still free, nothing is told"
    case tellsOfWhatCameBack = "Of a row that did not come back, nothing is told"

    package var testDescription: String { rawValue }
  }

  package func expect(_ claim: Claim) throws {
    switch claim {
    case .tellsRepeated: try tellsRepeated(steps: 0); try tellsRepeated(steps: 1)
    case .tellsNothingElse: try tellsNothingElse()
    case .tellsOfWhatCameBack: try tellsOfWhatCameBack()
    }
  }

  /// A tree of categories as awesome_nested_set has it. The year is unique by chance, but not among those
  /// that are left.
  private func store() throws -> any StoreUnderTest {
    let store = try engine.makeStore(
      model: StoreModel(
        """
        { collections: { categories: { table: "category", key: "id" } },
          relationships: [{ name: "parent", from: "categories", to: "categories", column: "parent",
            rules: ["deleteSourceIfDestinationDeleted"] }] }
        """),
      schema: """
        CREATE TABLE category(id INTEGER PRIMARY KEY, parent INTEGER, lft INTEGER, rgt INTEGER,
          year INTEGER, size REAL, name TEXT);
        CREATE INDEX by_parent ON category(parent);
        INSERT INTO category VALUES
          (1, NULL, 1, 14, 1990, 1, '1'), (2, 1, 2, 7, 1991, 1, '2'), (3, 2, 3, 4, 1992, 1, '3'),
          (4, 2, 5, 6, 1993, 1, '4'), (5, 1, 8, 11, 1990, 1, '5'), (6, 5, 9, 10, 1992, 1, '6'),
          (7, 1, 12, 13, 1995, 1, '7');
        """)
    _ = try store.writer.sweep([.all], at: 1)
    return store
  }

  /// The application deletes category 2 and closes the gap, and the daemon deletes what is below it.
  private func deleteAndRenumber(_ store: any StoreUnderTest) throws -> Int64 {
    try store.bySQL("DELETE FROM category WHERE id = 2")
    let batch = try #require(try store.writer.sweep([.cascade, .refcount], at: 1).batch)
    try store.bySQL(
      """
      UPDATE category SET lft = lft - 6 WHERE lft > 7; UPDATE category SET rgt = rgt - 6 WHERE rgt > 7
      """)
    return batch
  }

  private func remarks(_ result: UndoResult) -> [String] {
    result.remarks.map { String($0.split(separator: "\"", maxSplits: 2)[0]) }
  }

  private func tellsRepeated(steps: Int64) throws {
    let store = try store()
    let batch = try deleteAndRenumber(store)
    if steps > 0 { store.sweepsInSteps(of: steps) }
    let result = try store.writer.undo(batch, by: "me", at: 2)
    #expect(result.restored == 2 && result.leftCount == 0)
    let columns = remarks(result).map { $0.split(separator: ".").last.map(String.init) }
    #expect(columns == ["lft", "rgt"])
    #expect(
      result.remarks.first?.contains("other rows have 1 of the numbers that came back") == true,
      "\(result.remarks)")
  }

  private func tellsNothingElse() throws {
    let store = try store()
    try store.bySQL("DELETE FROM category WHERE id = 2")
    let batch = try #require(try store.writer.sweep([.cascade, .refcount], at: 1).batch)
    #expect(try store.writer.undo(batch, by: "me", at: 2).remarks == [])
  }

  private func tellsOfWhatCameBack() throws {
    let store = try store()
    let batch = try deleteAndRenumber(store)
    try store.bySQL("INSERT INTO category(id) VALUES(3), (4)")
    let result = try store.writer.undo(batch, by: "me", at: 2)
    #expect(result.leftCount == 2 && result.remarks == [])
  }
}
