internal import CascadeModel
internal import CascadeSQLite
/// How far each kind of sweep has read the journal. Rows are there until both have: what `cascade`
/// is done with may still be news to `refcount`.
///
/// Whoever sweeps with one of them, or in steps, is loud: what it deletes itself comes into the
/// journal like an application's deletion, behind what it read. So the other kind finds it, and so
/// does whoever goes on after a crash.
extension Writer {
  /// One run for both; unless one of them is ahead, then each reads what it has not, and what the
  /// other did about it; and then both what one denied and the other may let go. None of them looks
  /// through whole tables, also where `all` was asked for.
  func journalParts(of kinds: [SweepKind]) throws -> [[SweepKind]] {
    let readers = [SweepKind.cascade, .refcount].filter(kinds.include)
    if readers.isEmpty { return [] }
    let isEven = try db.mark(.cascade) == db.mark(.refcount)
    if readers.count == 2 && !isEven {
      return [[.cascade], [.refcount], [.cascade], [.refcount], [.cascade, .refcount]]
    }
    return [readers]
  }

  func readJournal(_ kinds: [SweepKind]) throws {
    current.journalEnd = try db.lastInJournal
    if current.journalEnd == 0 { return }
    let digest = Digest(
      binding: binding, watches: watches, tellsWhy: model.trash > .zero,
      ownEnd: try db.meta("own.end") ?? 0,
      hasMourned: try db.hasTold)
    try digest.read(
      db, above: db.journalStart(kinds), upTo: current.journalEnd)
  }

  /// What these kinds have read is done with, as soon as no other kind needs it.
  func forgetJournal(_ kinds: [SweepKind], upTo end: Int64) throws {
    if !kinds.readsJournal { return }
    let end = try readByAll(kinds, end)
    try db.run("DELETE FROM cascade_journal WHERE seq <= ?", .integer(end))
    try db.run(
      "DELETE FROM cascade_meta WHERE name GLOB 'told.*' AND value <= ?", .integer(end))
    if try db.integer("SELECT 1 FROM cascade_journal LIMIT 1") == nil { try numberAnew() }
  }

  /// Where all rows are gone, the numbers begin anew: none of the old ones may be taken for a new
  /// one.
  private func numberAnew() throws {
    try forgetMarks()
    try db.run("DELETE FROM cascade_meta WHERE name = 'own.end' OR name GLOB 'told.*'")
    current.journalEnd = 0
  }

  private func forgetMarks() throws {
    try db.run("DELETE FROM cascade_meta WHERE name IN ('cascade.read', 'refcount.read')")
  }

  private func readByAll(_ kinds: [SweepKind], _ end: Int64) throws -> Int64 {
    if kinds.cascades && kinds.counts { return end }
    return min(end, try db.mark(kinds.cascades ? .refcount : .cascade))
  }

  /// At the end of a sweep: what it deleted itself is no news to it.
  func markOwnWrites(_ kinds: [SweepKind]) throws {
    if !kinds.readsJournal { return }
    let read = try knownEnd
    if !(kinds.cascades && kinds.counts) {
      try db.setMark(kinds.cascades ? .cascade : .refcount, read)
      return try forgetJournal(kinds, upTo: read)
    }
    try forgetJournal(kinds, upTo: read)
    try forgetMarks()
  }

  /// What others find gone in the journal because of this sweep, they need not explain.
  func markOwnEnd() throws {
    if !current.isLoud && current.deletedCount == 0 { return }
    let last = try db.lastInJournal
    if last == 0 { return try numberAnew() }
    // What was there before it, it explains to nobody; its own rows are marked as such.
    if !current.tellsOfCauses && !binding.hasTriggers { return }
    let end = current.isStepped ? current.ownEnd : last
    if end > 0 { try db.setMeta("own.end", end) }
  }

