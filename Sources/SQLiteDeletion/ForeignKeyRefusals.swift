internal import CascadeSQLite
internal import CascadeStore
internal import SQLiteBinding
internal import SQLiteTables

/// A foreign key refuses a deletion. SQLite reports this at the end of the deletion; which rows are
/// held is found out after the rollback, when they are there again.
package struct ForeignKeyRefusal: Error, CustomStringConvertible {
  package var description: String { "a foreign key prevents this" }
}

extension Writer {
  /// Finds the nodes that foreign keys hold. To be called after the rollback, when the rows are
  /// there again. Only SQLite knows what the tables outside of the model refer to.
  func nodesRefusedByForeignKeys() throws -> ApplicationRefusal {
    var refused = ApplicationRefusal()
    for table in binding.collections.values {
      for hold in try foreignHolds(on: table, .all) {
        for found in try db.goneNodes(of: table, .all, model, where: hold.holds) {
          refused.add(found, because: hold.reason)
        }
      }
    }
    if refused.nodes.isEmpty { try addNodesOfHeldEffects(to: &refused) }
    if refused.nodes.isEmpty {
      refused.reasons = [
        Reason(
          .invalid,
          "FOREIGN KEY constraint failed: another row still refers to a deleted row, or a new row "
            + "refers to a missing row")
      ]
      refused.nodes = try db.all("SELECT id FROM temp.gone WHERE counts") { $0.integer(0) }
    }
    return refused
  }

  private func foreignHolds(on table: NodeTable, _ slice: Slice) throws -> [ForeignHold] {
    guard let parent = table.table else { return [] }
    let followers = foreignKeyEffects().filter { $0.lost == nil }
    return try tables(withForeignKeysTo: parent).flatMap { child in
      let going = followers.filter { $0.table.isSame(as: child) }.map {
        "\(child.identity("h")) NOT IN (\($0.rows(slice)))" as Query
      }
      let ownStays = binding.collection(in: child)?.stays("h", current.numbers)
      let stays = ownStays.map { Query($0) } ?? going.first ?? "1"
      let keys = child.foreignKeys.filter { $0.refers(to: parent) }
      let byDefault = keys.filter { $0.onDelete == .setDefault }.map {
        ForeignHold(
          parent: table, child: child, key: $0,
          stays: "\(stays) AND \(defaultDangles($0, by: child, table))")
      }
      return (child.holds(table, where: stays) + byDefault).filter(\.fits)
    }
  }

  /// Whether the default that a column would be set to refers to a row that does not exist, or that
  /// goes too.
  private func defaultDangles(
    _ key: Table.ForeignKey, by child: Table, _ parent: NodeTable
  ) -> String {
    let values = key.columns.map { child.column($0)?.initial ?? "NULL" }
    let isSome = values.map { "(\($0)) IS NOT NULL" }.joined(separator: " AND ")
    let isThere = zip(key.names(in: parent.table!), values).map { "p.\(quoted($0)) = (\($1))" }
    return """
      \(isSome) AND NOT EXISTS (SELECT 1 FROM \(parent.rows) AS p
        WHERE \(isThere.joined(separator: " AND ")) AND \(parent.stays("p", current.numbers)))
      """
  }

  /// Another row may hold a row that would go with a node. Then the node is held, too.
  private func addNodesOfHeldEffects(to refused: inout ApplicationRefusal) throws {
    for (child, key, follower) in try holdsOnEffects() {
      let held = try slicesOfHeldNodes(.all) { try holds(key, of: child, follower, $0) }
      let why =
        "a row of \"\(child.name)\" refers to a row that would be deleted with it "
        + "(FOREIGN KEY (\(key.columns.joined(separator: ", "))))"
      for slice in held { try add(slice, why, .denied, to: &refused) }
    }
  }

