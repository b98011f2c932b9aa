package import CascadeModel
package import CascadeSQLite
package import CascadeStore
package import CascadeEngine
package import SQLiteBinding
package import SQLiteTables
internal import SQLiteJournal

extension Writer {
  func holdIfOverLimit() throws {
    guard let held = try planOverLimit() else { return }
    if ownsCauses || sweepRun.job != nil { throw held }
    try takeLock()
    // An approval covers one plan, once.
    try db.run(
      "DELETE FROM cascade_plan WHERE id = ? AND checksum = ? AND approved",
      .text(held.id), .integer(held.checksum))
    if db.changes == 0 { throw held }
    // Other plans of the file, made at other times, are obsolete.
    if !current.sweep.isSweep {
      try db.run("DELETE FROM cascade_plan WHERE id = ?", .text(held.id))
    }
    current.hold.wasApproved = true
  }

  /// The same for a plan that goes in steps. The approval stays stored: each step spends its part
  /// of it.
  package func holdUnlessApproved() throws -> HeldPlan? {
    guard let held = try planOverLimit() else { return nil }
    if ownsCauses || sweepRun.job != nil { throw held }
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
    return try current.sweep.isSweep ? planOfSweepOverLimit() : planOfFileOverLimit()
  }

  private func planOfFileOverLimit() throws -> HeldPlan? {
    if !facts.hold.needsSizes(current.counts.deletedCount, recent: [:]) { return nil }
    try addToPlan()
    let counts = current.hold.deletedByEarlierFlushes.collections
    let deletion = Hold.Deletion(counts.mapValues(\.gone))
    let verdict = facts.hold.judge(deletion) { name, _ in counts[name]?.all }
    return verdict == .passes ? nil : heldPlan(deletion)
  }

  private func planOfSweepOverLimit() throws -> HeldPlan? {
    if let job = sweepRun.job { return try planOverLimit(of: job) }
    let losses = try current.hold.holdsLosses ? db.losses(binding, current.numbers) : []
    let goesOn = try current.hold.holdsLosses && areWithinApproval(losses)
    if goesOn { try computePlannedLosses() }
    let deletion = Hold.Deletion(
      current.counts.deletedByCollection, losses: goesOn ? [] : losses,
      needsApproval: current.hold.holdsAll)
    let verdict = try judge(deletion)
    if verdict == .passes { return nil }
    sweepRun.isHeldForSum = verdict == .heldForSum
    if ownsCauses { return try planOfCauses(deletion) }
    try addToPlan(withDead: current.hold.holdsLosses && !goesOn)
    if current.hold.holdsLosses && !goesOn { try computePlannedLosses() }
    return heldPlan(deletion, lostCount: losses.reduce(0) { $0 + $1.gone })
  }

  /// Nothing is read for few nodes.
  private func judge(_ deletion: Hold.Deletion) throws -> Hold.Verdict {
    if let plan = sweepRun.plan {
      current.hold.wasApproved = true
      return try facts.hold.judge(deletion, approval: approval(of: plan)) { _, _ in nil }
    }
    let recent = try recentDeletions()
    let isFew = !facts.hold.needsSizes(current.counts.deletedCount, recent: recent)
    if isFew && deletion.losses.isEmpty && !deletion.needsApproval { return .passes }
    return try facts.hold.judge(deletion, recent: recent) { try size(of: $0, enough: $1) }
  }

  private func heldPlan(_ deletion: Hold.Deletion, lostCount: Int = 0) -> HeldPlan {
    HeldPlan(
      id: current.hold.id, deletedCount: current.counts.deletedCount,
      byCollection: deletion.nodes, lostCount: lostCount,
      checksum: Int64(bitPattern: current.hold.deletedByEarlierFlushes.checksum))
  }

  /// How many nodes a collection has, as far as it matters.
  package func size(of collection: String, enough: Int) throws -> Int {
    if sizes.isAtLeast(enough, collection) { return enough }
    let size = try db.size(of: collection, binding, most: min(enough, .max / 4) * 2)
    sizes.note(size, of: collection)
    return size
  }

  /// Adds what this flush deletes to the plan of the earlier flushes.
  func addToPlan(withDead: Bool = false) throws {
    var sum = try checksum(of: .all)
    if withDead {
      // To remove the references to nodes that no longer exist is part of the plan.
      current.hold.absentChecksum = try checksum(of: .all, counting: false)
      sum &+= current.hold.absentChecksum
    }
    current.hold.deletedByEarlierFlushes.add(try db.countsOfGone(binding), checksum: sum)
  }

