package import CascadeModel
package import CascadeSQLite
internal import SQLiteBinding

/// The keys of `cascade_meta`: what a store remembers beside its rows, one integer for each key.
///
/// Only the writer sets them, in the transaction that makes them true. A key stays until a comment
/// says otherwise, at most until `detach`.
package enum MetaKey: Hashable, Sendable {
  // MARK: The store

  /// The version of Cascade's schema. Written once, with the tables. Every version of Cascade reads
  /// it, so its name never changes.
  case version
  /// The next id in `cascade_node`. Ids are never reused. Written with each commit that changes it,
  /// like the next two (`Counters`).
  case nextNodeId
  /// The number of the flush that is being prepared, which is that of its batch.
  case nextBatch
  /// The rules that any stored edge ever had, as bits. A rule that is not in use costs nothing.
  case rulesSeen
  /// The highest number of a notice that was acknowledged or has expired. Numbers continue behind
  /// it, even if no notice is left.
  case lastNotice
  /// The number of the last held plan, so that no later plan gets the same.
  case lastPlan
  /// When an operator paused the store, in milliseconds since 1970. Deleted when it is resumed.
  case paused
  /// The user who paused it. Deleted together with `paused`.
  case pausedBy
  /// 1: the application changes its tables, and no trigger is created. Deleted together with
  /// `paused`.
  case migrating
  /// The inode of the directory that last had something in it, for a root of files and its path
  /// (`MountedRoots.swift`).
  case fileRoot(String, path: String)

  /// What the wall clock last showed, in milliseconds since 1970: at the end of the daemon, and about
  /// every hour while it works.
  case lastTime
  /// By how many milliseconds the clock jumped, although that time had not passed, between this batch
  /// and the one before it.
  case clockJump(before: Int64)

  // MARK: The model and the tables

  /// The fingerprint of the references in values that the stored edges of values were made of;
  /// `Int64.min` if these have to be read again (`Rebuild.swift`).
  case valueReferences
  /// The fingerprint of the references in tables that the model described at last. If another model
  /// describes others, `firstWatch` is set.
  case tableReferences
  /// The fingerprint of the installed triggers that write the journal. If the triggers that exist
  /// have another one, they were changed from outside, and `watchGap` is set.
  case triggers
  /// 1 if a part of the model had no table when the triggers were installed; otherwise 0.
  case partlyBound
  /// 1: a collection existed before it was watched (`RescanReason`). Deleted by the sweep that
  /// scans whole tables, like `watchGap`.
  case firstWatch
  /// 1: for some time the tables were not watched.
  case watchGap

  // MARK: The journal

  /// The last row of the journal that a kind of sweep has read, if the other kind has not read
  /// equally far. Deleted when both have, and when the journal is empty.
  case journalRead(SweepKind)
  /// Up to this row of the journal, later sweeps need not explain the nodes that they find gone: an
  /// earlier sweep did. Deleted when the journal is empty, because its numbers then start again.
  case ownJournalEnd
  /// The last row of a range of the journal that a sweep wrote itself and has notified; the range
  /// begins behind the row in the key. Deleted with the rows of the range.
  case notified(behind: Int64)
  /// The batch of the sweep that wrote the first of these ranges. Set when the first range is
  /// written, and not deleted.
  case notifiedSince

  // MARK: Sweeps and undos

  /// The batch of a sweep that has deleted something and is not at its end. Deleted at its end.
  case sweepBatch
  /// The kinds that this sweep was asked for (`[SweepKind].code`). Deleted together with
  /// `sweepBatch`.
  case sweepKinds
  /// The kinds of sweeps that were cut short (`[SweepKind].code`). Deleted by a sweep of at least
  /// these kinds that reaches its end.
  case unfinishedKinds
  /// How many references of one kind the approved sweep may still remove. The kind is the numbers
  /// of the edge's name, its source's collection and its destination's; for stored edges, the end
  /// that they lose. Deleted at the end of the sweep.
  case approvedLosses(String)
  /// The batch whose undo has begun and is not at its end. Deleted at its end.
  case undoBatch
  /// Since when a kind of sweep runs by the clock, in milliseconds since 1970. Deleted when it no
  /// longer does.
  case sweepScheduledSince(SweepKind)
  /// When a kind of sweep last ran, in milliseconds since 1970. Overwritten by its next run, like
  /// the next one.
  case lastSweep(SweepKind)
  /// How that run ended and why it ran (`SweepRun.code`).
  case sweepOutcome(SweepKind)

  package var name: String {
    switch self {
    case .version: "version"
    case .nextNodeId: "next_node_id"
    case .nextBatch: "next_batch"
    case .rulesSeen: "rules_seen"
    case .lastNotice: "last_notice"
    case .lastPlan: "last_plan"
    case .paused: "paused"
    case .pausedBy: "paused.by"
    case .migrating: "migrating"
    case .fileRoot(let root, let path): "root.\(root):\(path)"
    case .lastTime: "clock.last"
    case .clockJump(let batch): "clock.jump.\(batch)"
    case .valueReferences: "value_references"
    case .tableReferences: "table_references"
    case .triggers: "triggers"
    case .partlyBound: "partly_bound"
    case .firstWatch: "first_watch"
    case .watchGap: "watch_gap"
    case .journalRead(let kind): "journal.read.\(kind.rawValue)"
    case .ownJournalEnd: "journal.own_end"
    case .notified(let row): "notified.\(row)"
    case .notifiedSince: "notified_since"
    case .sweepBatch: "sweep.batch"
    case .sweepKinds: "sweep.kinds"
    case .unfinishedKinds: "sweep.unfinished_kinds"
    case .approvedLosses(let references): "sweep.approved_losses.\(references)"
    case .undoBatch: "undo.batch"
    case .sweepScheduledSince(let kind): "sweep.scheduled_since.\(kind.rawValue)"
    case .lastSweep(let kind): "sweep.last.\(kind.rawValue)"
    case .sweepOutcome(let kind): "sweep.outcome.\(kind.rawValue)"
    }
  }

  /// A condition: the row `m` of `cascade_meta` is a range that was notified.
  package static let isNotifiedRange = "m.name GLOB 'notified.*'"
  /// The row behind which this range begins, as SQL.
  package static let startOfNotifiedRange =
    "CAST(substr(m.name, \("notified.".count + 1)) AS INTEGER)"
  /// By how much the clock jumped after a batch, as SQL.
  package static func clockJumps(after batch: String) -> String {
    """
    coalesce((SELECT sum(j.value) FROM cascade_meta AS j WHERE j.name GLOB 'clock.jump.*'
      AND CAST(substr(j.name, \("clock.jump.".count + 1)) AS INTEGER) > \(batch)), 0)
    """
  }

  /// A condition: the row `m` of `cascade_meta` is a number of approved losses.
  package static let isApprovedLosses = "m.name GLOB 'sweep.approved_losses.*'"
}

extension Connection {
  package func meta(_ key: MetaKey) throws(SQLiteError) -> Int64? {
    try integer("SELECT value FROM cascade_meta WHERE name = ?", .text(key.name))
  }

  package func setMeta(_ key: MetaKey, _ value: Int64) throws(SQLiteError) {
    try run(
      "INSERT INTO cascade_meta VALUES(?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
      .text(key.name), .integer(value))
  }

  package func deleteMeta(_ keys: MetaKey...) throws(SQLiteError) {
    for key in keys { try run("DELETE FROM cascade_meta WHERE name = ?", .text(key.name)) }
  }

  /// Deletes a key if it has this value.
  package func deleteMeta(_ key: MetaKey, ifEqual value: Int64) throws(SQLiteError) {
    try run(
      "DELETE FROM cascade_meta WHERE name = ? AND value = ?", .text(key.name), .integer(value))
  }

  /// The next number of a sequence. It was never given before, even if what had the last number no
  /// longer exists.
  package func nextInSequence(of key: MetaKey) throws(SQLiteError) -> Int64 {
    try integer(
      """
      INSERT INTO cascade_meta VALUES(?, 1) ON CONFLICT DO UPDATE SET value = value + 1
      RETURNING value
      """, .text(key.name))!
  }
}
