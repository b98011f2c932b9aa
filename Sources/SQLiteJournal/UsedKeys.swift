internal import CascadeModel
internal import CascadeSQLite
package import SQLiteBinding
internal import SQLiteTables

/// A key that an application used again after it had deleted the node. What has the key now is
/// another node, and nothing that was lost before concerns it: what was lost until its predecessor was
/// deleted, and, since an edge to nothing is no edge of it, what was lost until it came.
///
/// With `recursive_triggers` a REPLACE of a row by one with the same key fires the triggers of a deletion and
/// of an insertion, and is taken for these.
///
/// A trigger journals a row that comes under the key of one that was deleted, where the journal has that.
/// Where it has not, for instance because the trigger is new, no loss in the journal counts: what the new
/// node has lost is found by a sweep of unreferenced nodes then.
extension JournalReader {
  /// Finds the nodes that were deleted and are there. Returns whether there are any.
  func findUsedKeys(_ db: borrowing Connection, _ rows: [Value]) throws -> Bool {
    for watch in watches {
      guard case .rows(let collection) = watch.meaning.watchSubject,
        let table = binding.collection(collection), binding.mayHaveLost(table)
      else { continue }
      if scope.plan != nil { try findKeysUsedSince(db, table) }
      // A deletion ends what a plan says of the node, also if another plan, or none, owns it.
      let condition = scope.plan == nil ? scope.and("j") : ""
      try db.run(
        generated: """
          INSERT OR IGNORE INTO temp.used_keys(collection, key, row, since)
          SELECT \(table.id), \(table.key("d")), \(table.row("d")), coalesce(
            (SELECT max(a.seq) FROM (\(arrivals(table))) AS a
              WHERE a.key = j.key HAVING max(a.seq) > max(j.seq)),
            \(Int64.max))
          FROM main.cascade_journal AS j
          CROSS JOIN \(table.rows) AS d ON \(table.hasKey("d", "j.key"))
          WHERE \(isDeletion("j", of: table)) AND j.seq > ?2 AND j.seq <= ?3 \(condition)
          GROUP BY j.key
          """, [.integer(watch.number)] + rows)
      if scope.areAnyOwned { try findUsedKeysOfPlans(db, watch, table, rows) }
    }
    return try db.integer("SELECT 1 FROM temp.used_keys LIMIT 1") != nil
  }

  /// Whether the row of the journal tells that a node of the table was deleted, by an application
  /// or the daemon.
  private func isDeletion(_ row: String, of table: NodeTable) -> String {
    """
    (\(row).what = ?1 OR \(row).what = \(JournalSubject.ownDeletion) AND \(row).a = \(table.id))
    AND \(GoneMark.isDeletion(row))
    """
  }

  /// The rows that tell that a key of the table was used again.
  private func arrivals(_ table: NodeTable) -> String {
    let remembered = """
      UNION ALL SELECT key, arrived FROM main.cascade_plan_used
      WHERE collection = \(table.id) AND arrived IS NOT NULL
      """
    return """
      SELECT n.key, n.seq FROM main.cascade_journal AS n
      WHERE n.what = \(JournalSubject.arrival) AND n.seq > ?2 AND n.seq <= ?3 AND n.a = \(table.id)
      \(scope.areAnyOwned ? remembered : "")
      """
  }

  /// The same where the journal does not tell of the deletion any more.
  private func findKeysUsedSince(_ db: borrowing Connection, _ table: NodeTable) throws {
    try db.run(
      generated: """
        INSERT OR IGNORE INTO temp.used_keys(collection, key, row, since)
        SELECT \(table.id), \(table.key("d")), \(table.row("d")),
          iif(u.arrived > u.gone, u.arrived, \(Int64.max))
        FROM main.cascade_plan_used AS u
        CROSS JOIN \(table.rows) AS d ON \(table.hasKey("d", "u.key"))
        WHERE u.collection = \(table.id) AND u.gone IS NOT NULL
        """)
  }

