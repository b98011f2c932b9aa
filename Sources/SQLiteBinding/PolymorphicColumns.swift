package import CascadeSQLite

/// The type of a polymorphic reference: the word in its type column says in which table the other
/// columns name a row.
package struct PolymorphicType: Hashable, Sendable {
  package let column: String
  package let word: String

  package init(column: String, word: String) {
    (self.column, self.word) = (column, word)
  }

  /// Whether the row `r` refers to the table of this type.
  package func isOfRow(_ r: String) -> String { "\(r).\(quoted(column)) = \(literal(word))" }
}

extension EdgeRelation {
  /// The columns of a reference, and the one that says its type; empty where it is in no column of
  /// its row.
  package var columnsWithType: [String] {
    guard case .column(let columns, let type) = form else { return [] }
    return columns + (type.map { [$0.column] } ?? [])
  }

  /// A type that may not be NULL stays: without a reference beside it, it has no meaning.
  package func emptyType(_ r: String, _ columns: [String], _ typeColumn: String) -> Query {
    let mustStay =
      columns.contains { emptyValue(of: $0) != "NULL" }
      && source.table?.column(typeColumn)?.isRequired == true
    return mustStay ? "\(r).\(quoted(typeColumn))" : "NULL"
  }
}
