internal import CascadeModel
internal import CascadeSQLite
package import CascadeStore
internal import CascadeEngine
internal import SQLiteBinding
package import SQLiteTables
internal import SQLiteJournal
internal import SQLiteRules
internal import SQLiteEdges
internal import SQLiteDeletion

/// The other answer to a held plan: its causes are given up.
///
/// 1. What it would have deleted first, and what still refers to what is gone, is written down
///    (`cascade_given_up`), in the transaction that ends the plan. No scan of whole tables takes it, nor what
///    it leads to. The journal does not tell of it any more.
/// 2. A node that is deleted, or whose reference leads elsewhere, is free of it; so is all that refers to
///    a node that is there again, and then deleted again.
/// 3. What the application had deleted itself, as far as it was kept, is a batch then, which is to be undone:
///    with that, what refers to it is given up no more.
/// 4. The plan's row stays, for the same answer again.
extension Writer {
  /// Also returns the batch that is to be undone, if there is one.
  package func giveUp(
    plan number: Int64, at now: Int64
  ) throws -> (answer: RejectedPlan?, batch: Int64?) {
    clock.now = now
    guard let plan = try storedPlan(number) else { return (nil, nil) }
    if plan.end == .rejected { return (plan.answer, nil) }
    if plan.end == .carriedOut || plan.isApproved { return (nil, nil) }
    if let job = plan.job {
      try reject(job: job)
      return (RejectedPlan(plan: number), nil)
    }
    try adaptToSchema()
    let count = try plan.isOfFile || plan.value != nil ? plan.referring : findGivenUp(plan)
    defer { clearPlan() }
    let batch = try group {
      try emptyWindow(ofOpen: number)
      try storeGivenUp()
      let batch = try takeKept(ofRejected: number)
      try db.run("DELETE FROM cascade_candidate WHERE plan = ?", .integer(number))
      try endPlan(number, as: .rejected)
      try db.run(
        "UPDATE cascade_plan SET given_up = ? WHERE plan = ?", .integer(Int64(count)),
        .integer(number))
      return batch
    }
    try removeEndedRows()
    return (try storedPlan(number)?.answer, batch)
  }

  /// Makes a batch of what was kept of its causes. Nil if that is nothing.
  private func takeKept(ofRejected plan: Int64) throws -> Int64? {
    current = TransactionState()
    current.batch = identities.counters.serial
    try takeKept(ofPlan: plan)
    if current.counts.kept == 0 { return nil }
    // It comes back, so the list of deleted nodes does not have it.
    try db.run("DELETE FROM cascade_deleted WHERE batch = ?", .integer(current.batch))
    try record(sweepSubmission)
    identities.counters.serial += 1
    try db.setMeta(.undoBatch, current.batch)
    return current.batch
  }

  /// Notes what is back, and what stays given up all the same.
  package func note(
    restored: Int, givenUp: Int, ofRejected plan: Int64
  ) throws -> RejectedPlan? {
    try group {
      try db.run(
        "UPDATE cascade_plan SET restored = ?, given_up = ? WHERE plan = ?",
        .integer(Int64(restored)), .integer(Int64(givenUp)), .integer(plan))
    }
    return try storedPlan(plan)?.answer
  }

  /// How much is given up, after what is over.
  package func countGivenUp() throws -> Int {
    try dropOverGivenUp()
    return Int(try db.integer("SELECT count(*) FROM cascade_given_up WHERE name <> 0") ?? 0)
  }

  private struct StoredPlan {
    let number: Int64
    let id: String
    let file: String
    let owns: Bool
    let isApproved: Bool
    let value: String?
    let referring: Int
    let end: PlanEnd?
    let givenUp: Int
    let ownEnd: Int64
    let restored: Int

    var job: Int64? { DeletionJob.job(ofPlanFile: file) }
    var isOfFile: Bool { !id.isEmpty && job == nil }
    var answer: RejectedPlan {
      RejectedPlan(
        plan: number, file: isOfFile ? file : nil, restored: restored, givenUp: givenUp)
    }
  }

  private func storedPlan(_ number: Int64) throws -> StoredPlan? {
    try db.first(
      """
      SELECT id, file, owns, approved, value, coalesce(referring, 0), ended, given_up,
        coalesce(own_end, 0), restored
      FROM cascade_plan WHERE plan = ?
      """, .integer(number)
    ) { row in
      StoredPlan(
        number: number, id: row.text(0), file: row.text(1), owns: row.integer(2) != 0,
        isApproved: row.integer(3) != 0, value: row.optionalText(4),
        referring: Int(row.integer(5)), end: PlanEnd(rawValue: row.integer(6)),
        givenUp: Int(row.integer(7)), ownEnd: row.integer(8), restored: Int(row.integer(9)))
    }
  }

