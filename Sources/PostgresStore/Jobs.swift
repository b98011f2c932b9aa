internal import CascadeModel
internal import CascadeEngine
internal import CascadePostgres
package import CascadeStore
internal import PostgresBinding
internal import PostgresSweeps
internal import PostgresTables

/// Jobs: deletions that begin here.
///
/// 1. A plan comes first, in a snapshot: what goes, and what has to stay. It is made again when the job goes
///    on, because what is left of the job is found from its nodes, which go last of all that refers to them.
/// 2. What foreign keys tie goes by the plan, referring rows first. What else follows goes in waves.
extension PostgresWriter {
  private var jobs: JobRows { JobRows(store) }
  private static let mostPlans = 10

  package func begin(_ request: DeletionJob.Request, at now: Int64) throws -> Int64 {
    _ = try store.nodes(of: request.subject)
    return try store.transaction { try jobs.insert(request, at: now) }
  }

  package var openJobs: [DeletionJob] { get throws { try isDetached ? [] : jobs.open() } }

  package func carryOut(
    job number: Int64, at now: Int64, manners: StepPolicy
  ) throws -> DeletionJob {
    guard var job = try jobs.job(number) else { throw StoreError("there is no job \(number)") }
    if job.state != .running { return job }
    try followProtected()
    if job.lastMark != nil { return try follow(marksOf: job, at: now, manners) }
    for _ in 0..<PostgresWriter.mostPlans {
      guard let kept = try plan(&job, at: now) else { return job }
      let isLast = try carryOut(&job, kept, now, manners)
      if isLast || job.state != .running { return job }
    }
    return job
  }

  package func cancel(job number: Int64, at now: Int64) throws -> DeletionJob? {
    guard var job = try jobs.job(number) else { return nil }
    if !job.isOpen { return job }
    if job.lastMark != nil { try store.transaction { try forget(marksOf: number) } }
    // What follows from what went goes, too.
    if job.batch != nil { try follow(&job, now, .none) }
    try end(&job, .cancelled, job.blocked)
    return job
  }

  /// The rows of a pass are not asked for again.
  func reject(job number: Int64) throws {
    if try jobs.job(number)?.lastMark != nil {
      try store.transaction { try takeBack(marksOf: number) }
    }
    guard var job = try cancel(job: number, at: 0), let overdue = job.overdue else { return }
    job.request.subject = .overdue(overdue.rejected)
    try jobs.save(job)
  }

  // MARK: - The plan

  /// Returns what has to stay; nil if the job waits or has ended.
  private func plan(_ job: inout DeletionJob, at now: Int64) throws -> [Reason]? {
    let nodes = try nodes(of: job)
    var planned = job
    let kept = try store.transaction(.repeatableRead) { () -> [Reason]? in
      var closure = try Closure(store, journal: nil)
      try closure.beginJob(with: nodes)
      let kept = try closure.findKept()
      if !kept.isEmpty {
        if !job.request.isPartial && job.batch == nil {
          try end(&planned, .blocked, kept.map(\.json))
          return nil
        }
        try closure.leaveOutKept()
      }
      let counts = try closure.countByCollection(includingFirst: true)
      planned.total = job.deletedCount + counts.reduce(0) { $0 + $1.1 }
      if planned.request.erasure?.before.isEmpty == true {
        planned.request.erasure!.before = Dictionary(
          uniqueKeysWithValues: counts.map { ($0.0.collection, $0.1) })
      }
      if let held = try held(closure, job, counts) {
        try hold(&planned, held)
        return nil
      }
      try closure.store(asNodesOf: job.number, ForeignKeyTies(store))
      planned.batch = try job.batch ?? nextBatch()
      try jobs.save(planned)
      return kept
    }
    job = planned
    return kept
  }

