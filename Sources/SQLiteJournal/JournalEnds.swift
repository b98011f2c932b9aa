package import CascadeModel
package import CascadeSQLite
internal import CascadePlanning
internal import SQLiteTables

/// How far each kind of sweep has read the journal.

extension Connection {
  package func journalPosition(_ kind: SweepKind) throws(SQLiteError) -> Int64 {
    try meta(.journalRead(kind)) ?? 0
  }

  package func setJournalPosition(_ kind: SweepKind, _ seq: Int64) throws(SQLiteError) {
    try setMeta(.journalRead(kind), seq)
  }

  /// Zero if the journal is empty.
  package var lastInJournal: Int64 {
    get throws(SQLiteError) { try integer("SELECT max(seq) FROM cascade_journal") ?? 0 }
  }

  /// The last row of the journal that is no news to these kinds.
  package func journalStart(_ kinds: [SweepKind]) throws(SQLiteError) -> Int64 {
    if kinds.cascades == kinds.counts { return 0 }
    return try journalPosition(kinds.cascades ? .cascade : .refcount)
  }
}
