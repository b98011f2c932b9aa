internal import Model
internal import SQLite

/// What had a reason to go, and had to stay. What a sweep deletes later may be what denied it, so the
/// reason is kept (`Spared.swift`) until the sweep has looked again. No longer: nobody would write down
/// that the node is another one by then.
extension Connection {
  /// It may be held by what stays because of a lease; or by what another kind of sweep will delete.
  func remember(denied nodes: [Int64], by followed: Rules) throws(SQLiteError) {
    let denied: Int64 = try hasLeases ? 1 : followed == .all ? 4 : 2
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
  /// Whoever follows all rules and reads no journal is denied something by what a kind that reads it may
  /// delete.
  func leaveToOthers() throws {
    if current.readsJournal || asked.cascades && asked.counts { return }
    try db.run(
      """
      UPDATE temp.spared SET denied = 2 WHERE denied = 4 AND (
        EXISTS (SELECT 1 FROM cascade_journal)
        OR EXISTS (SELECT 1 FROM cascade_spared WHERE denied IN (1, 2, 3) AND rule))
      """)
  }

  func forgetDenied() throws {
    if try isDetached || !db.hasDenied { return }
    try group { try db.run("DELETE FROM cascade_spared WHERE denied = 4") }
  }
}

extension [SweepKind] {
  /// Whether something goes later than what the rules say.
  func marksBehindRules(of model: StoreModel) -> Bool { marks(from: model) && readsJournal }
}
