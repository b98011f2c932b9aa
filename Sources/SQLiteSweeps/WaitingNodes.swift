internal import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import CascadeEngine
internal import SQLiteBinding
internal import SQLiteTables
internal import SQLiteRules
internal import SQLiteDeletion

/// What only a held plan would let go, and what was given up with one. Sweeps that look for nodes
/// which nothing keeps (`unreachable`, `unreferenced`) would find these, too, but leave them and what
/// they lead to.
extension Writer {
  func findWaitingKeys() throws {
    try dropOverGivenUp()
    try db.empty(.waitingKeys)
    try db.run(
      """
      INSERT OR IGNORE INTO temp.waiting_keys SELECT collection, key FROM cascade_given_up
      """)
    for plan in try waitingCauses() {
      try exploring(plan) {
        try db.run(
          """
          INSERT OR IGNORE INTO temp.waiting_keys
          SELECT g.collection, coalesce(n.key, k.key) FROM temp.gone AS g
          LEFT JOIN cascade_node AS n ON n.id = g.id LEFT JOIN temp.known AS k ON k.id = g.id
          WHERE g.counts AND coalesce(n.key, k.key) IS NOT NULL
          """)
      }
    }
  }

  /// Finds what a plan would do now, in a snapshot. What `body` writes into temporary tables stays.
  func exploring(_ plan: ApprovedCauses, _ body: () throws -> Void) throws {
    let outer = (sweepRun.part, sweepRun.plan, sweepRun.unreferenced)
    (sweepRun.part, sweepRun.plan, sweepRun.unreferenced) = (plan.kinds, plan, nil)
    defer {
      (sweepRun.part, sweepRun.plan, sweepRun.unreferenced) = outer
      clearPlan()
      current = TransactionState()
    }
    try explore(body)
  }

  /// The same for what the part at hand would find.
  func explore(_ body: () throws -> Void) throws {
    try stoppableSnapshot {
      current = TransactionState()
      try prepare()
      try db.empty(.known)
      try takeBatch()
      try findDead()
      _ = try findGone()
      try db.storeKeysOfRows(binding, "SELECT id FROM temp.gone WHERE id < 0", [])
      try body()
      try clearFlushState()
      try db.commit()
    }
  }
}