  /// A row that has the key of a node which the job has deleted is another node.
  private func nodes(of job: DeletionJob) throws -> [(table: MappedTable, keys: [String])] {
    let nodes = try store.nodes(of: job.request.subject)
    guard let batch = job.batch else { return nodes }
    return try nodes.map { table, keys in
      if keys.isEmpty { return (table, keys) }
      let deleted = try db.run(
        """
        SELECT k.key FROM cascade.deleted d CROSS JOIN unnest(d.keys) AS k(key)
        WHERE d.batch = \(batch) AND d.collection = \(table.number) AND k.key = ANY($1::text[])
        """, [arrayText(keys)]
      ).texts
      let gone = Set(deleted)
      return (table, keys.filter { !gone.contains($0) })
    }
  }

  private func held(
    _ closure: Closure, _ job: DeletionJob, _ counts: [(MappedTable, Int)]
  ) throws -> HeldPlan? {
    let counts = Dictionary(uniqueKeysWithValues: counts.map { ($0.0.collection, $0.1) })
    let verdict = try Hold(model).judge(
      job, deleting: counts, areDoubtful: { try store.overdueRows($0).areDoubtful(store) },
      size: { try closure.size($0, $1, gone: counts[$0] ?? 0) })
    if verdict == .passes { return nil }
    return HeldPlan(
      id: job.planFile, deletedCount: counts.values.reduce(0, +), byCollection: counts,
      lostCount: 0, checksum: 0)
  }

  /// It waits for an approval, under the same number each time.
  func hold(_ job: inout DeletionJob, _ held: HeldPlan) throws {
    job.plan = try persistPlan(held, file: job.planFile)
    job.state = .held
    try db.run(
      """
      UPDATE cascade.plan SET is_approved = false, deleted = \(held.deletedCount), by_collection = $1
      WHERE number = \(job.plan!)
      """, [held.byCollection.countText])
    try jobs.save(job)
  }

  // MARK: - Carrying out

  /// Returns whether nothing is left of the job.
  private func carryOut(
    _ job: inout DeletionJob, _ kept: [Reason], _ now: Int64, _ manners: StepPolicy
  ) throws -> Bool {
    let before = job.deletedCount
    try deletePlanned(job, manners)
    let remarks = try follow(&job, now, manners)
    let isLeft = try !areGone(job, kept)
    if isLeft && job.deletedCount > before { return false }
    let reasons = try kept + remarks + (isLeft ? BlockedNodes(store).refusals() : [])
    let isBlocked = isLeft || !kept.isEmpty && !job.request.isPartial
    try end(&job, isBlocked ? .blocked : .done, reasons.map(\.json))
    return true
  }

  private func deletePlanned(_ job: DeletionJob, _ manners: StepPolicy) throws {
    let (number, ties) = (job.number, try ForeignKeyTies(store))
    let isMeant = try store.isMeant(by: job.request.subject)
    var waves = try Waves(store, batch: job.batch!, isSweep: true, isNew: job.deletedCount == 0)
    while try step(
      &waves, manners,
      { waves, limit in
        let before = waves.count.rows
        let looked = try waves.deletePlanned(ofJob: number, where: isMeant, ties, limit)
        try JobRows(waves.store).add(waves.count.rows - before, to: number)
        return looked
      })
    {}
  }

  /// Deletes what follows from what went, and writes down what the job did. Returns what had to stay, and is
  /// no node.
  @discardableResult
  private func follow(
    _ job: inout DeletionJob, _ now: Int64, _ manners: StepPolicy
  ) throws -> [Reason] {
    let known = job
    var waves = try Waves(store, batch: job.batch!, isSweep: true, isNew: false)
    try carryOut(&waves, manners)
    let summary = try transaction(&waves) { try closeJob(&$0, known, now) }
    (job.deletedCount, job.byCollection) = (summary.deletedCount, summary.byCollection)
    if job.deletedCount == 0 { job.batch = nil }
    return waves.remarks
  }

  /// Of the nodes with which it begins, those that need not stay.
  private func areGone(_ job: DeletionJob, _ kept: [Reason]) throws -> Bool {
    if !kept.isEmpty { return true }
    return try nodes(of: job).allSatisfy(\.keys.isEmpty)
  }

