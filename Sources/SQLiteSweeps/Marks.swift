internal import CascadeEngine
internal import CascadeModel
internal import CascadeSQLite
package import CascadeStore
internal import SQLiteBinding
internal import SQLiteDeletion
internal import SQLiteEdges
internal import SQLiteJournal
internal import SQLiteRules
package import SQLiteTables

/// Follows marks (`MarkPasses.swift`): a job that marks in steps what its plan has found (`MarkClosure.swift`).
extension Writer {
  package var lastMark: Int64 { get throws { try db.lastMark } }

  /// What cannot be read now is followed later.
  package func hasMarks(besidesThoseOf jobs: [DeletionJob]) throws -> Bool {
    if try !hasOwnTables() || isPartlyBound || db.isMigrating { return false }
    return try lastMark > jobs.lastMark
  }

  package func insertJob(behind jobs: [DeletionJob], at now: Int64) throws -> Int64 {
    try group {
      let marks = DeletionJob.Subject.marks(after: jobs.lastMark, upTo: try lastMark)
      let job = try db.insertJob(DeletionJob.Request(following: marks), at: now)
      try db.deleteEndedMarks(before: job)
      return job
    }
  }

  func follow(marks events: Slice, of job: DeletionJob, at now: Int64) throws -> DeletionJob {
    try adaptToSchema()
    clock.now = now
    // Also what a run that was stopped has unmarked since.
    try comeBack(Slice(low: events.low, high: .max))
    current = TransactionState()
    let closure = MarkClosure(binding, rulesSeen: identities.counters.rulesSeen)
    let commits = try foreignCommits()
    let (counts, denied) = try stoppableSnapshot {
      try closure.find(events, batch: job.batch, db)
      let found = try (db.countsOfMarking(), db.deniedMarks(model))
      // The plan stays in the temporary tables.
      try db.commit()
      return found
    }
    defer { try? db.empty(.ownedBy(.marks)) }
    if let held = try planOverLimit(of: job, marking: counts) {
      try holdJob(held)
      return sweepRun.job!
    }
    var steps = MarkSteps(writer: self, closure: closure, commits: commits, blocked: denied)
    try steps.run(needsBatch: !counts.isEmpty)
    return try endMarks(events, steps.blocked)
  }

  private func planOverLimit(
    of job: DeletionJob, marking counts: [String: Int]
  ) throws -> HeldPlan? {
    let count = counts.values.reduce(0, +)
    sweepRun.job!.total = job.deletedCount + count
    let verdict = try facts.hold.judge(
      job, deleting: counts, areDoubtful: { _ in false },
      size: { try size(of: $0, enough: $1) })
    if verdict == .passes { return nil }
    return HeldPlan(
      id: job.planFile, deletedCount: count, byCollection: counts, lostCount: 0, checksum: 0)
  }

  private func endMarks(_ events: Slice, _ blocked: [Reason]) throws -> DeletionJob {
    try forget(events)
    return try end(blocked.isEmpty ? .done : .blocked, blocked)
  }

  /// The last one stays to the end: until then, new ones get higher numbers.
  func forget(_ events: Slice) throws {
    var low = events.low
    while low < events.high {
      low = min(events.high, low + 10 * lock.pace.rows)
      try group {
        try db.run(
          "DELETE FROM cascade_mark WHERE seq > ? AND seq <= ?", .integer(events.low), .integer(low)
        )
      }
      if low < events.high { try yieldLock() }
    }
  }

  /// The rows whose marks are followed are unmarked: an operator does not want what follows.
  func takeBack(marks events: Slice) throws {
    try group {
      let last = try lastMark
      for table in binding.marked.values {
        try db.run(
          generated: """
            UPDATE \(table.nodes.rows) AS d SET \(table.unmarking(replaced: "e.old"))
            FROM main.cascade_mark AS e WHERE e.collection = \(table.nodes.id)
            AND e.seq > \(events.low) AND e.seq <= \(events.high)
            AND \(table.nodes.hasKey("d", "e.key")) AND \(table.isMarked("d"))
            """)
      }
      try db.run("DELETE FROM cascade_mark WHERE seq > ?", .integer(last))
    }
    try forget(events)
  }
}

