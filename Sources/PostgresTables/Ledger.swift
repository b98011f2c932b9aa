internal import CascadeModel
package import CascadePostgres
package import CascadeStore

/// The list of change files and sweeps that took effect.
package struct Ledger {
  private let store: StoreConnection

  package init(_ store: StoreConnection) { self.store = store }

  package func add(
    _ submission: Submission, batch: Int64, deleted: Int, edges: Int, notices: Int, skipped: Int
  ) throws {
    let counts = [deleted, edges, notices, skipped].map { Int64($0) }
    let entry = Ledger.entry(submission, batch, counts)
    try store.db.run(entry.sql, entry.values)
  }

  /// The text is always the same, so that the server keeps what it made of it.
  private static func entry(
    _ submission: Submission, _ batch: Int64, _ counts: [Int64]
  ) -> Statement {
    let numbers = [batch, submission.part, submission.fingerprint, submission.at, submission.line]
    let values = (numbers + counts).map { "\($0)" }
    return Statement(
      """
      INSERT INTO cascade.ledger(id, author, is_last, batch, part, fingerprint, at, line, deleted, edges,
        notices, skipped)
      VALUES($1, $2, $3::boolean, $4, $5, $6, $7, $8, $9, $10, $11, $12)
      """, [submission.id, submission.author, "\(submission.isLast)"] + values)
  }

  package func addSweep(_ batch: Int64, at now: Int64, deleted: Int = 0) throws {
    let entry = Ledger.entry(ofSweep: batch, at: now, deleted: deleted)
    try store.db.run(entry.sql, entry.values)
  }

  /// The statement that adds a sweep.
  package static func entry(
    ofSweep batch: Int64, at now: Int64, deleted: Int = 0, edges: Int = 0, notices: Int = 0
  ) -> Statement {
    let submission = Submission(.sweep, id: "sweep-\(batch)", by: nil, at: now)
    return entry(submission, batch, [deleted, edges, notices, 0].map { Int64($0) })
  }

  /// The entry of a job, which grows as the job goes on.
  package func set(
    _ job: DeletionJob, _ batch: Int64, at now: Int64, deleted: Int, edges: Int, notices: Int
  ) throws {
    let known = try store.db.run(
      """
      UPDATE cascade.ledger SET deleted = \(deleted), edges = edges + \(edges),
        notices = notices + \(notices), at = \(now) WHERE batch = \(batch)
      """
    ).changed
    if known > 0 { return }
    try add(
      job.submission(at: now), batch: batch, deleted: deleted, edges: edges, notices: notices,
      skipped: 0)
  }

  /// The newest entry of an id, with what all of its transactions did.
  package func entry(_ id: String) throws -> LedgerEntry? {
    let rows = try store.db.run(
      """
      SELECT batch, part, fingerprint, is_last, line, author,
        sum(deleted) OVER (), sum(edges) OVER (), sum(notices) OVER (), sum(skipped) OVER ()
      FROM cascade.ledger WHERE id IN ($1, $2) AND part >= 0 ORDER BY batch DESC LIMIT 1
      """, [id, Submission.hashed(id)]
    ).rows
    guard let row = rows.first else { return nil }
    let numbers = row.map { Int64($0 ?? "") ?? 0 }
    var receipt = Receipt(id: id, outcome: .applied)
    receipt.author = row[5]
    receipt.batch = numbers[0]
    receipt.deletedCount = Int(numbers[6])
    receipt.edgesRemoved = Int(numbers[7])
    receipt.notices = Int(numbers[8])
    receipt.skippedChanges = Int(numbers[9])
    return LedgerEntry(
      batch: numbers[0], part: numbers[1], fingerprint: numbers[2], isComplete: row[3] == "t",
      line: numbers[4], receipt: receipt)
  }
}
