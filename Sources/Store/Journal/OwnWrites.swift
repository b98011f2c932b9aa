internal import CascadeModel
internal import CascadeSQLite
/// Where the application has triggers, ours are not quiet while we write: what those delete or
/// change when we delete or change a row is for the journal, like all that applications do. What we
/// did ourselves is judged already, and is taken out of it again.
extension Writer {
  /// To be asked before a statement of ours: what comes into the journal behind it is of that one.
  var journalMark: Int64 {
    get throws { binding.hasTriggers ? try db.lastInJournal : 0 }
  }

  /// Rows that are gone, and join rows with them. Who is loud leaves its rows in the journal, and no join
  /// rows that are no nodes: what another kind needs of these, `journalLostJoins` says.
  func forgetOwnRemovals(_ slice: Slice, behind mark: Int64) throws {
    if !binding.hasTriggers { return }
    for watch in watches {
      switch watch.meaning.subject {
      case .rows(let collection):
        guard !current.isLoud, let table = binding.collection(collection) else { continue }
        try db.forget(watch, "key", amongGone: table, behind: mark)
      case .joins:
        for place in binding.places where place.subject == watch.meaning.subject {
          if current.isLoud && binding.sideRows(of: place) == nil { continue }
          try db.forget(watch, "key", amongGone: place.source, behind: mark)
          guard let column = place.watched.first.flatMap(watch.column) else { continue }
          try db.forget(watch, column, amongGone: place.destination, behind: mark)
        }
      }
    }
  }

  /// References that were set to null because what they name goes: its row is there still, if it was.
  /// A row of many values comes in several rows of the journal, one behind the other.
  func forgetOwnNulls(of place: Place, _ slice: Slice, behind mark: Int64) throws {
    if !binding.hasTriggers { return }
    let meanings = binding.meanings(of: place.subject, evenWithoutValues: true)
    for watch in watches {
      guard let index = meanings.firstIndex(of: watch.meaning),
        let old = try binding.old(place, in: watch, db).first
      else { continue }
      let nulls = place.nulls(old)
      let rows = meanings.indices.map { "SELECT seq + \($0 - index) FROM (\(nulls))" }
      try db.run(
        generated: """
          DELETE FROM main.cascade_journal WHERE seq IN (\(rows.joined(separator: " UNION ")))
          """, [.integer(mark), .integer(watch.number)] + slice.bound)
    }
  }

  /// A row that was put or patched.
  func forgetOwnChange(of id: Int64, in table: NodeTable, behind mark: Int64) throws {
    if !binding.hasTriggers { return }
    for watch in watches where watch.meaning.subject == .rows(of: table.id) {
      try db.run(
        """
        DELETE FROM cascade_journal WHERE seq > ? AND what = ?
        AND key = (SELECT key FROM temp.known WHERE id = ?)
        """, .integer(mark), .integer(watch.number), .integer(id))
    }
  }
}

extension Connection {
  fileprivate func forget(
    _ watch: Watch, _ column: String, amongGone table: NodeTable, behind mark: Int64
  ) throws(SQLiteError) {
    try run(
      generated: """
        DELETE FROM main.cascade_journal
        WHERE seq > ?1 AND what = ?2 AND \(column) IN (\(table.keysOfGone))
        """, [.integer(mark), .integer(watch.number)])
  }
}

extension NodeTable {
  /// Of rows called g. They have names where the application has triggers, whatever their numbers.
  fileprivate var keysOfGone: String {
    "SELECT m.key FROM temp.gone AS g CROSS JOIN \(nodes) AS m ON m.id = g.id AND m.collection = \(id)"
  }
}

extension Place {
  /// The rows of the journal that remember a reference to what goes in the slice, however it is spelled.
  fileprivate func nulls(_ old: OldEdge) -> String {
    let going = "(\(destination.keysOfGone) WHERE g.seq > ?3 AND g.seq <= ?4)"
    return """
      SELECT o.seq FROM main.cascade_journal AS o \(old.values)
      WHERE o.seq > ?1 AND o.what = ?2 AND \(old.isEdge) AND (\(old.reference) IN \(going) OR (
        SELECT +\(destination.key("d")) FROM \(destination.rows) AS d
        WHERE \(destination.hasKey("d", old.reference))) IN \(going))
      """
  }
}