  private func holdsOnEffects() throws -> [(Table, Table.ForeignKey, ForeignKeyEffect)] {
    try foreignKeyEffects().filter { $0.lost == nil }.flatMap { follower in
      try tables(withForeignKeysTo: follower.table).flatMap { child in
        child.foreignKeys.filter { $0.onDelete.blocksDeletion && $0.refers(to: follower.table) }
          .map { (child, $0, follower) }
      }
    }
  }

  // MARK: - What SQLite does not see

  /// The tables with rows that refuse the deletion, each with the foreign key violations that it
  /// has already. SQLite only keeps a count of violations: deleting a row that violated a foreign
  /// key before makes up for a new violation.
  func violationsOfRefusingTables(_ slice: Slice) throws -> [Table: [Violation: Int]] {
    if current.sweep.isStepped || !binding.mayBeHeldOutsideModel { return [:] }
    var found: Set<Table> = []
    for table in binding.collections.values {
      for hold in try foreignHolds(on: table, slice) where binding.collection(in: hold.child) == nil
      {
        let held = try db.goneNodes(of: table, slice, model, where: hold.holds)
        if !held.isEmpty { found.insert(hold.child) }
      }
    }
    for (child, key, follower) in try holdsOnEffects()
    where try holds(key, of: child, follower, slice) {
      found.insert(child)
    }
    return try Dictionary(uniqueKeysWithValues: found.map { ($0, try violations(in: $0)) })
  }

  /// After the deletion: whether one of these tables has a violation that it did not have before.
  func haveNewViolations(_ tables: [Table: [Violation: Int]]) throws -> Bool {
    try tables.contains { table, before in
      try violations(in: table).contains { $0.value > before[$0.key, default: 0] }
    }
  }

  /// The slices of one node each for which `isHeld` is true, found by bisection.
  private func slicesOfHeldNodes(_ slice: Slice, where isHeld: (Slice) throws -> Bool) throws
    -> [Slice]
  {
    let high = min(slice.high, try db.integer("SELECT max(seq) FROM temp.gone") ?? 0)
    let low = max(slice.low, 0)
    if try low >= high || !isHeld(Slice(low: low, high: high)) { return [] }
    if high == low + 1 { return [Slice(low: low, high: high)] }
    let middle = (low + high) / 2
    return try slicesOfHeldNodes(Slice(low: low, high: middle), where: isHeld)
      + slicesOfHeldNodes(Slice(low: middle, high: high), where: isHeld)
  }

  private func violations(in table: Table) throws -> [Violation: Int] {
    let found = try db.all(
      "SELECT rowid, fkid FROM pragma_foreign_key_check(?, 'main')", .text(table.name)
    ) { Violation(row: $0.isNull(0) ? nil : $0.integer(0), key: $0.integer(1)) }
    return found.reduce(into: [:]) { $0[$1, default: 0] += 1 }
  }

  private func holds(
    _ key: Table.ForeignKey, of child: Table, _ follower: ForeignKeyEffect, _ slice: Slice
  ) throws -> Bool {
    try db.integer(
      """
      SELECT 1 FROM main.\(quoted(follower.table.name)) AS f
      CROSS JOIN main.\(quoted(child.name)) AS h ON \(key.matches("h", "f", follower.table))
      WHERE \(follower.table.identity("f")) IN (\(follower.rows(slice))) LIMIT 1
      """) != nil
  }

  private func tables(withForeignKeysTo parent: Table) throws -> [Table] {
    let names = try db.all(
      """
      SELECT DISTINCT t.name FROM main.sqlite_schema AS t, pragma_foreign_key_list(t.name, 'main') AS f
      WHERE t.type = 'table' AND f."table" = ? COLLATE NOCASE ORDER BY t.name
      """, .text(parent.name)
    ) { $0.text(0) }
    return try db.tables(names)
  }
}

/// A row that violates a foreign key: its rowid, where the table has one, and the number of the
/// key.
struct Violation: Hashable {
  let row: Int64?
  let key: Int64
}