  private func closeJob(
    _ waves: inout Waves, _ job: DeletionJob, _ now: Int64
  ) throws -> BatchSummary {
    let batch = waves.batch
    let (notices, _) = try waves.finish(at: now)
    try HeldEdges(store).dropLosses(ofDeletedIn: batch)
    let summary = try BatchSummary(store, batch, counts: nil)
    let files = try FileRows(store: store).take(into: batch, of: .daemon)
    if notices + waves.count.edges + files + summary.deletedCount > 0 {
      try Ledger(store).set(
        job, batch, at: now, deleted: summary.deletedCount, edges: waves.count.edges,
        notices: notices)
    }
    return summary
  }

  private func end(
    _ job: inout DeletionJob, _ state: DeletionJob.State, _ blocked: [JSON]
  ) throws {
    (job.state, job.blocked, job.total) = (state, blocked, job.total ?? job.deletedCount)
    try db.run("DELETE FROM cascade.job_node WHERE job = \(job.number)")
    if let batch = job.batch { try db.runEach([DeletedNumbers.taking(batch)]) }
    if job.request.erasure != nil { try eraseTraces(of: &job) }
    try deletePlans(ofFile: job.planFile)
    try jobs.save(job)
  }
}

extension StoreConnection {
  /// The nodes that a job names, as they are there now. A condition is asked where nothing can be written.
  func nodes(
    of subject: DeletionJob.Subject
  ) throws -> [(table: MappedTable, keys: [String])] {
    switch subject {
    case .nodes(let nodes):
      return try Dictionary(grouping: nodes, by: \.collection).map { collection, nodes in
        let table = try self.table(collection)
        return (table, try nodes.compactMap { try storedKey($0, table) })
      }
    case .overdue(let overdue):
      let rows = try overdueRows(overdue)
      return [(rows.table, try keys(of: rows.table, where: rows.condition))]
    case .marks: return []
    case .rows(let collection, let condition):
      let table = try self.table(collection)
      try IllegalCondition.refuse(unlessExpression: condition)
      do {
        return [(table, try keys(of: table, where: condition))]
      } catch let error as PostgresError where error.isAboutTheStatement {
        throw IllegalCondition(reason: error.message)
      }
    }
  }

  /// Nil if the node does not exist, or no row can have its key.
  private func storedKey(_ node: Node, _ table: MappedTable) throws -> String? {
    guard let key = table.key.text(node.key) else { return nil }
    return try db.run(
      """
      SELECT \(table.key.text("t")) FROM \(table.name) t
      WHERE \(table.key.equal("t", text: "$1"))
      """, [key]
    ).texts.first
  }

  private func keys(of table: MappedTable, where condition: String) throws -> [String] {
    try readingInTransaction {
      try db.run("SELECT \(table.key.text("s")) FROM \(table.name) s WHERE (\(condition))").texts
    }
  }

  /// Whether a row `s` is still one of those with which a job begins; nil if they were named.
  fileprivate func isMeant(by subject: DeletionJob.Subject) throws -> String? {
    switch subject {
    case .nodes, .marks: nil
    case .rows(_, let condition): "(\(condition))"
    case .overdue(let overdue): try overdueRows(overdue).condition
    }
  }
}

extension PostgresReader {
  package func jobs(after job: Int64, limit: Int) throws -> [DeletionJob] {
    try ask { try JobRows($0).jobs(after: job, limit: limit) }
  }

  package func job(_ number: Int64) throws -> DeletionJob? {
    try ask { try JobRows($0).job(number) }
  }

  package func plan(of subject: DeletionJob.Subject) throws -> Plan {
    if case .marks(_, let job) = subject {
      return try ask { try MarkClosure($0, job: job).plan() }
    }
    let nodes = try askOutside { try $0.nodes(of: subject) }
    return try ask { store in
      var closure = try Closure(store, journal: nil)
      try closure.beginJob(with: nodes)
      let kept = try closure.findKept()
      var plan = try closure.plan(limit: Receipt.mostListed, includingFirst: true)
      plan.denials = kept
      return plan
    }
  }
}
