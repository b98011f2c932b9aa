internal import CascadeEngine
internal import CascadeModel
internal import CascadeSQLite
package import CascadeStore
internal import SQLiteBinding
internal import SQLiteTables
internal import SQLiteRules

/// What a job may not delete. Nothing is deleted then, unless it is to delete the rest.
package struct JobIsBlocked: Error, CustomStringConvertible {
  package let reasons: [Reason]
  package var description: String { "something has to stay" }
}

/// What is special about the deletions of a job.
extension Writer {
  /// What goes, without what the rules, a foreign key or a lease keeps, and what that needs: up to the nodes
  /// with which the job begins.
  func findGone(byJob closure: Closure) throws -> [Closure.Level] {
    guard let job = sweepRun.job else { return [] }
    let levels = try closure.complete(db)
    let denials = try db.denials(binding, current.numbers, stored: closure.rulesSeen)
    let leased = try leasedNodes()
    current.block(denials.map(\.reason) + leased.map(\.reason))
    if current.blocked.isEmpty { return levels }
    if !job.request.isPartial && job.batch == nil { throw JobIsBlocked(reasons: current.blocked) }
    for node in denials.map(\.denied) + leased.map(\.denied) {
      try db.run("INSERT OR IGNORE INTO temp.staying_nodes VALUES(?)", .integer(node))
    }
    while try findWhatStaysToo() {}
    try db.run("DELETE FROM temp.gone WHERE id IN (SELECT id FROM temp.staying_nodes)")
    // No sweep is to take them later, unless what they refer to went before.
    try db.run("DELETE FROM temp.new_candidates WHERE via NOT IN (SELECT id FROM temp.dead)")
    return try levels.countedAgain(db)
  }

  private static let leased = """
    SELECT id FROM temp.new_candidates WHERE waits_for = \(WaitsFor.lease.rawValue)
    UNION SELECT u.id FROM temp.unreachable_nodes AS u
    WHERE u.id IN (SELECT id FROM temp.leased)
    OR u.collection IN (SELECT id FROM temp.leased_collection)
    """

  private func leasedNodes() throws -> [Denial] {
    let protected = try db.protections(of: Writer.leased, binding)
    let known = Set(protected.map(\.denied))
    return try protected + leased().filter { !known.contains($0.denied) }
  }

  private func leased() throws -> [Denial] {
    try db.storeKeysOfRows(binding, "SELECT id FROM (\(Writer.leased)) WHERE id < 0")
    return try db.all(
      generated: """
        SELECT c.name, coalesce(k.key, n.key), x.id FROM (\(Writer.leased)) AS x
        LEFT JOIN temp.known AS k ON k.id = x.id LEFT JOIN cascade_node AS n ON n.id = x.id
        JOIN cascade_collection AS c ON c.id = coalesce(k.collection, n.collection)
        ORDER BY 1, 2
        """, []
    ) {
      Denial(
        denied: $0.integer(2), reason: .mustStay($0.node(0, model), because: DenialText.leased))
    }
  }

  // MARK: - What stays with what stays

  private static let staying = EdgeRelation.StartingNodes(
    rows: "(SELECT id, id AS seq FROM temp.staying_nodes) AS g", id: "g.id")

  /// One step from the nodes that stay. Returns whether it has found any.
  private func findWhatStaysToo() throws -> Bool {
    try stage(.source) { $0.isForeignKey || !$0.rules.isDisjoint(with: Rules.needingDestination) }
    try db.run(
      """
      INSERT INTO temp.staged(id) SELECT e.destination FROM temp.staying_nodes AS g
      CROSS JOIN main.cascade_edge AS e ON e.source = g.id AND e.rules & \(Rules.needingDestination.rawValue)
      """)
    let needed = try keepStaged()
    try stage(.destination) { $0.rules.contains(.denySourceDeletion) }
    let denied = try keepStaged()
    return try keepCounted() || needed || denied
  }

  /// The nodes at the other end of edges whose end stays.
  private func stage(_ end: EdgeEnd, where isMeant: (EdgeRelation) -> Bool) throws {
    for relation in binding.examinedRelations where isMeant(relation) && !relation.leadsToFiles {
      try db.stageNodes(
        losing: end, of: relation, rule: 0, in: .allNumbers, current.numbers,
        from: Writer.staying)
    }
  }

  private func keepStaged() throws -> Bool {
    try db.numberFound()
    try db.run(
      """
      INSERT OR IGNORE INTO temp.staying_nodes
      SELECT f.id FROM temp.staged AS f CROSS JOIN temp.gone AS g ON g.id = f.id WHERE g.counts
      """)
    let found = db.changes > 0
    try db.clearFound()
    return found
  }

  /// What would go because nothing else refers to it, or with a node that stays.
  private func keepCounted() throws -> Bool {
    var found = false
    for relation in binding.examinedRelations
    where !relation.rules.isDisjoint(with: .ofLostSource) && !relation.leadsToFiles {
      try db.stageNodes(
        losing: .source, of: relation, rule: 0, in: .allNumbers, current.numbers,
        from: Writer.staying)
      try db.numberFound()
      try db.run(
        """
        INSERT OR IGNORE INTO temp.staying_nodes
        SELECT f.id FROM temp.staged AS f CROSS JOIN temp.gone AS g ON g.id = f.id
        WHERE g.counts AND g.rule & \(Rules.ofLostSource.rawValue) AND g.name = \(relation.nameId)
        """)
      found = db.changes > 0 || found
      try db.clearFound()
    }
    try db.run(
      """
      INSERT OR IGNORE INTO temp.staying_nodes
      SELECT g.id FROM temp.staying_nodes AS s CROSS JOIN main.cascade_edge AS e ON e.source = s.id
      CROSS JOIN temp.gone AS g ON g.id = e.destination AND g.name = e.name
      WHERE g.counts AND g.rule & \(Rules.ofLostSource.rawValue)
      """)
    return db.changes > 0 || found
  }

  // MARK: - The hold

  func planOverLimit(of job: DeletionJob) throws -> HeldPlan? {
    let (count, nodes) = (current.counts.deletedCount, current.counts.deletedByCollection)
    sweepRun.job!.total = job.deletedCount + count
    if job.request.erasure?.before.isEmpty == true { sweepRun.job!.request.erasure!.before = nodes }
    let verdict = try facts.hold.judge(
      job, deleting: nodes, areDoubtful: { try db.areDoubtful(db.overdueRows($0, binding)) },
      size: { try size(of: $0, enough: $1) })
    if verdict == .passes { return nil }
    return HeldPlan(
      id: job.planFile, deletedCount: count, byCollection: nodes, lostCount: 0, checksum: 0)
  }

  // MARK: - Its row

  /// Called in the transaction that deletes.
  func noteDeletedByJob(_ nodes: [String: Int]) throws {
    let nodes = nodes.filter { $0.value > 0 }
    if !nodes.isEmpty || current.done > 0 { sweepRun.job!.batch = current.batch }
    sweepRun.job!.deletedCount += nodes.values.reduce(0, +)
    sweepRun.job!.byCollection.merge(nodes, uniquingKeysWith: +)
    try db.save(sweepRun.job!)
  }

  /// What an operator approves may go, with what went before.
  func letJobGoOn(ofPlan plan: Int64) throws {
    try db.run(
      """
      UPDATE cascade_job SET state = ?2, approved = deleted
        + (SELECT p.deleted FROM cascade_plan AS p WHERE p.plan = ?1)
      WHERE plan = ?1 AND state = ?3
      """, .integer(plan), .text(DeletionJob.State.running.rawValue),
      .text(DeletionJob.State.held.rawValue))
  }
}
