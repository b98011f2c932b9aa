package import CascadeModel
package import CascadeSQLite
package import CascadeStore
package import CascadePlanning
package import SQLiteBinding
package import SQLiteTables
internal import SQLiteJournal

extension Writer {
  func holdIfOverLimit() throws {
    guard let held = try planOverLimit() else { return }
    if try !takeApproval(held) { throw held }
    current.hold.wasApproved = true
  }

  /// The same for a plan that goes in steps. The approval stays stored: each step spends its part
  /// of it.
  package func holdUnlessApproved() throws -> HeldPlan? {
    guard let held = try planOverLimit() else { return nil }
    let approved = try db.integer(
      "SELECT 1 FROM cascade_plan WHERE id = ? AND checksum = ? AND approved", .text(held.id),
      .integer(held.checksum))
    if approved == nil { throw held }
    current.hold.wasApproved = true
    return held
  }

  private func planOverLimit() throws -> HeldPlan? {
    if !sweepRun.releasedNodes.isEmpty {
      // The plans of these nodes were approved before the sweep began.
      current.hold.wasApproved = true
      return nil
    }
    var limit = model.limits.hold
    let losses = try current.hold.holdsLosses ? db.losses(binding, current.numbers) : []
    let lostCount = losses.reduce(0) { $0 + $1.gone }
    let goesOn = try current.hold.holdsLosses && areWithinApproval(losses)
    if goesOn { try computePlannedLosses() }
    let isLoss = losses.areOver(limit) && !goesOn
    if current.hold.holdsAll { (limit.deletes, limit.share) = (0, 0) }
    let before = current.sweep.isSweep ? sweepRun.deletedByEarlierParts : [:]
    let deletedCount = before.values.reduce(current.counts.deletedCount, +)
    if deletedCount <= limit.deletes && !isLoss { return nil }
    try addToPlan(withDead: current.hold.holdsLosses && !goesOn)
    let counts = current.hold.deletedByEarlierFlushes.collections
    let isOver = counts.values.contains { $0.adding(before[$0.name] ?? 0).isOver(limit) }
    if !isOver && !isLoss { return nil }
    if current.hold.holdsLosses && !goesOn { try computePlannedLosses() }
    return HeldPlan(
      id: current.hold.id, deletedCount: current.counts.deletedCount,
      byCollection: counts.mapValues(\.gone), lostCount: lostCount,
      checksum: Int64(bitPattern: current.hold.deletedByEarlierFlushes.checksum))
  }

  /// Adds what this flush deletes to the plan of the earlier flushes.
  func addToPlan(withDead: Bool = false) throws {
    var sum = try checksum(of: .all)
    if withDead {
      current.hold.absentChecksum = try checksumOfDead()
      sum &+= current.hold.absentChecksum
    }
    current.hold.deletedByEarlierFlushes.add(try db.countsOfGone(binding), checksum: sum)
  }

  /// The sum of the nodes that no longer exist and to which references would be removed: removing
  /// these is part of the plan.
  private func checksumOfDead() throws -> UInt64 { try checksumOfNamed(.all, counting: false) }

  private func checksumOfNamed(_ slice: Slice, counting: Bool) throws -> UInt64 {
    var sum: UInt64 = 0
    try db.each(
      generated: """
        SELECT g.collection, coalesce(n.key, k.key)
        FROM temp.gone AS g LEFT JOIN cascade_node AS n ON n.id = g.id
        LEFT JOIN temp.known AS k ON k.id = g.id
        WHERE g.counts = ?3 AND g.id > 0 AND g.seq > ?1 AND g.seq <= ?2
        """, slice.bound + [.integer(counting ? 1 : 0)]
    ) { sum &+= $0.nodeFingerprint }
    return sum
  }

  /// Independent of order and of ids: the same nodes give the same sum.
  private func checksum(of slice: Slice) throws -> UInt64 {
    var sum = try checksumOfNamed(slice, counting: true)
    for table in binding.collections.values where table.numberBase != nil {
      try db.each(
        generated: """
          SELECT g.collection, \(table.nodeKey(.byRowid))
          FROM temp.gone AS g CROSS JOIN \(table.node(.byRowid, "g.id"))
          WHERE g.counts AND g.seq > ?1 AND g.seq <= ?2
          """, slice.bound
      ) { sum &+= $0.nodeFingerprint }
    }
    return sum
  }

  /// An approval covers one plan, once.
  func takeApproval(_ held: HeldPlan) throws -> Bool {
    try db.run(
      "DELETE FROM cascade_plan WHERE id = ? AND checksum = ? AND approved",
      .text(held.id), .integer(held.checksum))
    if db.changes == 0 { return false }
    // Other plans of the file, made at other times, are obsolete.
    if !current.sweep.isSweep {
      try db.run("DELETE FROM cascade_plan WHERE id = ?", .text(held.id))
    }
    return true
  }

  /// Subtracts what a step deletes from the approval. After a crash, the rest of the plan is still
  /// approved.
  package func spendApproval(_ slice: Slice) throws {
    if current.hold.approved != nil { try spendApproval(checksum(of: slice)) }
  }

  package func spendApproval(_ sum: UInt64) throws {
    guard let approved = current.hold.approved else { return }
    let rest = Int64(bitPattern: UInt64(bitPattern: approved) &- sum)
    try db.run(
      "UPDATE OR REPLACE cascade_plan SET checksum = ? WHERE id = ? AND checksum = ? AND approved",
      .integer(rest), .text(current.hold.id), .integer(approved))
    current.hold.approved = rest
  }

