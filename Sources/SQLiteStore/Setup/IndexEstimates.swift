package import CascadeStore
internal import CascadeSQLite

extension Reader {
  /// A part of each table is read and sorted, which is most of the work.
  package func estimateIndexes() throws -> [IndexEstimate] {
    try db.snapshot {
      try binding().missingIndexes.map { IndexEstimate(index: $0, time: try db.estimate($0)) }
    }
  }
}

extension Connection {
  /// Writing the index takes as long again.
  fileprivate func estimate(_ index: MissingIndex) throws -> Duration {
    let (table, column) = ("main.\(quoted(index.table))", quoted(index.column))
    let most: Int64 = 20_000
    let start = ContinuousClock.now
    let sorted = try integer(
      generated: """
        SELECT count(*) FROM (
          SELECT v FROM (SELECT \(column) AS v FROM \(table) LIMIT \(most)) ORDER BY v LIMIT -1)
        """)
    let took = ContinuousClock.now - start
    if sorted ?? 0 < most { return took * 2 }
    let rows = try integer(generated: "SELECT count(*) FROM \(table)") ?? most
    return took * 2 * (Double(rows) / Double(most))
  }
}
