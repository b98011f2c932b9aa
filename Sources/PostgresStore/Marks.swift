internal import CascadeEngine
internal import CascadeModel
internal import CascadePostgres
package import CascadeStore
internal import PostgresBinding
internal import PostgresSweeps
internal import PostgresTables

/// Follows marks (`MarkPasses.swift`): a job that marks in steps what its plan has found (`MarkClosure.swift`).
extension PostgresWriter: MarkFollowing {
  package func hasMarks(besidesThoseOf jobs: [DeletionJob]) throws -> Bool {
    try db.run("SELECT EXISTS (SELECT FROM cascade.mark WHERE \(isOpen))").bool
  }

  /// What cannot be read now is followed later.
  private var isOpen: String {
    let tables = store.binding.marked.keys.sorted().map { "\($0)" }
    return "job IS NULL AND collection = ANY('\(arrayText(tables))'::int[])"
  }

  package func insertJob(behind jobs: [DeletionJob], at now: Int64) throws -> Int64 {
    try store.transaction {
      let rows = JobRows(store)
      let number = try rows.insert(
        DeletionJob.Request(following: .marks(after: 0, upTo: 0)), at: now)
      var job = try rows.job(number)!
      // Its plan is found by the number.
      job.request.subject = .marks(after: 0, upTo: number)
      try rows.save(job)
      try db.run("UPDATE cascade.mark SET job = \(number) WHERE \(isOpen)")
      try rows.deleteEndedMarks(before: number)
      return number
    }
  }

  func follow(
    marksOf given: DeletionJob, at now: Int64, _ manners: StepPolicy
  ) throws -> DeletionJob {
    var job = given
    try comeBack(ofJob: job.number)
    let closure = MarkClosure(store, job: job.number)
    let blocked = try store.transaction(.repeatableRead) { () -> [Reason]? in
      try closure.find(batch: job.batch)
      let counts = try closure.counts()
      job.total = job.deletedCount + counts.values.reduce(0, +)
      if let held = try held(job, marking: counts) {
        try hold(&job, held)
        return nil
      }
      if job.batch == nil && !counts.isEmpty { job.batch = try nextBatch() }
      try JobRows(store).save(job)
      return try closure.denied()
    }
    guard let blocked else { return job }
    var steps = MarkSteps(writer: self, closure: closure, job: job, now: now, blocked: blocked)
    try steps.run(manners)
    return try endMarks(steps.job, steps.blocked)
  }

  private func held(_ job: DeletionJob, marking counts: [String: Int]) throws -> HeldPlan? {
    let verdict = try Hold(model).judge(
      job, deleting: counts, areDoubtful: { _ in false },
      size: { collection, enough in
        let rows = "SELECT FROM \(try store.table(collection).name) LIMIT \(min(enough, .max / 2))"
        return try store.readingWholeTables {
          try Int(db.run("SELECT count(*) FROM (\(rows)) t").integer ?? 0)
        }
      })
    if verdict == .passes { return nil }
    return HeldPlan(
      id: job.planFile, deletedCount: counts.values.reduce(0, +), byCollection: counts,
      lostCount: 0, checksum: 0)
  }

  private func endMarks(_ given: DeletionJob, _ blocked: [Reason]) throws -> DeletionJob {
    var job = given
    job.state = blocked.isEmpty ? .done : .blocked
    job.blocked = blocked.map(\.json)
    job.total = job.total ?? job.deletedCount
    try store.transaction {
      try forget(marksOf: job.number)
      try deletePlans(ofFile: job.planFile)
      try JobRows(store).save(job)
    }
    return job
  }

  func forget(marksOf job: Int64) throws {
    try db.run("DELETE FROM cascade.mark WHERE job = \(job)")
    try db.run("DELETE FROM cascade.marking WHERE job = \(job)")
  }

  /// The rows whose marks a job follows are unmarked: an operator does not want what follows.
  func takeBack(marksOf job: Int64) throws {
    try db.execute(MarkRows.marking)
    for marked in store.binding.marked.values {
      let key = marked.table.key.equal("s", text: "e.key")
      try db.run(
        store.binding.update(
          marked.table.name, "s", set: marked.unmarking(replaced: "e.old"), from: "cascade.mark e",
          where: """
            e.job = \(job) AND e.collection = \(marked.table.number) AND \(key) AND \(marked.isMarked("s"))
            """, returning: []))
    }
    try forget(marksOf: job)
  }
}

/// The steps that mark what is in `cascade.marking`.
private struct MarkSteps {
  let writer: PostgresWriter
  let closure: MarkClosure
  var job: DeletionJob
  let now: Int64
  var blocked: [Reason]

  private var store: StoreConnection { writer.store }
  private var db: Session { _read { yield writer.store.db } }

  mutating func run(_ manners: StepPolicy) throws {
    let last = try closure.last ?? 0
    var low = try firstPlace().map { $0 - 1 } ?? last
    while low < last {
      let size = Int64(writer.rowsToAStep ?? writer.pace.limit)
      let slice = low..<min(last, low + size)
      let start = ContinuousClock.now
      do {
        try step(slice)
      } catch let error as PostgresError where error.isAboutTheValue {
        try stepOneByOne(slice)
      }
      writer.noteHold(ContinuousClock.now - start)
      writer.pace.note(ContinuousClock.now - start, writer.model)
      low = slice.upperBound
      try manners.pause(.zero)
    }
    try store.transaction { try completeCountedReasons() }
  }

  /// What an earlier run marked comes first.
  private func firstPlace() throws -> Int64? {
    try db.run(
      "SELECT min(seq) FROM cascade.marking WHERE job = \(job.number) AND NOT is_done"
    ).integer
  }

