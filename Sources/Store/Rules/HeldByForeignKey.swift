internal import Model
internal import SQLite

/// Found at the end of a deletion: which of the rows it was is looked for when they are there again.
struct HeldByForeignKey: Error {}

extension Writer {
  /// When the rows are there again. Only SQLite knows what tables outside of the model refer to.
  func heldByForeignKeys() throws -> Refused {
    var refused = Refused()
    for table in binding.collections.values {
      for hold in try foreignHolds(on: table) {
        for found in try db.goneNodes(of: table, .all, model, where: hold.holds) {
          refused.add(found, because: hold.reason)
        }
      }
    }
    if refused.nodes.isEmpty { try addHeldFollowers(to: &refused) }
    if refused.nodes.isEmpty {
      refused.reasons = [
        Reason(.invalid, "FOREIGN KEY constraint failed: something else still refers to it")
      ]
      refused.nodes = try db.all("SELECT id FROM temp.gone WHERE counts") { $0.integer(0) }
    }
    return refused
  }

  private func foreignHolds(on table: NodeTable) throws -> [ForeignHold] {
    guard let parent = table.table else { return [] }
    return try db.tables(withForeignKeysTo: parent).flatMap { child in
      let stays = binding.collection(in: child)?.stays("h", current.numbers)
      return child.holds(table, where: stays ?? "1").filter(\.fits)
    }
  }

  /// What would go with a node may be held, and so is the node.
  private func addHeldFollowers(to refused: inout Refused) throws {
    let going = try followersOfForeignKeys().filter { $0.lost == nil }
    for follower in going {
      for child in try db.tables(withForeignKeysTo: follower.table) {
        for key in child.foreignKeys where key.refuses && key.refers(to: follower.table) {
          let held = try slices(.all) { try db.holds(key, of: child, follower, $0) }
          let why =
            "a row of \"\(child.name)\" refers to what would go with it "
            + "(FOREIGN KEY (\(key.columns.joined(separator: ", "))))"
          for slice in held { try add(slice, why, .denied, to: &refused) }
        }
      }
    }
  }

  /// Of one node each, found by halves.
  private func slices(_ slice: Slice, where isHeld: (Slice) throws -> Bool) throws -> [Slice] {
    let high = min(slice.high, try db.integer("SELECT max(seq) FROM temp.gone") ?? 0)
    let low = max(slice.low, 0)
    if try low >= high || !isHeld(Slice(low: low, high: high)) { return [] }
    if high == low + 1 { return [Slice(low: low, high: high)] }
    let middle = (low + high) / 2
    return try slices(Slice(low: low, high: middle), where: isHeld)
      + slices(Slice(low: middle, high: high), where: isHeld)
  }
}

extension Connection {
  fileprivate func holds(
    _ key: Table.ForeignKey, of child: Table, _ follower: Follower,
    _ slice: Slice
  ) throws(SQLiteError) -> Bool {
    try !all(
      generated: """
        SELECT 1 FROM main.\(quoted(follower.table.name)) AS f
        CROSS JOIN main.\(quoted(child.name)) AS h ON \(key.matches("h", "f", follower.table))
        WHERE \(follower.table.identity("f")) IN (\(follower.rows)) LIMIT 1
        """, [.null, .null] + slice.bound
    ) { _ in true }.isEmpty
  }

  fileprivate func tables(withForeignKeysTo parent: Table) throws -> [Table] {
    let names = try all(
      """
      SELECT DISTINCT t.name FROM main.sqlite_schema AS t, pragma_foreign_key_list(t.name, 'main') AS f
      WHERE t.type = 'table' AND f."table" = ? COLLATE NOCASE ORDER BY t.name
      """, .text(parent.name)
    ) { $0.text(0) }
    return try tables(names)
  }
}