  /// Independent of order and of ids: the same nodes give the same sum. `counting`: whether these
  /// are the nodes to delete, or those that do not exist.
  private func checksum(of slice: Slice, counting: Bool = true) throws -> UInt64 {
    let named = """
      SELECT g.collection, coalesce(n.key, k.key)
      FROM temp.gone AS g LEFT JOIN cascade_node AS n ON n.id = g.id
      LEFT JOIN temp.known AS k ON k.id = g.id WHERE g.id > 0
      """
    let byRow = binding.collections.values.filter { $0.numberBase != nil }.map { table in
      """
      SELECT g.collection, \(table.nodeKey(.byRowid))
      FROM temp.gone AS g CROSS JOIN \(table.node(.byRowid, "g.id")) WHERE true
      """
    }
    var sum: UInt64 = 0
    for nodes in [named] + byRow {
      try db.each(
        generated: "\(nodes) AND g.counts = ?3 AND g.seq > ?1 AND g.seq <= ?2",
        slice.bound + [.integer(counting ? 1 : 0)]
      ) { sum &+= Fingerprint("\($0.integer(0))/\($0.text(1))").value }
    }
    return sum
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
    return try db.integer(
      """
      INSERT INTO cascade_plan(plan, id, file, checksum, deleted) VALUES(?, ?, ?, ?, ?)
      ON CONFLICT(id, checksum) DO UPDATE SET file = excluded.file, ended = NULL RETURNING plan
      """, .integer(try db.nextInSequence(of: .lastPlan)), .text(held.id), .text(file),
      .integer(held.checksum), .integer(Int64(held.deletedCount)))!
  }

  /// Deletes the plans of a sweep except `plan`: what the sweep would do now waits for approval,
  /// not what it would have done before.
  package func deletePlans(ofSweep file: String, but plan: Int64?) throws {
    try db.run(
      """
      DELETE FROM cascade_plan
      WHERE id = '' AND file = ?1 AND plan IS NOT ?2 AND value IS NULL AND NOT owns
      """,
      .text(file), .integer(plan))
  }

  /// Deletes the plans of sweeps that only had some of these kinds: this sweep did their work.
  package func deletePlans(coveredBy kinds: [SweepKind]) throws {
    let files = try db.all("SELECT DISTINCT file FROM cascade_plan WHERE id = '' AND NOT owns") {
      $0.text(0)
    }
    for file in files where kinds.cover([SweepKind](planFile: file)) {
      try deletePlans(ofSweep: file, but: nil)
    }
  }

  /// Approves a plan. Nil if there is no such plan.
  package func approve(plan: Int64) throws -> ApprovedPlan? {
    let file = try group {
      try emptyWindow(ofOpen: plan)
      try letJobGoOn(ofPlan: plan)
      return try db.first(
        """
        UPDATE cascade_plan SET approved = 1, is_open = 0 WHERE plan = ? AND ended IS NULL
        RETURNING file
        """, .integer(plan)
      ) { $0.text(0) }
    }
    guard let file, file.isEmpty || file.hasPrefix("/") else { return file.map { .file($0) } }
    if let job = DeletionJob.job(ofPlanFile: file) { return .job(job) }
    return .sweep([SweepKind](planFile: file))
  }

