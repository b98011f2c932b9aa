internal import CascadeModel
internal import CascadeSQLite
package import CascadeStore
internal import SQLiteBinding
package import SQLiteTables

extension Writer {
  /// The newest entry of an id: after a restart, work continues after its part.
  package func ledgerEntry(_ id: String) throws -> LedgerEntry? { try db.ledgerEntry(id) }
}

extension Reader {
  package func ledgerEntry(_ id: String) throws -> LedgerEntry? { try db.ledgerEntry(id) }
}

extension Connection {
  /// The newest part, and the sums of all parts.
  fileprivate borrowing func ledgerEntry(_ id: String) throws -> LedgerEntry? {
    try first(
      """
      SELECT seq, max(part), fingerprint, outcome, line, author, sum(deleted), sum(edges_added),
        sum(edges_removed), sum(notices), sum(passed_over)
      FROM cascade_ledger WHERE id = ? AND part > ? GROUP BY id
      """, .text(id), .integer(Submission.partOfSweep)
    ) {
      LedgerEntry(
        batch: $0.integer(0), part: $0.integer(1), fingerprint: $0.integer(2),
        isComplete: $0.text(3) == "applied", line: $0.integer(4), receipt: $0.receipt(ofId: id))
    }
  }
}

extension Row {
  /// The part of an entry from `author` on.
  fileprivate func receipt(ofId id: String) -> Receipt {
    var receipt = Receipt(id: id, outcome: .applied)
    receipt.batch = integer(0)
    receipt.author = optionalText(5)
    receipt.deletedCount = Int(integer(6))
    receipt.edgesAdded = Int(integer(7))
    receipt.edgesRemoved = Int(integer(8))
    receipt.notices = Int(integer(9))
    receipt.skippedChanges = Int(integer(10))
    return receipt
  }
}
