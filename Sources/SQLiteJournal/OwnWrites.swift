internal import CascadeModel
package import CascadeSQLite
package import SQLiteBinding
package import SQLiteTables

/// Removes Cascade's own writes from the journal. If the application has triggers, Cascade's
/// triggers are not muted while it writes: what the application's triggers delete or change in
/// response must be journaled, like all writes of applications. Cascade's own changes are handled
/// already, so they are removed again.
extension Writer {
  /// Read this before a statement of Cascade's: journal rows after this number come from the
  /// statement.
  package var journalMark: Int64 {
    get throws { binding.hasTriggers ? try db.lastInJournal : 0 }
  }

  /// Rows that are gone, and their join rows. A sweep that journals its own deletions (`journalsDeletions`)
  /// leaves its rows in the journal, but not the join rows that are no nodes: `journalLostJoins`
  /// records what another kind of sweep needs to know of those.
  package func unjournalOwnRemovals(_ slice: Slice, behind mark: Int64) throws {
    if !binding.hasTriggers { return }
    for watch in attachment.watches {
      switch watch.meaning.watchSubject {
      case .rows(let collection):
        guard !current.journalsDeletions, let table = binding.collection(collection) else {
          continue
        }
        try db.forget(watch, "key", amongGone: table, behind: mark)
      case .joins:
        for relation in binding.edgeRelations
        where relation.watchSubject == watch.meaning.watchSubject {
          if current.journalsDeletions && binding.joinRowsWithoutNodes(of: relation) == nil {
            continue
          }
          try db.forget(watch, "key", amongGone: relation.source, behind: mark)
          guard let column = relation.watchedValues.first.flatMap(watch.column) else { continue }
          try db.forget(watch, column, amongGone: relation.destination, behind: mark)
        }
      }
    }
  }

  /// References that were set to null because their destination is about to be deleted. The row of
  /// the destination still exists at this point, if it ever did. A row with many values is
  /// journaled as several consecutive rows.
  package func unjournalOwnNulls(of relation: EdgeRelation, _ slice: Slice, behind mark: Int64)
    throws
  {
    if !binding.hasTriggers { return }
    let meanings = binding.meanings(of: relation.watchSubject)
    for watch in attachment.watches {
      guard let index = meanings.firstIndex(of: watch.meaning),
        let old = try binding.journaledEdge(relation, in: watch, db).first
      else { continue }
      // The journal rows that recorded a reference to a node that goes in the slice, however it is
      // spelled.
      let destination = relation.destination
      let going = "(\(destination.keysOfGone) WHERE g.seq > ?3 AND g.seq <= ?4)"
      let nulls = """
        SELECT o.seq FROM main.cascade_journal AS o \(old.elementsJoin)
        WHERE o.seq > ?1 AND o.what = ?2 AND \(old.isEdge) AND (\(old.reference) IN \(going) OR (
          SELECT +\(destination.key("d")) FROM \(destination.rows) AS d
          WHERE \(destination.hasKey("d", old.reference))) IN \(going))
        """
      let rows = meanings.indices.map { "SELECT seq + \($0 - index) FROM (\(nulls))" }
      try db.run(
        generated: """
          DELETE FROM main.cascade_journal WHERE seq IN (\(rows.joined(separator: " UNION ")))
          """, [.integer(mark), .integer(watch.number)] + slice.bound)
    }
  }

  /// A join row that is no node, with the values that named its ends.
  package func unjournalOwnJoinRow(
    _ relation: EdgeRelation, _ source: Value, _ destination: Value, behind mark: Int64
  ) throws {
    if !binding.hasTriggers { return }
    for watch in attachment.watches where watch.meaning.watchSubject == relation.watchSubject {
      guard let column = relation.watchedValues.first.flatMap(watch.column) else { continue }
      try db.run(
        generated: """
          DELETE FROM main.cascade_journal
          WHERE seq > ?1 AND what = ?2 AND key IS ?3 AND \(column) IS ?4
          """, [.integer(mark), .integer(watch.number), source, destination])
    }
  }

  /// A row that was put or patched.
  package func unjournalOwnChange(of id: Int64, in table: NodeTable, behind mark: Int64) throws {
    if !binding.hasTriggers { return }
    for watch in attachment.watches where watch.meaning.watchSubject == .rows(of: table.id) {
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
  /// The keys of the rows of `temp.gone`, called g. If the application has triggers, each of them
  /// has a key in the table of nodes, however it is numbered.
  fileprivate var keysOfGone: String {
    "SELECT m.key FROM temp.gone AS g CROSS JOIN \(nodes) AS m ON m.id = g.id AND m.collection = \(id)"
  }
}
