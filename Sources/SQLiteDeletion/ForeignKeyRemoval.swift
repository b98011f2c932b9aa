internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding
internal import SQLiteTables

extension Writer {
  /// Does what SQLite's foreign keys would do when the nodes of the slice go. Rows that are found
  /// by way of other rows go before these.
  func applyForeignKeyEffects(_ slice: Slice) throws {
    for follower in foreignKeyEffects().reversed() {
      if binding.rulesReplace(for: follower) { continue }
      let what = "a row of \"\(follower.table.name)\" cannot be deleted or changed"
      try attemptOrRefuse(slice, what, rows: { [follower.rows($0)] }) {
        let columns = follower.lost?.columns.map { "\(quoted($0)) = NULL" }
        let table = "main.\(quoted(follower.table.name)) AS r"
        let change = columns.map { "UPDATE \(table) SET \($0.joined(separator: ", "))" }
        try db.run(
          """
          \(change ?? "DELETE FROM \(table)")
          WHERE \(follower.table.identity("r")) IN (\(follower.rows($0)))
          """)
      }
    }
  }
}
