internal import CascadeModel
package import CascadeSQLite
internal import CascadePlanning
package import SQLiteBinding
package import SQLiteTables
internal import SQLiteJournal

/// Nodes that had a reason to go, but had to stay. The sweep may later delete what denied them, so
/// the reason is kept (`PendingCandidates.swift`) until the sweep has examined them again. It is
/// not kept longer: if another node took the key meanwhile, nothing would record that.
extension Connection {
  func remember(denied nodes: [Int64], as reason: WaitsFor) throws(SQLiteError) {
    for node in nodes {
      try run(
        """
        INSERT OR IGNORE INTO temp.new_candidates(id, via, name, rule, collection, waits_for)
        SELECT id, via, name, rule, collection, ? FROM temp.gone WHERE id = ? AND rule <> 0
        """, .integer(reason.rawValue), .integer(node))
    }
  }

  package func clearDenialsOfThisSweep() throws(SQLiteError) {
    try run(
      "DELETE FROM temp.new_candidates WHERE waits_for = ?",
      .integer(WaitsFor.restOfSweep.rawValue))
  }

  package var hasDenialsOfThisSweep: Bool {
    get throws(SQLiteError) {
      try integer(
        "SELECT 1 FROM cascade_candidate WHERE waits_for = ? LIMIT 1",
        .integer(WaitsFor.restOfSweep.rawValue)) != nil
    }
  }
}

extension Writer {
  /// How long the reason is kept: while there are leases, as one of them may be why the denier
  /// stays; for another kind of sweep; or until the end of this sweep.
  package var denialRetention: WaitsFor {
    get throws {
      if try db.hasLeases { return .anyDeletion }
      return try current.sweep.followedRules != .all || mayBeUndeniedByOtherKind
        ? .deletionByOtherKind : .restOfSweep
    }
  }

  /// Whether another kind, which reads the journal as this one does not, may delete what denied a
  /// node.
  private var mayBeUndeniedByOtherKind: Bool {
    get throws {
      let kinds = sweepRun.requestedKinds
      if current.sweep.readsJournal || kinds.cascades && kinds.counts { return false }
      return try db.integer(
        generated: """
          SELECT EXISTS (SELECT 1 FROM cascade_journal) OR EXISTS (
            SELECT 1 FROM cascade_candidate WHERE waits_for IN \(WaitsFor.laterSweeps) AND rule)
          """) == 1
    }
  }

  package func deleteDenialsOfThisSweep() throws {
    if try attachment.isDetached || !db.hasDenialsOfThisSweep { return }
    try group {
      try db.run(
        "DELETE FROM cascade_candidate WHERE waits_for = ?",
        .integer(WaitsFor.restOfSweep.rawValue))
    }
  }
}
