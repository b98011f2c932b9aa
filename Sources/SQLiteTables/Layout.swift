internal import CascadeModel
package import CascadeStore
package import CascadeSQLite

/// Taking over a store with the tables that an earlier version made in it.
extension Schema {
  package static let history = LayoutHistory(oldest: 12, steps: [numberAdditions])

  package typealias Step = @Sendable (borrowing Connection) throws -> Void

  /// Layout 13 is the first that was released with a number of its own. Programs of layout 12 made more and
  /// more of its tables and columns, and a store has those that its last one knew.
  private static let numberAdditions: Step = { db in
    let known = try db.columnsOfTablesWithAdditions()
    for (table, column, type) in addedColumns {
      guard let columns = known["\(table)"], !columns.contains("\(column)") else { continue }
      try db.execute("ALTER TABLE \(table) ADD COLUMN \(column) \(type)")
    }
    for (statement, table) in additions {
      // An index of a dropped table is made again with the table.
      if let table, try !db.hasTable(table) { continue }
      try db.execute(statement)
    }
  }
}

extension Connection {
  /// Changes nothing, and so comes before whatever else is done to the file.
  package borrowing func refuseOtherLayouts(of path: String) throws {
    let version = try layoutVersion()
    if version != 0 { _ = try missingSteps(from: version, of: path) }
  }

  private borrowing func missingSteps(
    from version: Int64, of path: String
  ) throws(StoreError) -> ArraySlice<Schema.Step> {
    try Schema.history.steps(from: version, detaching: "cascaded --detach \(path)")
  }

  /// Takes over the tables of an earlier version, and creates those that are missing. Must run within a
  /// transaction. Cascade's schema has a version of its own, because `user_version` belongs to the
  /// application.
  package borrowing func makeTables() throws {
    let version = try layoutVersion()
    let steps = try version == 0 ? [] : missingSteps(from: version, of: path())
    try rejectPartialSchema()
    for step in steps { try step(self) }
    let before = try integer("PRAGMA main.schema_version")
    for statement in Schema.create { try execute("\(statement)") }
    let hasCreated = try integer("PRAGMA main.schema_version") != before
    if hasCreated && version != 0 { try noteGap() }
    if hasCreated || !steps.isEmpty { try recordParts() }
    if version != Schema.history.current { try setMeta(.version, Schema.history.current) }
  }

  /// Tables were dropped. It is not known what the journal said, or what its numbers mean.
  private borrowing func noteGap() throws {
    try setMeta(.watchGap, 1)
    try run("DELETE FROM cascade_journal WHERE what NOT IN (SELECT what FROM cascade_watch)")
  }

  private borrowing func path() throws -> String {
    try all("SELECT file FROM pragma_database_list WHERE name = 'main'") { $0.text(0) }[0]
  }

  /// 0 if the store has no tables of Cascade's.
  borrowing func layoutVersion() throws(SQLiteError) -> Int64 {
    if try !hasTable("cascade_meta") { return 0 }
    return try meta(.version) ?? 0
  }

  /// Rejects a store in which some of the basic tables are missing: what other tables name by
  /// number cannot be reconstructed.
  private borrowing func rejectPartialSchema() throws {
    let needed = ["meta", "collection", "name", "node", "edge"].map { "cascade_\($0)" }
    let found = try all("SELECT name FROM sqlite_schema WHERE type = 'table'") { $0.text(0) }
    let missing = needed.filter { !found.contains($0) }
    if missing.isEmpty || missing == needed { return }
    throw StoreError(
      "the store has lost \(missing.joined(separator: ", ")): restore a backup of the store, or "
        + "drop the rest of Cascade's tables")
  }

  fileprivate borrowing func columnsOfTablesWithAdditions() throws -> [String: Set<String>] {
    let tables = Set(Schema.addedColumns.map { "'\($0.table)'" }).joined(separator: ", ")
    let columns = try all(
      generated: """
        SELECT m.name, i.name FROM main.sqlite_schema AS m CROSS JOIN pragma_table_info(m.name) AS i
        WHERE m.type = 'table' AND m.name IN (\(tables))
        """, []
    ) { (table: $0.text(0), column: $0.text(1)) }
    return Dictionary(grouping: columns, by: \.table).mapValues { Set($0.map(\.column)) }
  }

  borrowing func hasTable(_ name: String) throws(SQLiteError) -> Bool {
    try integer(
      "SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = ?", .text(name)) != nil
  }
}
