internal import CascadeModel
internal import CascadeSQLite
/// Rows that SQLite deletes with ours by an ON DELETE CASCADE of the application's, and that no rule
/// looks at: of tables that are no collections. And rows that stay, and lose a reference by ON DELETE SET
/// NULL or SET DEFAULT.
struct Follower {
  let table: Table
  /// What tells the rows that go with a slice, as SQL.
  let rows: String
  /// What they lose; nil where they go.
  let lost: Table.ForeignKey?
}

extension Writer {
  func followersOfForeignKeys(_ names: SliceNames = .inTrash) -> [Follower] {
    FollowerWays(binding.ways, current.numbers, names).followers()
  }

  /// What SQLite would do when these go. Those that are found by the way through others go first.
  func followForeignKeys(_ slice: Slice) throws {
    for follower in followersOfForeignKeys(.first).reversed() {
      if binding.standsIn(for: follower) { continue }
      let what = "a row of \"\(follower.table.name)\" cannot follow"
      try orRefused(slice, what, rows: [follower.rows]) { try db.take(follower, $0) }
    }
  }
}

extension Connection {
  fileprivate func take(_ follower: Follower, _ slice: Slice) throws(SQLiteError) {
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
  /// Those with a foreign key that changes rows.
  func tablesThatFollow() throws -> [Table] {
    let names = try all(
      """
      SELECT DISTINCT t.name FROM main.sqlite_schema AS t, pragma_foreign_key_list(t.name, 'main') AS f
      WHERE t.type = 'table' AND f.on_delete IN ('CASCADE', 'SET NULL', 'SET DEFAULT')
      ORDER BY t.name
      """
    ) { $0.text(0) }
    return try tables(names)
  }

  /// Those that can be read.
  func tables(_ names: [String]) throws -> [Table] {
    if names.isEmpty { return [] }
    let catalog = try Catalog(self)
    return names.compactMap { try? catalog.table($0, in: self).get() }
  }
}