  package var heldSweeps: [SweepResult] {
    get throws {
      if attachment.isDetached { return [] }
      return try db.all(
        """
        SELECT file, plan, deleted, value, referring, by_collection FROM cascade_plan
        WHERE id = '' AND NOT approved AND ended IS NULL ORDER BY plan
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
        held.byCollection = row.optionalText(5).map([String: Int].init(counts:)) ?? [:]
        return held
      }
    }
  }

  // MARK: - Files that are held

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
  /// How many nodes a collection has. It is counted no further than `most`.
  package func size(
    of collection: String, _ binding: Binding, most: Int = .max
  ) throws(SQLiteError) -> Int {
    let id = try integer("SELECT id FROM cascade_collection WHERE name = ?", .text(collection))
    let table =
      binding.collections[collection]
      ?? NodeTable(id: id ?? 0, collection: collection, kind: .managed)
    let size = try integer(
      generated: """
        SELECT count(*) FROM (
          SELECT 1 FROM \(table.rows) AS d WHERE \(table.isNode("d")) LIMIT ?)
        """, [.integer(Int64(most))])
    return Int(size ?? 0)
  }

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

/// References to nodes that no watch saw go: because a table was recreated and is still empty, for
/// example, or because the model names the wrong key. They are treated much like nodes: their
/// removal waits for approval.
extension Connection {
  /// Counts the references that would be removed because they lead to dead nodes in `temp.gone`,
  /// with the number of all references of their kind. Without `ofDeadOnly`, those that lead to any
  /// node in `temp.gone`.
  func losses(
    _ binding: Binding, _ numbers: NumberedTables, ofDeadOnly: Bool = true
  ) throws(SQLiteError) -> [CollectionCount] {
    let isDead = ofDeadOnly ? GoneRow.wentBefore("g") : "true"
    var losses: [CollectionCount] = []
    for relation in binding.edgeRelations {
      for (rows, all) in relation.losses(numbers) {
        losses.append(try count("\(rows) AND \(isDead)", all, relation.lossKey))
      }
    }
    for end in EdgeEnd.allCases {
      let edges = "FROM temp.gone AS g CROSS JOIN main.cascade_edge AS e ON e.\(end) = g.id"
      losses.append(try count("\(edges) WHERE \(isDead)", "main.cascade_edge", "\(end)"))
    }
    return losses
  }

  private func count(
    _ rows: String, _ all: String, _ name: String
  ) throws(SQLiteError) -> CollectionCount {
    let gone = try integer(generated: "SELECT count(*) \(rows)") ?? 0
    let all = gone == 0 ? 0 : try integer(generated: "SELECT count(*) FROM \(all)") ?? 0
    return CollectionCount(name: name, gone: Int(gone), all: Int(all))
  }
}

extension Writer {
  /// Whether a sweep that continues an approved plan may remove these references: the approval
  /// covers a number of each kind. Such a sweep also finds nodes dead that it deleted itself.
  /// Without an approval there is nothing to continue, even if a batch is open.
  func areWithinApproval(_ losses: [CollectionCount]) throws -> Bool {
    let approved = try db.integer(
      generated: "SELECT 1 FROM cascade_meta AS m WHERE \(MetaKey.isApprovedLosses) LIMIT 1")
    if approved == nil { return false }
    return try losses.byName.allSatisfy { try $1 <= db.meta(.approvedLosses($0)) ?? 0 }
  }

  func computePlannedLosses() throws {
    current.hold.approvedLosses = try db.losses(binding, current.numbers, ofDeadOnly: false).byName
  }

  /// Stores how many references of each kind may be removed: the number that was approved, and less
  /// each time that the sweep continues.
  package func persistApprovedLosses(isApproved: Bool) throws {
    if isApproved { try deleteApprovedLosses() }
    for (name, count) in current.hold.approvedLosses {
      let key = MetaKey.approvedLosses(name)
      let most = isApproved ? count : try db.meta(key) ?? 0
      try db.setMeta(key, min(count, most))
    }
  }

  package func deleteApprovedLosses() throws {
    try db.run(
      generated: "DELETE FROM cascade_meta AS m WHERE \(MetaKey.isApprovedLosses)")
  }
}

extension [CollectionCount] {
  fileprivate var byName: [String: Int64] {
    Dictionary(map { ($0.name, Int64($0.gone)) }, uniquingKeysWith: +)
  }
}

extension EdgeRelation {
  /// Distinguishes its kind of edges: name, source and destination.
  fileprivate var lossKey: String { "\(nameId) \(source.id) \(destination.id)" }

  /// The references that are lost, and the table of all references.
  fileprivate func losses(_ numbers: NumberedTables) -> [(rows: String, all: String)] {
    let lost = numbers.forms(of: destination).map {
      "\(edgesToDestinations(in: .gone, $0, numbers).text) AND \(leadsNowhereElse(staying: numbers))"
    }
    if case .join(let table, _, _) = form {
      let joins = numbers.forms(of: source).map {
        edgesFromSources(in: .gone, $0, withDestinations: false).text
      }
      return (lost + joins).map { ($0, "main.\(quoted(table.name))") }
    }
    if !rules.contains(.nullifySourceIfDestinationDeleted) { return [] }
    return lost.map { ($0, source.rows) }
  }
}