  /// Stores a held plan for `approve`. The same plan again is the same row, with the same number. A
  /// file that was approved, and would now do something else, has used up that approval.
  package func persistPlan(_ held: HeldPlan, file: String) throws -> Int64 {
    if held.id != HeldPlan.sweep {
      try db.run("DELETE FROM cascade_plan WHERE id = ? AND approved", .text(held.id))
    }
    try db.run(
      """
      INSERT INTO cascade_plan(plan, id, file, checksum, deleted) VALUES(?, ?, ?, ?, ?)
      ON CONFLICT(id, checksum) DO UPDATE SET file = excluded.file
      """, .integer(try db.nextInSequence(of: .lastPlan)), .text(held.id), .text(file),
      .integer(held.checksum),
      .integer(Int64(held.deletedCount)))
    return try db.integer(
      "SELECT plan FROM cascade_plan WHERE id = ? AND checksum = ?", .text(held.id),
      .integer(held.checksum))!
  }

  /// Deletes the plans of a sweep except `plan`: what the sweep would do now waits for approval,
  /// not what it would have done before.
  package func deletePlans(ofSweep file: String, but plan: Int64?) throws {
    try db.run(
      """
      DELETE FROM cascade_plan
      WHERE id = '' AND file = ?1 AND plan IS NOT ?2 AND value IS NULL
      """,
      .text(file), .integer(plan))
  }

  /// Deletes the plans of sweeps that only had some of these kinds: this sweep did their work.
  package func deletePlans(coveredBy kinds: [SweepKind]) throws {
    let files = try db.all("SELECT DISTINCT file FROM cascade_plan WHERE id = ''") {
      $0.text(0)
    }
    for file in files where kinds.cover([SweepKind](planFile: file)) {
      try deletePlans(ofSweep: file, but: nil)
    }
  }

  /// Approves a plan. Nil if there is no such plan.
  package func approve(plan: Int64) throws -> ApprovedPlan? {
    let file = try group {
      try db.first(
        "UPDATE cascade_plan SET approved = 1 WHERE plan = ? RETURNING file", .integer(plan)
      ) { $0.text(0) }
    }
    guard let file, file.isEmpty || file.hasPrefix("/") else { return file.map { .file($0) } }
    return .sweep([SweepKind](planFile: file))
  }

  /// The sweeps that wait for approval.
  package var heldSweeps: [SweepResult] {
    get throws {
      if attachment.isDetached { return [] }
      return try db.all(
        """
        SELECT file, plan, deleted, value, referring FROM cascade_plan
        WHERE id = '' AND NOT approved ORDER BY plan
        """
      ) { row in
        var held = SweepResult(kinds: [SweepKind](planFile: row.text(0)), outcome: .held)
        held.heldKinds = held.kinds
        held.plan = row.integer(1)
        held.heldCount = Int(row.integer(2))
        held.heldEdges = Int(row.integer(4))
        held.heldValue = row.optionalText(3).flatMap { try? JSON.parse($0) }.flatMap {
          HeldValue(identity: $0, count: held.heldEdges)
        }
        return held
      }
    }
  }
}

extension Row {
  /// The fingerprint of a node, from the columns: collection, key.
  fileprivate var nodeFingerprint: UInt64 { Fingerprint("\(integer(0))/\(text(1))").value }
}

// MARK: - Files that are held

extension Writer {
  /// The files other than `file` that wait for approval under the same id.
  package func filesHeld(underIdOf held: HeldPlan, but file: String) throws -> [String] {
    try db.all(
      "SELECT DISTINCT file FROM cascade_plan WHERE id = ? AND file <> ?", .text(held.id),
      .text(file)
    ) { $0.text(0) }
  }

  /// Drops the plans of a file that is no longer wanted.
  package func deletePlans(ofFile file: String) throws {
    try group { try db.run("DELETE FROM cascade_plan WHERE file = ?", .text(file)) }
  }
}

extension Connection {
  /// The name of a collection; nil for the files below a root, which are not nodes.
  func nameOfNodes(_ collection: Int64) throws(SQLiteError) -> String? {
    try first(
      "SELECT name FROM cascade_collection WHERE id = ? AND name NOT GLOB 'cascade_file/*'",
      .integer(collection)
    ) { $0.text(0) }
  }

  /// The number of nodes that go, by collection. A file is not a node, and does not count.
  package func goneByCollection() throws(SQLiteError) -> [(name: String, id: Int64, gone: Int)] {
    try all(
      """
      SELECT c.name, c.id, g.gone
      FROM (
        SELECT collection, count(*) AS gone FROM temp.gone WHERE counts GROUP BY 1
      ) AS g JOIN cascade_collection AS c ON c.id = g.collection
      WHERE c.name NOT GLOB 'cascade_file/*'
      """
    ) { (name: $0.text(0), id: $0.integer(1), gone: Int($0.integer(2))) }
  }

  /// The same, with the size of each collection. This reads through the tables.
  package func countsOfGone(_ binding: Binding) throws(SQLiteError) -> [CollectionCount] {
    var counts: [CollectionCount] = []
    for (name, id, gone) in try goneByCollection() {
      let table = binding.collections[name] ?? NodeTable(id: id, collection: name, kind: .managed)
      let all = try integer(
        generated: "SELECT count(*) FROM \(table.rows) AS d WHERE \(table.isNode("d"))")
      counts.append(CollectionCount(name: name, gone: gone, all: Int(all ?? 0)))
    }
    return counts
  }

  package func filesInGone() throws(SQLiteError) -> Int {
    let count = try integer(
      """
      SELECT count(*) FROM cascade_collection AS c CROSS JOIN temp.gone AS g
        ON g.collection = c.id
      WHERE c.name GLOB 'cascade_file/*'
      """)
    return Int(count ?? 0)
  }
}
