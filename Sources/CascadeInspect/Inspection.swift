package import CascadeSQLite
package import SQLiteBinding

/// What refers to what in a database, and what is broken.
package struct Inspection: Sendable {
  package let file: String
  package var tables: [TableSize] = []
  package var relationships: [InspectedRelationship] = []
  /// Rows in declared and likely relationships with at least one reference to nothing.
  package var orphans = 0
  package var unreferenced: [UnreferencedRows] = []
  /// The tables as SQLite describes them, for a model.
  package var schema: [Table] = []
  /// Tables whose schema says ON DELETE NO ACTION, and does not merely leave it out.
  package var saysNoAction: Set<String> = []

  package init(file: String) { self.file = file }

  package struct TableSize: Sendable {
    package let table: String
    package let rows: Int
    package let key: [String]
  }

  /// Rows that nothing refers to, in a table most of whose rows something refers to.
  package struct UnreferencedRows: Sendable {
    package let table: String
    package let rows: Int
  }

  /// The relationships whose orphans count. A join's orphans are those of its two references.
  package var broken: [InspectedRelationship] {
    relationships.filter { $0.isLikely && $0.found != .join && $0.orphans > 0 }
  }
}

/// What one column, or several, of a table refer to.
package struct InspectedRelationship: Sendable {
  package enum Found: String, Sendable {
    case foreignKey, name, join, typed, list, path
  }

  /// The table between the two ends.
  package struct Join: Sendable {
    package let table: String
    package let source: [String]
    package let destination: [String]
  }

  package let from: String
  /// With a pair of key and type, the key first.
  package let columns: [String]
  package let to: String
  package let toColumns: [String]
  package let found: Found
  package var isLikely = true
  package var join: Join?
  /// The value of the type column that means this table.
  package var type: String?
  /// The tables that the same column refers to without a type; empty for other references.
  package var either: [String] = []
  /// The table and the column that have what refers to nothing: the rows were moved there.
  package var movedTo: String?
  /// A table to which rows may be moved some day, by its name and columns.
  package var archive: String?
  package var evidence: String
  package var onDelete: Table.ForeignKey.Action?
  package var rows = 0
  package var orphans = 0
  /// Values that mean "no reference" by their look, most frequent first.
  package var none: [Value] = []
  package var isIndexed = false
  package var examples: [Example] = []

  /// Some columns of a row that refers to nothing.
  package typealias Example = [(column: String, value: Value)]

  /// The condition under which a row `c` refers to something, without values that mean none.
  var refers = "1"
  /// The condition under which a row that refers, refers to nothing.
  var dangles = "0"
  /// The temporary table of the values, after they were counted.
  var values: String?

  init(
    from: String, columns: [String], to: String, toColumns: [String], found: Found,
    evidence: String
  ) {
    self.from = from
    self.columns = columns
    self.to = to
    self.toColumns = toColumns
    self.found = found
    self.evidence = evidence
  }
}