  /// Another kind finds these rows of our own: what it does about them, it has nobody to tell of
  /// again. Where the application has triggers, some are theirs, and twice is better than never.
  func markTold(behind start: Int64, upTo end: Int64) throws {
    if readsAllItDoes || binding.hasTriggers || end == start { return }
    try db.run(
      "UPDATE cascade_meta SET value = ? WHERE name GLOB 'told.*' AND value = ?",
      .integer(end), .integer(start))
    if db.changes > 0 { return }
    if try !db.hasTold { try db.setMeta("told since", current.batch) }
    try db.setMeta("told.\(start)", end)
  }

  /// What follows from its own rows, the last plan of a sweep that follows all rules had found, though
  /// it never reads the journal. Later another row may be where one was, so they go, a part at a time.
  /// What followed from those of earlier plans, whoever reads the journal finds.
  func forgetOwnWrites(
    _ kinds: [SweepKind], behind start: Int64, _ manners: Manners
  ) throws {
    if kinds.readsJournal || current.hasKept || !current.isUndisturbed { return }
    for own in try ownWrites(behind: start) {
      var low = own.low
      while low < own.high {
        let part = Slice(low: low, high: min(own.high, low + pace.rows * 10))
        if try !forgetUndisturbed(part, of: own) { return }
        low = part.high
        try breathe(manners)
      }
    }
  }

  /// Of a sweep that began there.
  private func ownWrites(behind start: Int64) throws -> [Slice] {
    try db.all(
      """
      SELECT CAST(substr(name, 6) AS INTEGER) AS low, value FROM cascade_meta
      WHERE name GLOB 'told.*' AND low >= ? ORDER BY low
      """, .integer(start)
    ) { Slice(low: $0.integer(0), high: $0.integer(1)) }
  }

  /// With the last part its numbers are free for others. False where these came between.
  private func forgetUndisturbed(_ part: Slice, of own: Slice) throws -> Bool {
    try group {
      if try !pace.knows(foreignCommits()) { return false }
      try db.run(
        "DELETE FROM cascade_journal WHERE seq > ? AND seq <= ?", .integer(part.low),
        .integer(part.high))
      if part.high == own.high {
        try db.run("DELETE FROM cascade_meta WHERE name = ?", .text("told.\(own.low)"))
      }
      // Who is named there, and is gone, this sweep may have deleted.
      current.ownEnd = try db.lastInJournal
      return true
    }
  }

  private var readsAllItDoes: Bool {
    current.followed == .all && (current.readsItsDeletions || !current.isStepped)
  }

  /// Up to here the journal was read, or is there because of what we did ourselves: others may write
  /// among that, and after the last step.
  var knownEnd: Int64 {
    get throws {
      if current.isStepped { return current.isUndisturbed ? current.ownEnd : current.journalEnd }
      if binding.hasTriggers { return current.journalEnd }
      return try db.lastInJournal
    }
  }
}

extension Connection {
  func mark(_ kind: SweepKind) throws(SQLiteError) -> Int64 {
    try meta("\(kind.rawValue).read") ?? 0
  }

  func setMark(_ kind: SweepKind, _ seq: Int64) throws(SQLiteError) {
    try setMeta("\(kind.rawValue).read", seq)
  }

  /// Whether rows are there that another kind of sweep wrote and told of.
  fileprivate var hasTold: Bool {
    get throws(SQLiteError) {
      try integer("SELECT 1 FROM cascade_meta WHERE name GLOB 'told.*'") != nil
    }
  }

  /// Zero where there is none.
  var lastInJournal: Int64 {
    get throws(SQLiteError) { try integer("SELECT max(seq) FROM cascade_journal") ?? 0 }
  }

  /// The last row of the journal that is no news to these kinds.
  func journalStart(_ kinds: [SweepKind]) throws(SQLiteError) -> Int64 {
    if kinds.cascades == kinds.counts { return 0 }
    return try mark(kinds.cascades ? .cascade : .refcount)
  }
}
