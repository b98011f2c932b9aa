internal import CascadeModel
internal import CascadeSQLite
/// What a look through whole tables is owed for (see `bind`): triggers cannot tell what nobody
/// watched. The sweep that looks takes it back, once it is done or was approved.
package enum Debt: Hashable, Sendable {
  /// A collection was there before anybody watched it: what dangled then is not deleted without
  /// approval, however little it is.
  case unseen
  /// For some time nobody watched: the usual limits hold (DESIGN 8.4).
  case gap
}

extension Writer {
  package var debt: Debt? {
    get throws {
      if isDetached || !hasTables { return nil }
      if try db.meta("unseen") == 1 { return .unseen }
      return try db.meta("gap") == 1 ? .gap : nil
    }
  }

  /// Somebody knows better than the triggers that not everything was watched.
  package func owe() throws {
    if hasTables { try group { try db.setMeta("gap", 1) } }
  }

  func forgetDebt() throws {
    try db.run("DELETE FROM cascade_meta WHERE name IN ('unseen', 'gap')")
  }

  /// Whether somebody wrote down what a sweep has to look at.
  package var hasJournal: Bool {
    get throws { try db.integer("SELECT 1 FROM cascade_journal LIMIT 1") != nil }
  }

  /// The last of what the application's triggers may have answered to what we wrote; nil if it has
  /// none, or they said nothing.
  package var answersOfTriggers: Int64? {
    get throws {
      binding.hasTriggers ? try db.integer("SELECT max(seq) FROM cascade_journal") : nil
    }
  }

  /// What they said since may have the same number, where the journal was empty meanwhile.
  package var mayHaveAnswers: Bool {
    get throws { try binding.hasTriggers && hasJournal }
  }

  /// Sees at once what somebody did to the schema: the next transaction may be long in coming.
  package func followSchema() throws {
    if isDetached { return }
    let isBound = try db.integer("PRAGMA main.schema_version") == binding.schemaVersion
    if try !isBound || isSchemaFresh && db.hasStatistics { try group {} }
    if !areReferencesRead { try rebuildReferences() }
  }
}

extension Reader {
  /// The rows of the journal that wait for a sweep. It is taken from the front, so its ends tell.
  package func journal() throws -> ClosedRange<Int64>? {
    // One at a time: SQLite finds an end by the key, and both together by looking at every row.
    try db.all(
      """
      SELECT (SELECT min(seq) FROM cascade_journal), (SELECT max(seq) FROM cascade_journal)
      """
    ) { $0.isNull(0) ? nil : $0.integer(0)...$0.integer(1) }.first ?? nil
  }
}
