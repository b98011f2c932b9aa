internal import CascadeModel
internal import CascadeSQLite

/// Does much work of one kind beside other writers (DESIGN 8.3). Each transaction does small
/// portions, one after the other, as long as there is time.
extension Writer {
  /// `body` does one small portion and returns whether there may be more.
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

  /// Half of the budget is left for the commit.
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

  /// Passes the rows that `ids` selects to `body`, in the order of their ids. If there are none, no
  /// transaction begins.
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

  /// The clock is read after so many rows.
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
  /// Returns whether there are more.
  fileprivate mutating func takeFirst(_ body: (Slice) throws -> Void) rethrows -> Bool {
    try body(removeFirst())
    return !isEmpty
  }
}

/// What a plan contains besides the nodes to delete: edges that others removed, files that lost an
/// edge, and nodes that a lease spares. There may be as many of these as of the nodes.
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
