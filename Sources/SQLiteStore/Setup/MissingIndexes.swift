internal import CascadeModel
package import CascadeStore
internal import CascadeSQLite
internal import SQLiteBinding
internal import SQLiteJournal
internal import SQLiteTables

extension Writer {
  func makeIndexes() throws -> [String] {
    let missing = binding.missingIndexes
    for index in missing {
      try db.execute(
        "CREATE INDEX IF NOT EXISTS main.\(quoted(index.name)) "
          + "ON \(quoted(index.table))(\(index.quotedColumns))")
    }
    if !missing.isEmpty { try rebind() }
    return missing.map(\.name)
  }
}

extension Binding {
  /// Includes the columns of foreign keys: SQLite looks up the children of each row that is
  /// deleted.
  var missingIndexes: [MissingIndex] {
    (examinedRelations.flatMap(\.lookupColumns) + columnsOfTimes).filter {
      !$0.table.hasIndex(on: $0.columns)
    }
    .map { MissingIndex(table: $0.table.name, columns: $0.columns) }.unique
  }
}

extension Binding {
  /// By which overdue rows are found.
  private var columnsOfTimes: [(table: Table, columns: [String])] {
    model.ages.compactMap { collection, expiry in
      guard let table = collections[collection]?.table,
        let column = expiry.column.flatMap(table.column)
      else { return nil }
      return (table, [column.name])
    }
  }
}

extension EdgeRelation {
  /// The columns by which rows are looked up when the other end is deleted.
  fileprivate var lookupColumns: [(table: Table, columns: [String])] {
    switch form {
    case .column(let columns, _):
      isIndexed ? [] : source.table.map { [($0, columns)] } ?? []
    case .join(let table, let source, let destination): [(table, source), (table, destination)]
    case .foreignKey(let key): source.table.map { [($0, [key.columns[0]])] } ?? []
    case .json: []
    }
  }
}

extension Reader {
  /// A part of each table is read and sorted, which is most of the work.
  package func estimateIndexes() throws -> [IndexEstimate] {
    try db.snapshot {
      try binding().missingIndexes.map { IndexEstimate(index: $0, time: try estimate($0)) }
    }
  }

  /// Writing the index takes as long again.
  private func estimate(_ index: MissingIndex) throws -> Duration {
    let (table, column) = ("main.\(quoted(index.table))", quoted(index.column))
    let most: Int64 = 20_000
    let start = ContinuousClock.now
    let sorted = try db.integer(
      generated: """
        SELECT count(*) FROM (
          SELECT v FROM (SELECT \(column) AS v FROM \(table) LIMIT \(most)) ORDER BY v LIMIT -1)
        """)
    let took = ContinuousClock.now - start
    if sorted ?? 0 < most { return took * 2 }
    let rows = try db.integer(generated: "SELECT count(*) FROM \(table)") ?? most
    return took * 2 * (Double(rows) / Double(most))
  }
}
