internal import CascadePostgres

/// A column that tells to which table the reference beside it leads.
package struct TypeColumn: Hashable {
  /// Quoted.
  package let name: String
  /// The value that stands for the table.
  package let value: String
  /// How the column compares; nil: by its text.
  package let family: KeyFamily?
  /// What it has in a row that refers to nothing; nil if it stays.
  package let empty: String?

  package init(name: String, value: String, family: KeyFamily?, empty: String?) {
    (self.name, self.value, self.family, self.empty) = (name, value, family, empty)
  }

  /// As SQL, for the column.
  package var written: String {
    family.map { "\(literal(value))::\($0.type)" } ?? literal(value)
  }

  package func isIt(_ row: String) -> String {
    family == nil ? "\(row).\(name)::text = \(written)" : "\(row).\(name) = \(written)"
  }

  func isChanged(_ row: String, _ other: String) -> String {
    "\(row).\(name) IS DISTINCT FROM \(other).\(name)"
  }
}
