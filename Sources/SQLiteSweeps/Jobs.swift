internal import CascadeModel
internal import CascadeEngine
internal import CascadeSQLite
package import CascadeStore
internal import SQLiteBinding
internal import SQLiteDeletion
internal import SQLiteEdges
internal import SQLiteJournal
internal import SQLiteRules
package import SQLiteTables

/// Jobs: deletions that begin here. A job is carried out like a sweep whose only cause is what was asked
/// for, in a batch of its own.
///
/// 1. What its steps journal is its own (`HeldCauses.swift`). What is left of it is found again from there, and
///    from its nodes. So a job that was interrupted goes on, and no sweep beside it takes what it has to.
/// 2. Its row is written in the transactions that delete.
/// 3. Behind its end its rows of the journal go: other nodes may have the keys of deleted ones later.
extension Writer {
  package func begin(_ request: DeletionJob.Request, at now: Int64) throws -> Int64 {
    if case .rows(let collection, let condition) = request.subject {
      try db.validate(condition, on: collection, binding)
    }
    return try group { try db.insertJob(request, at: now) }
  }

  package var openJobs: [DeletionJob] { get throws { try hasOwnTables() ? db.openJobs() : [] } }

  package func carryOut(
    job number: Int64, at now: Int64, manners: StepPolicy
  ) throws -> DeletionJob {
    guard let job = try db.job(number) else { throw StoreError("there is no job \(number)") }
    if job.state != .running { return job }
    return try syncingAtEnd(manners) {
      sweepRun = SweepRunState()
      if job.request.erasure != nil { return try erase(job, at: now) }
      sweepRun.job = job
      if case .marks(let after, let last) = job.request.subject {
        return try follow(marks: Slice(low: after, high: last), of: job, at: now)
      }
      defer { try? removeEndedRows() }
      return try carryOut(at: now)
    }
  }

  /// A row that has the key of a node which the job has deleted is another node, and stays.
  func leaveOutDeleted(by job: DeletionJob) throws {
    guard let batch = job.batch else { return }
    let begun = try db.all("SELECT DISTINCT collection FROM temp.unreachable_nodes") {
      $0.integer(0)
    }
    for table in begun.compactMap(binding.collection) {
      try db.run(
        """
        INSERT INTO temp.staged(id, key, row, collection)
        SELECT \(table.numberKeyAndRow("d", db.numbers(binding))), \(table.id)
        FROM main.cascade_trash_layout AS l
        CROSS JOIN main.cascade_trash AS t ON t.batch = l.batch AND t.layout = l.layout AND t.part = 0
        CROSS JOIN \(table.rows) AS d ON \(table.hasKey("d", TrashLayout.key(keys: "l.keys")))
        WHERE l.batch = \(bind: batch) AND l.collection = \(table.id)
        """)
      try db.numberFound()
      try db.run("DELETE FROM temp.unreachable_nodes WHERE id IN (SELECT id FROM temp.staged)")
      try db.clearFound()
    }
  }

  private func carryOut(at now: Int64) throws -> DeletionJob {
    do {
      let result = try sweepWithoutSync(at: now)
      return result.isCutShort || result.outcome == .held ? sweepRun.job! : try end(result)
    } catch let blocked as JobIsBlocked {
      return try end(.blocked, blocked.reasons)
    }
  }

  func end(_ result: SweepResult) throws -> DeletionJob {
    let isLeft = !result.blocked.isEmpty && !sweepRun.job!.request.isPartial
    return try end(isLeft ? .blocked : .done, result.blocked)
  }

  func end(_ state: DeletionJob.State, _ blocked: [Reason]) throws -> DeletionJob {
    var job = sweepRun.job!
    (job.state, job.blocked) = (state, blocked.map(\.json))
    job.total = job.total ?? job.deletedCount
    return try save(ended: job)
  }