  /// The table refuses that some of the rows are marked.
  private mutating func stepOneByOne(_ slice: Range<Int64>) throws {
    for place in slice {
      do {
        try step(place..<place + 1)
      } catch let error as PostgresError where error.isAboutTheValue {
        let row = try db.run(
          """
          DELETE FROM cascade.marking WHERE job = \(job.number) AND seq = \(place + 1) RETURNING collection, key
          """
        ).rows.first
        guard let row, let table = store.binding.table(Int64(row[0]!)!) else { continue }
        blocked.append(.mustStay(table.node(row[1]!), because: error.message))
      }
    }
  }

  private mutating func step(_ slice: Range<Int64>) throws {
    var next = job
    try store.transaction {
      try db.execute(MarkRows.marking)
      try closure.recheck(slice)
      try writeReasons(slice)
      let counts = try closure.counts(slice)
      try mark(slice)
      try writeReasonsOfMarked(slice)
      guard let batch = next.batch else { return }
      let notices = try closure.notices(slice, batch: batch, at: now)
      next.deletedCount += counts.values.reduce(0, +)
      next.byCollection.merge(counts, uniquingKeysWith: +)
      try JobRows(store).save(next)
      try Ledger(store).set(
        next, batch, at: now, deleted: next.deletedCount, edges: 0, notices: notices)
    }
    job = next
  }

  private func isNew(_ slice: Range<Int64>) -> String {
    """
    m.job = \(job.number) AND m.seq > \(slice.lowerBound) AND m.seq <= \(slice.upperBound) AND NOT m.is_done
    """
  }

  /// Why the rows of a slice are marked, with the values that the mark replaces.
  private func writeReasons(_ slice: Range<Int64>) throws {
    let end = entry
    let isFirst = "\(isNew(slice)) AND m.via IS NULL"
    try db.run(
      """
      DELETE FROM cascade.marked WHERE (collection, key) IN (
        SELECT m.collection, m.key FROM cascade.marking m WHERE \(isFirst))
      """)
    try db.run(
      """
      INSERT INTO cascade.marked SELECT m.collection, m.key, m.collection, m.key, '', \(Rules.none.rawValue), \(end), m.old
      FROM cascade.marking m WHERE \(isFirst)
      """)
    for marked in store.binding.marked.values {
      let table = marked.table
      try db.run(
        """
        UPDATE cascade.marking m SET old = \(marked.replaced("s")) FROM \(table.name) s
        WHERE \(isNew(slice)) AND m.collection = \(table.number) AND m.via IS NOT NULL
        AND \(table.key.equal("s", text: "m.key"))
        """)
    }
    try db.run(
      """
      INSERT INTO cascade.marked
      SELECT m.collection, m.key, v.collection, v.key, r.name, r.rule, \(end), m.old
      FROM cascade.marking m JOIN cascade.mark_reason r ON r.collection = m.collection AND r.key = m.key
      JOIN cascade.marking v ON v.job = m.job AND v.seq = r.via
      WHERE \(isNew(slice)) AND m.via IS NOT NULL AND v.seq <= \(slice.upperBound)
      AND r.rule & \(Rules.cascading.rawValue) <> 0
      ON CONFLICT(collection, key, rule, name, via_collection, via_key)
      DO UPDATE SET batch = excluded.batch, at = excluded.at, old = excluded.old
      """)
  }

  private func mark(_ slice: Range<Int64>) throws {
    for marked in store.binding.marked.values {
      let table = marked.table
      try db.run(
        store.binding.update(
          table.name, "s", set: marked.marking(value: "m.value", type: "m.type"),
          from: "cascade.marking m",
          where: """
            \(isNew(slice)) AND m.via IS NOT NULL AND m.collection = \(table.number)
            AND \(table.key.equal("s", text: "m.key")) AND NOT \(marked.isMarked("s"))
            """, returning: []))
    }
  }

  /// What was marked before may follow what is marked now, too.
  private func writeReasonsOfMarked(_ slice: Range<Int64>) throws {
    try db.run(
      """
      INSERT INTO cascade.marked
      SELECT r.collection, r.key, v.collection, v.key, r.name, r.rule, NULL, \(now), NULL
      FROM cascade.marking v JOIN cascade.mark_reason r ON r.via = v.seq
      WHERE v.job = \(job.number) AND v.seq > \(slice.lowerBound) AND v.seq <= \(slice.upperBound)
      AND r.rule & \(Rules.cascading.rawValue) <> 0 AND EXISTS (SELECT FROM cascade.marked x
        WHERE x.collection = r.collection AND x.key = r.key AND x.rule <> \(Rules.none.rawValue))
      ON CONFLICT DO NOTHING
      """)
    try closure.writeCountedReasons(
      """
      EXISTS (SELECT FROM cascade.marking y WHERE y.job = \(job.number) AND y.collection = m.collection
        AND y.key = m.key AND y.seq > \(slice.lowerBound) AND y.seq <= \(slice.upperBound) AND y.via IS NOT NULL)
      """, entry)
  }

  /// When all is marked: what a node has lost may have been marked behind it.
  private func completeCountedReasons() throws {
    try closure.writeCountedReasons(
      """
      EXISTS (SELECT FROM cascade.marked x
        WHERE x.collection = m.collection AND x.key = m.key AND x.rule <> \(Rules.none.rawValue))
      """, "NULL::bigint, \(now)")
  }

  /// The batch and the time of a reason.
  private var entry: String { "\(job.batch.map(String.init) ?? "NULL")::bigint, \(now)" }
}