  // MARK: - What is given up

  /// Finds it, in a snapshot. Returns how much it is.
  private func findGivenUp(_ plan: StoredPlan) throws -> Int {
    let kinds = [SweepKind](planFile: plan.file)
    var count = 0
    let find = { [self] in count = try stageGivenUp() }
    if plan.owns {
      let causes = ApprovedCauses(number: plan.number, kinds: kinds, ownEnd: plan.ownEnd)
      try exploring(causes, find)
    } else {
      sweepRun = SweepRunState(of: kinds)
      sweepRun.part = kinds
      defer { sweepRun = SweepRunState() }
      if kinds.include(.unreferenced) { sweepRun.unreferenced = (model.countedEnds, true) }
      try explore(find)
      clearPlan()
      current = TransactionState()
    }
    return count
  }

  /// A node whose cause is not itself one that would go: the others follow only from it.
  private func stageGivenUp() throws -> Int {
    try db.empty(.givenUp)
    try db.run(
      """
      INSERT OR IGNORE INTO temp.given_up
      SELECT g.collection, coalesce(n.key, k.key), coalesce(g.name, 0),
        coalesce(v.collection, vk.collection, 0), coalesce(v.key, vk.key, ''), g.rule
      FROM temp.gone AS g
      LEFT JOIN cascade_node AS n ON n.id = g.id LEFT JOIN temp.known AS k ON k.id = g.id
      LEFT JOIN cascade_node AS v ON v.id = g.via LEFT JOIN temp.known AS vk ON vk.id = g.via
      WHERE coalesce(n.key, k.key) IS NOT NULL
      AND g.counts AND NOT EXISTS (SELECT 1 FROM temp.gone AS c WHERE c.id = g.via AND c.counts)
      """)
    let nodes = db.changes
    try stageGivenUpReferences()
    let references = try db.integer("SELECT count(*) FROM temp.given_up") ?? 0
    // What is gone itself: no scan takes references to it.
    try db.run(
      """
      INSERT OR IGNORE INTO temp.given_up
      SELECT g.collection, coalesce(n.key, k.key), 0, g.collection, coalesce(n.key, k.key), 0
      FROM temp.gone AS g
      LEFT JOIN cascade_node AS n ON n.id = g.id LEFT JOIN temp.known AS k ON k.id = g.id
      WHERE \(GoneRow.wentBefore("g")) AND coalesce(n.key, k.key) IS NOT NULL
      """)
    return max(nodes, Int(references))
  }

  /// References that would have been set to null, or whose join rows would have gone.
  private func stageGivenUpReferences() throws {
    let isGone = GoneRow.wentBefore("g")
    for relation in binding.edgeRelations
    where !relation.isInJoinTable && relation.rules.contains(.nullifySourceIfDestinationDeleted) {
      for form in current.numbers.forms(of: relation.destination) {
        let edges = relation.edgesToDestinations(in: .gone, form, current.numbers).text
        try db.run(
          generated: """
            INSERT OR IGNORE INTO temp.given_up
            SELECT \(relation.source.id), e.source, \(relation.nameId), e.collection,
              coalesce(n.key, k.key), \(Rules.nullifySourceIfDestinationDeleted.rawValue)
            FROM (SELECT g.id AS gone, g.collection, \(relation.source.key("s")) AS source
              \(edges) AND \(isGone)) AS e
            LEFT JOIN cascade_node AS n ON n.id = e.gone
            LEFT JOIN temp.known AS k ON k.id = e.gone
            WHERE coalesce(n.key, k.key) IS NOT NULL
            """)
      }
    }
  }

  /// Rows of the journal that a sweep reads tell of what is deleted. `condition` is one on the row `j`.
  func freeDeleted(_ rows: Slice, _ condition: String = "") throws {
    if try !db.hasGivenUp { return }
    try db.run(
      generated: """
        WITH changed AS (
          SELECT w.meaning ->> 'rows', j.key FROM cascade_journal AS j
          CROSS JOIN cascade_watch AS w ON w.what = j.what
          WHERE j.seq > ? AND j.seq <= ? AND \(GoneMark.isDeletion("j")) \(condition))
        DELETE FROM cascade_given_up
        WHERE (collection, key) IN changed OR (via_collection, via_key) IN changed
        """, rows.bound)
  }

  /// Looks at the references. Called before whole tables are scanned.
  func dropOverGivenUp() throws {
    if try !db.hasGivenUp { return }
    try group {
      for end in binding.endsOfGivenUp {
        try db.run(generated: "DELETE FROM cascade_given_up AS g WHERE \(end)", [])
      }
    }
  }

  private func storeGivenUp() throws {
    try db.run("INSERT OR REPLACE INTO cascade_given_up SELECT * FROM temp.given_up")
    try db.empty(.givenUp)
  }
}