  private func save(ended job: DeletionJob) throws -> DeletionJob {
    try group {
      let end = job.state == .cancelled ? PlanEnd.rejected : .carriedOut
      try db.run(
        "UPDATE cascade_plan SET ended = ? WHERE id = ? AND ended IS NULL",
        .integer(end.rawValue), .text(job.planFile))
      try db.save(job)
      guard let batch = job.batch else { return }
      current = TransactionState()
      current.batch = batch
      if try db.meta(.sweepBatch) == batch { return try closeBatch() }
      try numberDeleted()
    }
    return job
  }

  package func cancel(job number: Int64, at now: Int64) throws -> DeletionJob? {
    guard var job = try db.job(number) else { return nil }
    if !job.isOpen { return job }
    job.state = .cancelled
    if case .marks(let after, let last) = job.request.subject {
      try forget(Slice(low: after, high: last))
    }
    return try save(ended: job)
  }

  /// The rows of a pass are not asked for again.
  func reject(job number: Int64) throws {
    guard var job = try db.job(number) else { return }
    job.state = .cancelled
    if case .marks(let after, let last) = job.request.subject {
      try takeBack(marks: Slice(low: after, high: last))
    }
    if let overdue = job.overdue { job.request.subject = .overdue(overdue.rejected) }
    _ = try save(ended: job)
  }

  /// It waits for an approval, under the same number each time.
  func holdJob(_ held: HeldPlan) throws {
    try group {
      let plan = try db.integer(
        """
        INSERT INTO cascade_plan(plan, id, file, checksum, deleted, by_collection)
        VALUES(?1, ?2, ?2, 0, ?3, ?4) ON CONFLICT(id, checksum) DO UPDATE SET
          deleted = excluded.deleted, by_collection = excluded.by_collection, approved = 0
        RETURNING plan
        """, .integer(db.nextInSequence(of: .lastPlan)), .text(held.id),
        .integer(Int64(held.deletedCount)), .text(held.byCollection.countText))!
      (sweepRun.job!.state, sweepRun.job!.plan) = (.held, plan)
      try db.save(sweepRun.job!)
      sweepRun.result.hold(held, [], plan: plan)
    }
  }

  // MARK: - The order

  /// A row goes before the row that it refers to by a foreign key, so that no step leaves a reference to
  /// nothing. What no such key ties goes as in a sweep, behind what it follows. Returns the parts of the
  /// plan, in each of which the order does not matter.
  func orderedByForeignKeys(_ levels: [Slice]) throws -> [Slice] {
    let tied = try tiedCollections()
    if tied.isEmpty { return levels }
    var parts: [Slice] = []
    var high: Int64 = 0
    func append(_ nodes: String, _ level: Slice) throws {
      try db.run(
        generated: """
          INSERT INTO temp.gone_in_order(id, collection, via, name, rule, counts, place)
          SELECT id, collection, via, name, rule, counts, seq FROM temp.gone
          WHERE seq > ?1 AND seq <= ?2 AND \(nodes) ORDER BY seq
          """, level.bound)
      let part = Slice(low: high, high: high + Int64(db.changes))
      if !part.isEmpty { parts.append(part) }
      high = part.high
    }
    for collection in tied {
      for level in levels.reversed() { try append("collection = \(collection)", level) }
    }
    let list = tied.map(String.init).joined(separator: ", ")
    for level in levels { try append("coalesce(collection, 0) NOT IN (\(list))", level) }
    try db.run("DELETE FROM temp.gone")
    try db.run("INSERT INTO temp.gone SELECT * FROM temp.gone_in_order")
    try db.empty(.ownedBy(.reorder))
    return parts
  }

  /// The collections of the plan that foreign keys tie to others of it, those that refer first.
  private func tiedCollections() throws -> [Int64] {
    let planned = Set(try db.all("SELECT DISTINCT collection FROM temp.gone") { $0.integer(0) })
    let nodes = binding.childrenFirst.filter { planned.contains($0.id) }
    return tiedByForeignKeys(nodes) { child, parent in
      child.table!.foreignKeys.contains { $0.refers(to: parent.table!) }
    }.map(\.id)
  }
}
