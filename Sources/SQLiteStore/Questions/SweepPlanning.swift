package import CascadeStore
package import CascadeModel
internal import CascadeSQLite
internal import CascadeSystem
internal import CascadePlanning
internal import SQLiteBinding
internal import SQLiteTables
internal import SQLiteJournal
internal import SQLiteRules
internal import SQLiteDeletion

extension Reader {
  /// What a sweep would delete.
  package func planSweep(_ kinds: [SweepKind], at now: Int64? = nil) throws -> Plan {
    let now = now ?? SystemClock.wall()
    let marks = kinds.sweepsUnreachable(from: model)
    var holdsValues = false
    var needsApproval = false
    var plan = try plan(ofSweep: true, following: kinds.followedRules, marks: marks, at: now) {
      let binding = try binding()
      if kinds.readsJournal {
        try JournalReader(binding: binding, watches: db.watches(), reportsCauses: true).read(
          db, above: db.journalStart(kinds), upTo: .max)
        try db.examineCandidates(binding, following: kinds.followedRules, at: now)
      }
      if kinds.scansTables {
        try db.addDanglingEnds(binding)
        holdsValues = try !db.heldValues(model, limit: 1).isEmpty
      }
      if kinds.sweepsUnreachable { try db.findUnreachable(binding, model, at: now) }
      if kinds.sweepsUnreferenced(of: model) {
        try db.findUnreferenced(binding, model.countedEnds, at: now)
        needsApproval = try db.unreferencedCounts().contains {
          !model.freelyUnreferenced.contains($0.name)
        }
      }
    }
    if kinds.sweepsFiles { plan.files += try unnamedFiles() }
    if kinds.deletesTrash {
      plan.batchesToDelete = try db.batchesInTrash(before: (now - model.trash.inMilliseconds, now))
    }
    let holdsAll = try kinds.scansTables && db.meta(.firstWatch) == 1
    if holdsAll && plan.deletedCount > 0 { plan.isOverLimit = true }
    if holdsValues || needsApproval { plan.isOverLimit = true }
    return plan
  }

  /// What the approval of a held value would delete.
  package func plan(ofHeld value: HeldValue) throws -> Plan {
    try plan(ofSweep: true, at: SystemClock.wall()) {
      try db.addDanglingEnds(binding(), releasing: [value.missing])
    }
  }

  func unnamedFiles() throws -> Int {
    let count = try db.integer(
      """
      SELECT count(*)
      FROM cascade_collection AS c CROSS JOIN cascade_node AS n ON n.collection = c.id
      WHERE c.name GLOB 'cascade_file/*'
      AND NOT EXISTS (SELECT 1 FROM cascade_edge WHERE destination = n.id)
      """)
    return Int(count ?? 0)
  }
}
