internal import CascadeModel
internal import CascadePostgres
package import CascadeStore

/// The list of change files and sweeps that took effect.
package struct Ledger {
  private let store: StoreConnection

  package init(_ store: StoreConnection) { self.store = store }

  package func add(
    _ submission: Submission, batch: Int64, deleted: Int, edges: Int, notices: Int, skipped: Int
  ) throws {
    try store.db.run(
      """
      INSERT INTO cascade.ledger(batch, id, part, author, fingerprint, at, is_last, line, deleted,
        edges, notices, skipped)
      VALUES(\(batch), $1, \(submission.part), $2, \(submission.fingerprint), \(submission.at),
        \(submission.isLast), \(submission.line), \(deleted), \(edges), \(notices), \(skipped))
      """, [submission.id, submission.author])
  }

  package func addSweep(
    _ batch: Int64, at now: Int64, deleted: Int = 0, edges: Int = 0, notices: Int = 0
  ) throws {
    var submission = Submission(id: "sweep-\(batch)", author: nil, fingerprint: 0, at: now)
    submission.part = Submission.partOfSweep
    try add(
      submission, batch: batch, deleted: deleted, edges: edges, notices: notices, skipped: 0)
  }

  /// The newest entry of an id, with what all of its transactions did.
  package func entry(_ id: String) throws -> LedgerEntry? {
    let rows = try store.db.run(
      """
      SELECT batch, part, fingerprint, is_last, line, author,
        sum(deleted) OVER (), sum(edges) OVER (), sum(notices) OVER (), sum(skipped) OVER ()
      FROM cascade.ledger WHERE id = $1 AND part >= 0 ORDER BY batch DESC LIMIT 1
      """, [id]
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
