package import CascadeModel
package import CascadeSQLite
package import CascadeStore
internal import CascadeEngine
internal import SQLiteBinding
package import SQLiteTables

extension Writer {
  package var rescanReason: RescanReason? {
    get throws {
      if attachment.isDetached || !facts.hasTables { return nil }
      if try db.meta(.firstWatch) == 1 { return .firstWatch }
      return try db.meta(.watchGap) == 1 ? .watchGap : nil
    }
  }

  /// Called when the caller knows, better than the triggers, that not everything was watched.
  package func requestRescan() throws {
    if facts.hasTables { try group { try db.setMeta(.watchGap, 1) } }
  }

  package func clearRescanReason() throws {
    try db.deleteMeta(.firstWatch, .watchGap)
  }

  /// What waits for approval is no news.
  package var hasJournal: Bool {
    get throws {
      if try !db.ownsJournalRows {
        return try db.integer("SELECT 1 FROM cascade_journal LIMIT 1") != nil
      }
      if try db.integer("SELECT 1 FROM cascade_plan WHERE owns AND approved LIMIT 1") != nil {
        return true
      }
      let scope = try JournalScope(plan: nil, db)
      return try db.integer(
        generated: """
          SELECT 1 FROM cascade_journal AS j WHERE j.seq > ? \(scope.and("j")) LIMIT 1
          """, [.integer(db.journalFloor)]) != nil
    }
  }

  /// The last journal row that the application's triggers may have written in response to Cascade's
  /// writes; nil if the application has no triggers, or the journal is empty.
  package var lastTriggerResponse: Int64? {
    get throws {
      binding.hasTriggers ? try db.integer("SELECT max(seq) FROM cascade_journal") : nil
    }
  }

  /// The next model has to read the edges again, even if it is the previous one.
  package func markReferencesUnread() throws {
    try db.setMeta(.valueReferences, Writer.unread)
    attachment.areReferencesRead = false
  }

  package static let unread = Int64.min
}

extension Connection {
  package func journalPosition(_ kind: SweepKind) throws(SQLiteError) -> Int64 {
    try meta(.journalRead(kind)) ?? 0
  }

  /// Zero if the journal is empty.
  package var lastInJournal: Int64 {
    get throws(SQLiteError) { try integer("SELECT max(seq) FROM cascade_journal") ?? 0 }
  }

  /// The last row of the journal that is no news to these kinds.
  package func journalStart(_ kinds: [SweepKind]) throws(SQLiteError) -> Int64 {
    if kinds.cascades == kinds.counts { return try journalFloor }
    return try journalPosition(kinds.cascades ? .cascade : .refcount)
  }
}
