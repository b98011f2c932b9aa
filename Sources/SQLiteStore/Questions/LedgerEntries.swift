internal import CascadeModel
internal import CascadeSQLite
package import CascadeStore
package import SQLiteTables

extension Writer {
  /// The newest entry of an id: after a restart, work continues after its part.
  package func ledgerEntry(_ id: String) throws -> LedgerEntry? {
    try db.first(
      """
      SELECT seq, part, fingerprint, outcome, line FROM cascade_ledger
      WHERE id = ? AND part > ? ORDER BY part DESC LIMIT 1
      """, .text(id), .integer(Submission.partOfSweep)
    ) {
      LedgerEntry(
        batch: $0.integer(0), part: $0.integer(1), fingerprint: $0.integer(2),
        isComplete: $0.text(3) == "applied", line: $0.integer(4))
    }
  }
}
