package import CascadeModel

/// How the SQL of an engine says what random tables need.
package protocol TableSQL: Sendable {
  /// The kinds of keys that rows may have.
  var keys: [PlacedGraph.Keys] { get }

  /// The definition of the columns of a key, and what follows that of the table.
  func key(_ keys: PlacedGraph.Keys) -> (columns: String, options: String)

  /// The types of the columns of a table, or of a join table, that refer to such keys; nil: to those of
  /// objects.
  func types(_ relation: PlacedGraph.Relation, to keys: PlacedGraph.Keys?) -> [String]

  /// The types of the columns of a join table that have the key of the source.
  func typesOfSources(_ keys: PlacedGraph.Keys) -> [String]

  /// Of a column that says to which table a reference leads.
  var typeOfTypes: String { get }

  /// Of a column that has JSON, which differs by the variant.
  func typeOfDocuments(_ variant: Int) -> String

  func literal(_ part: JSON) -> String

  /// Makes a table `heard`, to which each row of these that changes or goes adds one.
  func hearing(_ tables: [String]) -> String

  /// Whether INSERT OR REPLACE is to be had.
  var canReplace: Bool { get }

  func inserting(_ values: String, unlessIn table: String) -> String

  /// The literal of a column's value.
  func quoted(_ column: String) -> String

  /// The name of what is there beside the key, and is kept.
  var rowid: String? { get }
}
