internal import Model
internal import SQLite

/// Where the application has triggers, ours are not quiet while we write: what those delete or
/// change when we delete or change a row is for the journal, like all that applications do. What we
/// did ourselves is judged already, and is taken out of it again.
extension Writer {
  /// What comes into the journal from here on is of this transaction.
  func markJournal() throws {
    if !binding.hasTriggers { return }
    current.journalMark = try db.lastInJournal
  }

  /// Rows that are gone, and join rows with them.
  func forgetOwnRemovals(_ slice: Slice) throws {
    if !binding.hasTriggers || current.isLoud { return }
    for watch in watches {
      switch watch.meaning.subject {
      case .rows(let collection):
        guard let table = binding.collections[collection] else { continue }
        try db.forget(watch, "key", amongGone: table, after: current.journalMark)
      case .joins:
        for place in binding.places where place.subject == watch.meaning.subject {
          try db.forget(watch, "key", amongGone: place.source, after: current.journalMark)
          guard let column = place.watched.first.flatMap(watch.column) else { continue }
          try db.forget(watch, column, amongGone: place.destination, after: current.journalMark)
        }
      }
    }
  }

  /// A row that was put or patched.
  func forgetOwnChange(of id: Int64, in table: NodeTable) throws {
    if !binding.hasTriggers { return }
    for watch in watches where watch.meaning.subject == .rows(collection: table.collection) {
      try db.run(
        """
        DELETE FROM cascade_journal WHERE seq > ? AND what = ?
        AND key = (SELECT key FROM temp.known WHERE id = ?)
        """, .integer(current.journalMark), .integer(watch.number), .integer(id))
    }
  }
}

extension Connection {
  fileprivate func forget(
    _ watch: Watch, _ column: String, amongGone table: NodeTable, after mark: Int64
  ) throws(SQLiteError) {
    try run(
      generated: """
        DELETE FROM main.cascade_journal WHERE seq > ?1 AND what = ?2 AND \(column) IN (
          SELECT m.key FROM temp.gone AS g CROSS JOIN \(table.nodes) AS m
            ON m.id = g.id AND m.collection = \(table.id))
        """, [.integer(mark), .integer(watch.number)])
  }
}
