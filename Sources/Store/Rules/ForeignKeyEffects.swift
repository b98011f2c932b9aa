internal import CascadeModel
internal import CascadeSQLite

/// Rows that the application's foreign keys delete or change along with ours.
///
/// Rows of tables that are not collections go by ON DELETE CASCADE: no rule examines them. Other
/// rows stay, and lose a reference by ON DELETE SET NULL or SET DEFAULT.
struct ForeignKeyEffect {
  let table: Table
  /// Selects the rows that a slice affects, as SQL.
  let rows: String
  /// The foreign key by which they lose a reference; nil where the rows go.
  let lost: Table.ForeignKey?
}

extension Writer {
  func foreignKeyEffects(_ names: SliceParameters = .inTrash) -> [ForeignKeyEffect] {
    ForeignKeyPlanSQL(binding.foreignKeyPlan, current.numbers, names).followers()
  }

  /// Does what SQLite's foreign keys would do when the nodes of the slice go. Rows that are found
  /// by way of other rows go before these.
  func applyForeignKeyEffects(_ slice: Slice) throws {
    for follower in foreignKeyEffects(.first).reversed() {
      if binding.rulesReplace(for: follower) { continue }
      let what = "a row of \"\(follower.table.name)\" cannot be deleted or changed"
      try attemptOrRefuse(slice, what, rows: [follower.rows]) { try db.applyEffect(follower, $0) }
    }
  }
}

extension Connection {
  fileprivate func applyEffect(_ follower: ForeignKeyEffect, _ slice: Slice) throws(SQLiteError) {
    let columns = follower.lost?.columns.map { "\(quoted($0)) = NULL" }.joined(separator: ", ")
    let table = "main.\(quoted(follower.table.name)) AS r"
    try run(
      generated: """
        \(columns.map { "UPDATE \(table) SET \($0)" } ?? "DELETE FROM \(table)")
        WHERE \(follower.table.identity("r")) IN (\(follower.rows))
        """, slice.bound)
  }
}

extension Connection {
  /// The tables that have a foreign key which changes rows.
  func tablesChangedByForeignKeys() throws -> [Table] {
    let names = try all(
      """
      SELECT DISTINCT t.name FROM main.sqlite_schema AS t, pragma_foreign_key_list(t.name, 'main') AS f
      WHERE t.type = 'table' AND f.on_delete IN ('CASCADE', 'SET NULL', 'SET DEFAULT')
      ORDER BY t.name
      """
    ) { $0.text(0) }
    return try tables(names)
  }

  /// The tables of these names that can be read.
  func tables(_ names: [String]) throws -> [Table] {
    if names.isEmpty { return [] }
    let catalog = try Catalog(self)
    return names.compactMap { try? catalog.table($0, in: self).get() }
  }
}