/// The steps that mark what is in `temp.marking`.
private struct MarkSteps {
  let writer: Writer
  let closure: MarkClosure
  /// What others had written when the plan was made.
  let commits: Int64
  var blocked: [Reason]
  private var isDisturbed = false
  private var size: Int64 = 1

  private var db: Connection { _read { yield writer.db } }

  init(writer: Writer, closure: MarkClosure, commits: Int64, blocked: [Reason]) {
    (self.writer, self.closure, self.commits, self.blocked) = (writer, closure, commits, blocked)
  }

  mutating func run(needsBatch: Bool) throws {
    let last = try db.integer("SELECT max(seq) FROM temp.marking") ?? 0
    // What an earlier run marked comes first.
    var low = try db.integer("SELECT min(seq) - 1 FROM temp.marking WHERE NOT is_done") ?? last
    size = max(writer.lock.fewNodes, writer.lock.pace.rows)
    while low < last {
      let slice = Slice(low: low, high: min(last, low + size))
      do {
        let held = try step(slice, takesBatch: needsBatch)
        writer.lock.pace.note(rows: slice.count, worked: held, held: held)
        size = max(1, writer.lock.pace.rows)
        low = slice.high
      } catch let error as SQLiteError where error.isAboutTheValue {
        if slice.count == 1 {
          try leave(slice, because: error)
          low = slice.high
        }
        size = 1
      }
      try writer.yieldLock()
    }
    try writer.group { try completeCountedReasons() }
  }

  /// The table refuses that a row is marked.
  private mutating func leave(_ slice: Slice, because error: SQLiteError) throws {
    let node = try db.all(
      """
      SELECT c.name, m.key FROM temp.marking AS m
      JOIN cascade_collection AS c ON c.id = m.collection WHERE m.seq = \(bind: slice.high)
      """
    ) {
      $0.node(0, writer.model)
    }
    blocked += node.map { .mustStay($0, because: error.message) }
    try db.run("DELETE FROM temp.marking WHERE seq = ?", .integer(slice.high))
    isDisturbed = true
  }

  private mutating func step(_ slice: Slice, takesBatch: Bool) throws -> Duration {
    var disturbed = isDisturbed
    let job = writer.sweepRun.job!
    do {
      try writer.group {
        if try !disturbed && writer.foreignCommits() != commits { disturbed = true }
        if disturbed { try closure.recheck(slice, db) }
        if takesBatch { try takeBatch() }
        let last = try db.lastMark
        try writeReasons(slice)
        let counts = try db.countsOfMarking(slice)
        try mark(slice, since: last)
        try writeReasonsOfMarked(slice)
        if let batch = writer.sweepRun.job!.batch {
          let notices = try closure.notices(slice, batch: batch, db)
          try note(counts, notices, batch)
        }
      }
    } catch {
      writer.sweepRun.job = job
      throw error
    }
    isDisturbed = disturbed
    return writer.lock.durations.last ?? .zero
  }

  private func takeBatch() throws {
    if writer.sweepRun.job!.batch != nil { return }
    writer.sweepRun.job!.batch = writer.beginBatch()
    try writer.record(writer.sweepRun.job!.submission(at: writer.clock.now))
  }

  /// In the transaction that marks.
  private func note(_ counts: [String: Int], _ notices: Int, _ batch: Int64) throws {
    let count = counts.values.reduce(0, +)
    writer.sweepRun.job!.deletedCount += count
    writer.sweepRun.job!.byCollection.merge(counts, uniquingKeysWith: +)
    try db.save(writer.sweepRun.job!)
    writer.sweepRun.result.notices += notices
    try db.run(
      "UPDATE cascade_ledger SET deleted = deleted + ?, notices = notices + ? WHERE seq = ?",
      .integer(Int64(count)), .integer(Int64(notices)), .integer(batch))
  }

