/// What speaks for it that rows were moved from a table to another, with their keys: then what refers
/// to them is no orphan, though the first table lacks them.
struct MoveEvidence {
  /// Values that refer to no row of the first table.
  let missing: Int
  /// Those of them that the other column has.
  let found: Int
  /// The values of the other column.
  let keys: Int
  /// Those of them that the first table has, too.
  let shared: Int

  /// Rows that refer to what the other column has.
  let rows: Int

  /// One of so many moved rows may have come back as a copy.
  private static let rowsToACopy = 20

  /// A row is in one of the two tables; some may have been deleted.
  var isMove: Bool {
    found > 0 && found * 2 >= missing && shared * MoveEvidence.rowsToACopy <= keys
  }

  func text(_ place: String) -> String {
    let values =
      missing == 1
      ? "the value that is missing is"
      : found == missing
        ? "the \(missing.grouped) values that are missing are all"
        : "\(found.grouped) of the \(missing.grouped) values that are missing are"
    return "\(values) in \(place): \(found == 1 ? "its row was" : "their rows were") moved there"
  }
}

extension TableNames {
  /// Shares of a table's columns that another table has, if its rows may be those of the first one.
  private static let someColumns = 0.5
  private static let mostColumns = 0.6
  private static let nearlyAllColumns = 0.75

  /// Whether a table may have taken rows of another one, by its name and its columns; `key` is the
  /// column with their keys.
  func mayHaveTaken(_ key: String, of other: String, from table: String) -> Bool {
    let share = sharedColumns(of: table, in: other)
    if share >= TableNames.mostColumns { return true }
    return isOfThePast(other)
      && (isNamed(other, after: table) || contains(other, table)
        || share >= TableNames.someColumns || isNamed(key, of: other, after: table))
  }

  /// Whether a table looks as if rows of another one were to be put there some day.
  func isArchive(_ other: String, of table: String) -> Bool {
    isArchive(other)
      && (isNamedAsArchive(other, of: table)
        || sharedColumns(of: table, in: other, least: 4) >= TableNames.nearlyAllColumns)
  }

  /// Whether a column is named as a reference to a table is.
  func isNamed(_ column: String, of table: String, after parent: String) -> Bool {
    evidence(self.column(column, of: table), of: table, for: parent).strength
      >= NameEvidence.outright
  }
}
