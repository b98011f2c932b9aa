internal import CascadeModel
internal import CascadeSQLite

extension Reader {
  /// The journal rows that wait for a sweep. Rows are removed from the front, so both ends describe
  /// them.
  package func journal() throws -> ClosedRange<Int64>? {
    // Two subqueries: SQLite finds one end by the key, but scans every row for both together.
    try db.all(
      """
      SELECT (SELECT min(seq) FROM cascade_journal), (SELECT max(seq) FROM cascade_journal)
      """
    ) { $0.isNull(0) ? nil : $0.integer(0)...$0.integer(1) }.first ?? nil
  }
}
