internal import CascadeModel
internal import CascadeSQLite
/// Much of one kind beside others who write (DESIGN 8.3): in each transaction a few after the other, as
/// long as there is time.
extension Writer {
  /// `body` does a little, and says whether there may be more.
  func littleByLittle(_ manners: Manners, _ body: () throws -> Bool) throws {
    defer { forgetFence() }
    var isMore = true
    while isMore {
      try lookAround { isMore = try asMuchAsMayBe(body) }
      if isMore { try breathe(manners) }
    }
    try bringRest(manners)
  }

  /// The same in steps of a sweep.
  private func stepByStep(_ manners: Manners, _ body: () throws -> Bool) throws {
    var isMore = true
    while isMore {
      try step { isMore = try asMuchAsMayBe(body) }
      if isMore { try breathe(manners) }
    }
  }

  /// The commit is to come.
  private func asMuchAsMayBe(_ body: () throws -> Bool) throws -> Bool {
    let end = ContinuousClock.now + pace.budget / 2
    while try body() {
      if .now >= end || pace.rowsToAStep != nil { return true }
    }
    return false
  }

  private func lookAround(_ body: () throws -> Void) throws {
    try group(isStep: true) {
      pace.look(foreignCommits: try foreignCommits())
      try body()
    }
  }

  /// What `ids` finds, in the order of its numbers; if that is nothing, there is no transaction.
  func eachFew(of ids: String, _ manners: Manners, _ body: (Slice) throws -> Void) throws {
    var rest = try slices(of: ids)
    if rest.isEmpty { return }
    try littleByLittle(manners) { try rest.takeFirst(body) }
  }

  /// The same in steps of a sweep.
  func stepThrough(
    _ ids: String, _ manners: Manners, _ body: (Slice) throws -> Void
  ) throws {
    var rest = try slices(of: ids)
    if rest.isEmpty { return }
    try stepByStep(manners) { try rest.takeFirst(body) }
  }

  /// The clock is looked at behind so many.
  var atOnce: Int64 { pace.rowsToAStep ?? 256 }

  private func slices(of ids: String) throws -> [Slice] {
    var low = Int64.min
    return try db.all(
      generated: """
        SELECT max(id) FROM (
          SELECT id, (row_number() OVER (ORDER BY id) - 1) / ? AS part FROM (\(ids)))
        GROUP BY part ORDER BY part
        """, [.integer(atOnce)]
    ) { row in
      defer { low = row.integer(0) }
      return Slice(low: low, high: row.integer(0))
    }
  }
}

extension [Slice] {
  /// Says whether there are more.
  fileprivate mutating func takeFirst(_ body: (Slice) throws -> Void) rethrows -> Bool {
    try body(removeFirst())
    return !isEmpty
  }
}

/// What a plan brings beside the nodes that go: edges that others removed, files that lost one, what a
/// lease spares. There may be as many of these.
extension Writer {
  func findNews() throws {
    try findRemovedEdges()
    try findSpared()
  }

  func bringNews(_ manners: Manners) throws {
    try stepThrough("SELECT rowid AS id FROM temp.told", manners) { try tell($0) }
    try stepThrough("SELECT rowid AS id FROM temp.spared", manners, keepSpared)
    if model.files.isEmpty || current.lostCount == 0 { return }
    try stepThrough(Writer.lostFiles, manners) { try rememberLostFiles($0) }
  }
}
