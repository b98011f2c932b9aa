package import CascadeModel
package import CascadeSQLite
internal import SQLiteBinding

/// The keys of `cascade_meta`: what a store remembers beside its rows, one integer for each key.
///
/// Only the writer sets them, in the transaction that makes them true. The file that sets a key,
/// and how long the key lives, are in `deploy/guides/internals.md`.
package struct MetaKey: Hashable, Sendable {
  package let name: String

  private init(_ name: String) { self.name = name }

  // MARK: The store

  /// Every version of Cascade reads it, so its name never changes.
  package static let version = Self("version")
  /// The next id in `cascade_node`. Ids are never reused. Written with each commit that changes it,
  /// like the next two (`Counters`).
  package static let nextNodeId = Self("next_node_id")
  /// The number of the flush that is being prepared, which is that of its batch.
  package static let nextBatch = Self("next_batch")
  /// The rules that any stored edge ever had, as bits. A rule that is not in use costs nothing.
  package static let rulesSeen = Self("rules_seen")
  /// Numbers of notices continue behind it, even if no notice is left.
  package static let lastNotice = Self("last_notice")
  /// The last number of a node that went which was forgotten, with all before it.
  package static let forgottenDeleted = Self("forgotten_deleted")
  /// The number of the last held plan, so that no later plan gets the same.
  package static let lastPlan = Self("last_plan")
  /// When an operator paused the store, in milliseconds since 1970.
  package static let paused = Self("paused")
  package static let pausedBy = Self("paused.by")
  /// 1: the application changes its tables, and no trigger is created.
  package static let migrating = Self("migrating")
  /// The inode of the directory that last had something in it, for a root of files and its path
  /// (`MountedRoots.swift`).
  package static func fileRoot(_ root: String, path: String) -> Self {
    Self("root.\(root):\(path)")
  }

  /// What the wall clock last showed, in milliseconds since 1970: at the end of the daemon, and about
  /// every hour while it works.
  package static let lastTime = Self("clock.last")
  /// By how many milliseconds the clock jumped, although that time had not passed, between this batch
  /// and the one before it.
  package static func clockJump(before batch: Int64) -> Self { Self("clock.jump.\(batch)") }

  /// What tells this store from others, and what its copies have too: a random number, from when a root
  /// of files was first claimed.
  package static let storeId = Self("store_id")

  // MARK: The model and the tables

  /// The fingerprint of the references in values that the stored edges of values were made of;
  /// `Int64.min` if these have to be read again (`Rebuild.swift`).
  package static let valueReferences = Self("value_references")
  /// The fingerprint of the references in tables that the model described at last. If another model
  /// describes others, `firstWatch` is set.
  package static let tableReferences = Self("table_references")
  /// The fingerprint of the installed triggers that write the journal. If the triggers that exist
  /// have another one, they were changed from outside, and `watchGap` is set.
  package static let triggers = Self("triggers")
  /// 1 if a part of the model had no table when the triggers were installed; otherwise 0.
  package static let partlyBound = Self("partly_bound")
  /// 1: a collection existed before it was watched (`RescanReason`).
  package static let firstWatch = Self("first_watch")
  /// 1: for some time the tables were not watched.
  package static let watchGap = Self("watch_gap")

  /// 1: keys of tables have another type than before, and some that stored edges name have no row
  /// (`RetypedKeys.swift`).
  package static let retypedKeys = Self("retyped_keys")

  // MARK: The journal

  /// The last row of the journal that a kind of sweep has read, if the other kind has not read
  /// equally far.
  package static func journalRead(_ kind: SweepKind) -> Self {
    Self("journal.read.\(kind.rawValue)")
  }
  /// Up to this row of the journal, later sweeps need not explain the nodes that they find gone: an
  /// earlier sweep did. The numbers start again when the journal is empty.
  package static let ownJournalEnd = Self("journal.own_end")
  /// The last row of a range of the journal that a sweep wrote itself and has notified; the range
  /// begins behind the row in the key.
  package static func notified(behind row: Int64) -> Self { Self("notified.\(row)") }
  /// The batch of the sweep that wrote the first of these ranges.
  package static let notifiedSince = Self("notified_since")

  // MARK: Sweeps and undos

  /// The batch of a sweep that has deleted something and is not at its end.
  package static let sweepBatch = Self("sweep.batch")
  /// The kinds that this sweep was asked for (`[SweepKind].code`).
  package static let sweepKinds = Self("sweep.kinds")
  /// The approved plan that this sweep carries out, if it does.
  package static let sweepPlan = Self("sweep.plan")
  /// The kinds of sweeps that were cut short (`[SweepKind].code`).
  package static let unfinishedKinds = Self("sweep.unfinished_kinds")
  /// How many references of one kind the approved sweep may still remove. The kind is the numbers
  /// of the edge's name, its source's collection and its destination's; for stored edges, the end
  /// that they lose.
  package static func approvedLosses(_ references: String) -> Self {
    Self("sweep.approved_losses.\(references)")
  }
  /// The batch whose undo has begun and is not at its end.
  package static let undoBatch = Self("undo.batch")
  /// Since when a kind of sweep runs by the clock, in milliseconds since 1970.
  package static func sweepScheduledSince(_ kind: SweepKind) -> Self {
    Self("sweep.scheduled_since.\(kind.rawValue)")
  }
  /// When a kind of sweep last ran, in milliseconds since 1970.
  package static func lastSweep(_ kind: SweepKind) -> Self { Self("sweep.last.\(kind.rawValue)") }
  /// How that run ended and why it ran (`SweepRun.code`).
  package static func sweepOutcome(_ kind: SweepKind) -> Self {
    Self("sweep.outcome.\(kind.rawValue)")
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
