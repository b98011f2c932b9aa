internal import CascadeSQLite
package import CascadeStore
package import SQLiteTables

extension Writer {
  /// Records a sweep in one transaction, unless it changed nothing. If it deleted nothing, the trash
  /// may have names of nodes that were gone before: then these are all that there is to record.
  func recordAtOnce() throws {
    if current.sweep.isResumed {
      return try addToDeletedCount(current.counts.deletedCount + current.counts.kept)
    }
    let kept = try db.integer(
      "SELECT 1 FROM cascade_trash_layout WHERE batch = ? LIMIT 1", .integer(current.batch))
    if current.done > 0 || kept != nil { try record(sweepSubmission) }
  }

  /// The sweep at hand. Its id contains the number of its batch.
  var sweepSubmission: Submission {
    if let job = sweepRun.job { return job.submission(at: clock.now) }
    return Submission(.sweep, id: "sweep-\(current.batch)", by: "sweep", at: clock.now)
  }

  // MARK: - A sweep in steps

  /// Inserts the ledger's row of a sweep at its first step. Each step adds what it deleted.
  func recordStepped() throws {
    var submission = sweepSubmission
    submission.isLast = false
    let known = try db.integer(
      "SELECT 1 FROM cascade_ledger WHERE seq = ?", .integer(current.batch))
    if known == nil { try record(submission) }
  }

  func addToDeletedCount(_ count: Int) throws {
    try db.run(
      "UPDATE cascade_ledger SET deleted = deleted + ? WHERE seq = ?",
      .integer(Int64(count)), .integer(current.batch))
  }

  /// Starts a batch of its own, which is recorded next.
  package func beginBatch() -> Int64 {
    current = TransactionState()
    current.batch = identities.counters.serial
    identities.counters.serial += 1
    return current.batch
  }

  package func record(_ submission: Submission) throws {
    try db.run(
      """
      INSERT INTO cascade_ledger(seq, id, part, fingerprint, author, at, outcome, line, deleted,
        edges_added, edges_removed, notices, passed_over)
      VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, .integer(current.batch), .text(submission.id), .integer(submission.part),
      .integer(submission.fingerprint), .text(submission.author), .integer(submission.at),
      .text(submission.isLast ? "applied" : "partial"), .integer(submission.line),
      .integer(Int64(current.counts.deletedCount + current.counts.kept)),
      .integer(Int64(current.counts.edgesAdded)),
      .integer(Int64(current.counts.edgesRemoved)), .integer(Int64(current.counts.notices)),
      .integer(Int64(current.counts.passedOver)))
  }

  package func receipt(_ submission: Submission) -> Receipt {
    var receipt = Receipt(id: submission.id, outcome: .applied)
    receipt.author = submission.author
    receipt.batch = current.batch
    receipt.deleted = current.counts.deleted
    receipt.deletedCount = current.counts.deletedCount
    receipt.deletedOwn = current.counts.deletedOwn
    receipt.byRule = current.counts.deletedByRule
    receipt.edgesAdded = current.counts.edgesAdded
    receipt.edgesRemoved = current.counts.edgesRemoved
    receipt.notices = current.counts.notices
    receipt.files = current.counts.filesReleased
    receipt.skippedChanges = current.counts.passedOver
    receipt.reasons = current.blocked
    receipt.isRestoring = current.isRestoring
    return receipt
  }
}

extension SweepResult {
  mutating func add(_ state: TransactionState) {
    let counts = state.counts
    deleted += counts.deleted.prefix(Receipt.mostListed - deleted.count)
    deletedCount += counts.deletedCount
    edgesRemoved += counts.edgesRemoved
    notices += counts.notices
    files += counts.filesReleased
    if state.done > 0 { batch = state.batch }
    let known = Set(blocked.map(\.message))
    blocked += state.blocked.filter { !known.contains($0.message) }
    if state.blocksMore { outcome = .blocked }
    byCollection.merge(counts.deletedByCollection, uniquingKeysWith: +)
    byRule.merge(counts.deletedByRule, uniquingKeysWith: +)
  }
}
