internal import CascadeModel
internal import CascadeSQLite

/// Nodes that had a reason to go, but had to stay. The sweep may later delete what denied them, so
/// the reason is kept (`Spared.swift`) until the sweep has examined them again. It is not kept
/// longer: if another node took the key meanwhile, nothing would record that.
extension Connection {
  func remember(denied nodes: [Int64], as denied: Int64) throws(SQLiteError) {
    for node in nodes {
      try run(
        """
        INSERT OR IGNORE INTO temp.spared(id, via, name, rule, collection, denied)
        SELECT id, via, name, rule, collection, ? FROM temp.gone WHERE id = ? AND rule <> 0
        """, .integer(denied), .integer(node))
    }
  }

  func forgetRememberedForRest() throws(SQLiteError) {
    try run("DELETE FROM temp.spared WHERE denied = 4")
  }

  var hasDenied: Bool {
    get throws(SQLiteError) {
      try integer("SELECT 1 FROM cascade_spared WHERE denied = 4 LIMIT 1") != nil
    }
  }
}

extension Writer {
  /// How long the reason is kept, as a value of `denied`: 1, while there are leases, as one of them
  /// may be why the denier stays; 2, for another kind of sweep; 4, until the end of this sweep.
  var keepsDeniedAs: Int64 {
    get throws {
      if try db.hasLeases { return 1 }
      return try current.followed != .all || waitsForOthers ? 2 : 4
    }
  }

  /// Whether another kind, which reads the journal as this one does not, may delete what denied a
  /// node.
  private var waitsForOthers: Bool {
    get throws {
      if current.readsJournal || asked.cascades && asked.counts { return false }
      return try db.integer(
        """
        SELECT EXISTS (SELECT 1 FROM cascade_journal)
        OR EXISTS (SELECT 1 FROM cascade_spared WHERE denied IN (1, 2, 3) AND rule)
        """) == 1
    }
  }

  func forgetDenied() throws {
    if try isDetached || !db.hasDenied { return }
    try group { try db.run("DELETE FROM cascade_spared WHERE denied = 4") }
  }
}

extension [SweepKind] {
  /// Whether unreachable nodes go later than what the rules find.
  func marksBehindRules(of model: StoreModel) -> Bool { marks(from: model) && readsJournal }
}
