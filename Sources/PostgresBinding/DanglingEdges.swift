/// Edges of which one end is not there.
package struct DanglingEdges {
  /// Of the end that is not there, and its key as a text.
  package let table: MappedTable
  package let key: String
  /// For FROM.
  package let edges: String
  package let condition: String
  private let columns: Columns
  private let row: String
  /// Whether the row of the source may have one of an array of texts, by an index.
  private let mayHave: (String) -> String

  init(
    table: MappedTable, key: String, edges: String, condition: String, columns: Columns,
    row: String, mayHave: @escaping (String) -> String
  ) {
    (self.table, self.key, self.edges) = (table, key, edges)
    (self.condition, self.columns, self.row, self.mayHave) = (condition, columns, row, mayHave)
  }

  /// Rows that name the key of a table in these columns.
  init(
    _ table: MappedTable, _ columns: Columns, _ row: String, in edges: String,
    where condition: String
  ) {
    self.init(
      table: table, key: columns.text(row), edges: edges, condition: condition, columns: columns,
      row: row, mayHave: { _ in "true" })
  }

  /// Whether its key is one of an array of texts.
  package func isAny(_ array: String) -> String {
    "\(mayHave(array)) AND \(columns.isAny(row, array))"
  }
}
