internal import CascadeModel
internal import CascadePostgres

/// Edges of which one end is not there.
package struct DanglingEdges {
  /// Of the end that is not there, and its key as a text.
  package let table: MappedTable
  package let key: String
  /// For FROM.
  package let edges: String
  package let condition: String
  fileprivate let columns: Columns
  fileprivate let row: String
  /// Whether the row of the source may have one of an array of texts, by an index.
  fileprivate let mayHave: (String) -> String

  /// Whether its key is one of an array of texts.
  package func isAny(_ array: String) -> String {
    "\(mayHave(array)) AND \(columns.isAny(row, array))"
  }
}

extension EdgeRelation {
  /// Only a join row can be without its source.
  package func dangling(at end: EdgeEnd) -> DanglingEdges {
    let table = table(at: end)
    let (columns, row) = join.map { ($0.columns(at: end), "e") } ?? reference()
    let isMeant =
      end == .destination
      ? self.isMeant() : columns.isNone(row, of: none).map { ["NOT \($0)"] } ?? []
    let isMissing = """
      NOT EXISTS (SELECT FROM \(table.name) t WHERE \(columns.equal(row, table.key, "t")))
      """
    let isNowhere = end == .destination ? leadsNowhereElse() : []
    return DanglingEdges(
      table: table, key: columns.text(row), edges: join.map { "\($0.name) e" } ?? edges(),
      condition: all([columns.isComplete(row)] + isMeant + [isMissing] + isNowhere),
      columns: columns, row: row, mayHave: { self.toAny($0).mayBe })
  }
}