  /// Why the rows of a slice are marked, with the values that the mark replaces. Written before they are marked, and for
  /// counts behind that.
  private func writeReasons(_ slice: Slice) throws {
    let end: Query = "\(bind: .integer(writer.sweepRun.job!.batch)), \(writer.clock.now)"
    let new: Query = "\(slice.contains("m.seq")) AND NOT m.is_done"
    try db.run(
      """
      DELETE FROM cascade_marked WHERE (collection, key) IN (
        SELECT m.collection, m.key FROM temp.marking AS m WHERE \(new) AND m.via IS NULL)
      """)
    try db.run(
      """
      INSERT INTO cascade_marked SELECT m.collection, m.key, m.collection, m.key, 0, 0, \(end), m.old
      FROM temp.marking AS m WHERE \(new) AND m.via IS NULL
      """)
    for table in writer.binding.marked.values {
      let nodes = table.nodes
      try db.run(
        """
        UPDATE temp.marking AS m SET old = (SELECT \(table.replaced("d")) FROM \(nodes.rows) AS d
          WHERE \(nodes.hasKey("d", "m.key")))
        WHERE \(new) AND m.collection = \(nodes.id) AND m.via IS NOT NULL
        """)
    }
    try db.run(
      """
      INSERT OR REPLACE INTO cascade_marked
      SELECT m.collection, m.key, v.collection, v.key, r.name, r.rule, \(end), m.old
      FROM temp.marking AS m CROSS JOIN temp.mark_reason AS r ON r.collection = m.collection AND r.key = m.key
      CROSS JOIN temp.marking AS v ON v.seq = r.via
      WHERE \(new) AND m.via IS NOT NULL AND v.seq <= \(bind: slice.high)
      AND r.rule & \(Rules.cascading.rawValue)
      """)
  }

  /// What was marked before may follow what is marked now, too.
  private func writeReasonsOfMarked(_ slice: Slice) throws {
    let end: Query = "\(bind: .integer(writer.sweepRun.job!.batch)), \(writer.clock.now)"
    try db.run(
      """
      INSERT OR IGNORE INTO cascade_marked
      SELECT r.collection, r.key, v.collection, v.key, r.name, r.rule, NULL, \(writer.clock.now), NULL
      FROM temp.marking AS v CROSS JOIN temp.mark_reason AS r ON r.via = v.seq
      WHERE \(slice.contains("v.seq")) AND r.rule & \(Rules.cascading.rawValue)
      AND EXISTS (SELECT 1 FROM cascade_marked AS x
        WHERE x.collection = r.collection AND x.key = r.key AND x.rule)
      """)
    try closure.writeCountedReasons(
      """
      EXISTS (SELECT 1 FROM temp.marking AS y WHERE y.collection = m.collection AND y.key = m.key
        AND \(slice.contains("y.seq")) AND y.via IS NOT NULL)
      """, end, db)
  }

  /// When all is marked: what a node has lost may have been marked behind it.
  private func completeCountedReasons() throws {
    try closure.writeCountedReasons(
      """
      EXISTS (SELECT 1 FROM main.cascade_marked AS x
        WHERE x.collection = m.collection AND x.key = m.key AND x.rule)
      """, "NULL, \(writer.clock.now)", db)
  }

  private func mark(_ slice: Slice, since last: Int64) throws {
    let isFollower: Query = "\(slice.contains("m.seq")) AND m.via IS NOT NULL AND NOT m.is_done"
    for table in writer.binding.marked.values {
      try db.run(
        """
        UPDATE \(table.nodes.rows) AS d SET \(table.marking(value: "m.value")) FROM temp.marking AS m
        WHERE \(isFollower) AND m.collection = \(table.nodes.id)
        AND \(table.nodes.hasKey("d", "m.key")) AND NOT \(table.isMarked("d"))
        """)
    }
    // What triggers of the application mark in response is followed like other marks.
    try db.run(
      """
      DELETE FROM cascade_mark WHERE seq > \(bind: last) AND EXISTS (SELECT 1 FROM temp.marking AS m
        WHERE m.collection = cascade_mark.collection AND m.key = cascade_mark.key AND \(isFollower))
      """)
  }
}

extension [DeletionJob] {
  fileprivate var lastMark: Int64 { compactMap(\.lastMark).max() ?? 0 }
}

extension Connection {
  var lastMark: Int64 {
    get throws(SQLiteError) { try integer("SELECT max(seq) FROM cascade_mark") ?? 0 }
  }
}