  /// The same where a plan owns the deletion.
  private func findUsedKeysOfPlans(
    _ db: borrowing Connection, _ watch: Watch, _ table: NodeTable, _ rows: [Value]
  ) throws {
    try db.run(
      generated: """
        INSERT OR IGNORE INTO temp.used_keys(collection, key, row, since)
        SELECT \(table.id), \(table.key("d")), \(table.row("d")), max(a.seq)
        FROM (\(arrivals(table))) AS a
        CROSS JOIN \(table.rows) AS d ON \(table.hasKey("d", "a.key"))
        WHERE EXISTS (SELECT 1 FROM main.cascade_journal AS h
          WHERE h.\(GoneMark.find(GoneMark.indexed)) AND h.key = a.key
          AND \(isDeletion("h", of: table)) AND h.seq < a.seq AND \(JournalScope.isOwned("h")))
        GROUP BY a.key
        """, [.integer(watch.number)] + rows)
  }

  /// Drops what these nodes had not lost themselves. What the deletion of their predecessors means to
  /// others stays.
  func dropLosses(ofUsedKeysIn db: borrowing Connection) throws {
    for end in EdgeEnd.allCases {
      try db.run(
        generated: """
          DELETE FROM temp.journaled_losses WHERE removal = \(end.other.removal) AND EXISTS (
            SELECT 1 FROM temp.used_keys AS u
            WHERE u.collection = \(end)_collection AND u.key = \(end)_key
            AND coalesce(journaled_losses.seq <= u.since, 1))
          """, [])
    }
  }

  /// Numbers these nodes, and those that are gone, for the edges that have neither in their rows
  /// (`Closure`).
  func numberUsedKeys(_ db: borrowing Connection) throws {
    try db.run(
      "INSERT INTO temp.staged(collection, key, row) SELECT collection, key, row FROM temp.used_keys"
    )
    try db.numberFound(
      movingBy: """
        INSERT OR IGNORE INTO temp.used_nodes SELECT f.id, u.since FROM temp.staged AS f
        JOIN temp.used_keys AS u ON u.collection = f.collection AND u.key = f.key
        """)
    for table in binding.collections.values {
      guard let base = table.numberBase else { continue }
      try db.run(
        """
        INSERT OR IGNORE INTO temp.used_nodes SELECT ? + row, since FROM temp.used_keys
        WHERE collection = ? AND row NOTNULL
        """, .integer(base), .integer(table.id))
    }
    try db.run("INSERT OR IGNORE INTO temp.deleted_nodes SELECT id, last FROM temp.gone_since")
    // The application has removed these join rows itself.
    try db.run(
      """
      DELETE FROM temp.lost_edges WHERE EXISTS (
        SELECT 1 FROM temp.used_nodes AS u CROSS JOIN temp.deleted_nodes AS o ON o.id = lost_edges.source
        WHERE u.id = lost_edges.destination AND o.last <= u.since
          AND lost_edges.removal = ?)
      """, .integer(Removal.sourceDeleted.code))
  }
}

extension Binding {
  /// Whether anything may follow for a node of the table when it loses an edge that the journal tells of.
  fileprivate func mayHaveLost(_ table: NodeTable) -> Bool {
    edgeRelations.contains {
      $0.destination == table && !$0.rules.isDisjoint(with: .following(losing: .source))
        || $0.source == table && $0.isWatched
    }
  }

  /// Whether it is journaled that a row comes under the key of one that was deleted: where an edge that it
  /// may lose is in the row of another table. That table may be away: this is for the model to say.
  package func journalsArrivals(_ table: NodeTable) -> Bool {
    model.relationships.contains {
      $0.to.collections.contains(table.collection)
        && !$0.rules.isDisjoint(with: .following(losing: .source))
        || $0.from == table.collection && $0.edgeStorage.isJoin
          && !$0.rules.isDisjoint(with: .following(losing: .destination))
    }
  }
}

extension WatchedTable {
  var onArrival: [Trigger] {
    guard let arrivals else { return [] }
    let wasDeleted = """
      EXISTS (SELECT 1 FROM cascade_journal WHERE \(GoneMark.find(GoneMark.indexed)) AND key = \(key("NEW")) \
      AND (what IN (\(watchesOfNodes)) \
      OR what = \(JournalSubject.ownDeletion) AND a = \(arrivals)))
      """
    let note = """
      INSERT INTO cascade_journal(what, key, a) \
      VALUES(\(JournalSubject.arrival), \(key("NEW")), \(arrivals))
      """
    return [
      Trigger("cascade_arrive_\(name)", "AFTER INSERT", on: table, when: wasDeleted, [note]),
      Trigger(
        "cascade_arrive_key_\(name)", "AFTER UPDATE\(table.assignments(to: keyColumns))", on: table,
        when: "\(isOtherKey) AND \(wasDeleted)", [note]),
    ]
  }
}
