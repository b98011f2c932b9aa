package import CascadeModel
package import CascadeSQLite
package import SQLiteBinding
internal import SQLiteTables

/// The unreachable sweep: finds the nodes that no chain of edges reaches from the
/// `roots` of the model, cycles included.
///
/// An edge leads from its source to its destination. It also leads back where the source lives by
/// its destination (rules 4 and 16). Leased nodes count as roots, so what they lead to is kept as
/// well. Marks are set level by level, as D grows (`Closure`), in temporary tables. No path leads
/// through D.
struct Reachability {
  let model: StoreModel
  let binding: Binding
  let numbers: NumberedTables

  /// Returns whether a node is reached only because of a lease.
  fileprivate func mark(_ db: borrowing Connection) throws -> Bool {
    try addRoots(db)
    try db.removeGoneFromReached(above: 0)
    let roots = try followAll(db, above: 0)
    try addLeased(db)
    return try followAll(db, above: roots) > roots
  }

  private func followAll(_ db: borrowing Connection, above first: Int64) throws -> Int64 {
    var low = first
    while let high = try db.integer("SELECT max(seq) FROM temp.reachable_nodes"), high > low {
      try follow(db, Slice(low: low, high: high))
      low = high
    }
    return low
  }

  // MARK: - Roots

  private func addRoots(_ db: borrowing Connection) throws {
    for root in model.roots {
      let collection = model.collection(of: root)
      if let table = binding.collections[collection] {
        try db.stageRows(of: table, numbers)
        try db.markFoundReached()
      } else {
        let types = root == collection ? [.null] : model.types(called: root).map(Value.text)
        for type in types {
          try db.run(
            """
            INSERT OR IGNORE INTO temp.reachable_nodes(id)
            SELECT n.id FROM cascade_collection AS c
            CROSS JOIN cascade_node AS n ON n.collection = c.id
            WHERE c.name = ?1 AND (?2 IS NULL OR n.type = ?2)
            """, .text(collection), type)
        }
      }
    }
  }

  private func addLeased(_ db: borrowing Connection) throws {
    try db.run("INSERT OR IGNORE INTO temp.reachable_nodes(id) SELECT id FROM temp.leased")
    try db.run(
      """
      INSERT OR IGNORE INTO temp.reachable_nodes(id) SELECT id FROM cascade_node
      WHERE collection IN (SELECT id FROM temp.leased_collection)
      """)
    let leased = Set(try db.all("SELECT id FROM temp.leased_collection") { $0.integer(0) })
    for table in binding.collections.values where leased.contains(table.id) {
      try db.stageRows(of: table, numbers)
      try db.markFoundReached()
    }
  }

  // MARK: - A level

  private func follow(_ db: borrowing Connection, _ level: Slice) throws {
    let driver = EdgeRelation.StartingNodes.reached.limited(to: level)
    try db.addKnownRows(binding, numbers, driver)
    for end in EdgeEnd.allCases {
      // Only some edges lead back to their sources.
      let leads = end == .source ? "1" : "e.rules & \(Rules.ofLostDestination.rawValue)"
      try db.run(
        """
        INSERT OR IGNORE INTO temp.reachable_nodes(id)
        SELECT e.\(end.other.rawValue) FROM \(driver.rows)
        CROSS JOIN main.cascade_edge AS e ON e.\(end.rawValue) = g.id
        WHERE \(level.contains()) AND \(leads)
        """)
      for relation in binding.examinedRelations where relation.leads(to: end.other) {
        try db.stageNodes(
          losing: end, of: relation, rule: 0, in: level, numbers, from: .reached)
      }
    }
    try db.markFoundReached()
    try db.removeGoneFromReached(above: level.high)
  }
}

extension Connection {
  /// Writes the unreachable nodes into `temp.unreachable_nodes`. Returns whether there would be
  /// more of them without leases.
  @discardableResult
  package func findUnreachable(_ binding: Binding, _ model: StoreModel, at now: Int64) throws
    -> Bool
  {
    if model.roots.isEmpty { return false }
    try findLeased(binding, at: now)
    return try findUnreached(
      Reachability(model: model, binding: binding, numbers: numbers(binding)),
      movingBy: """
        INSERT OR IGNORE INTO temp.unreachable_nodes SELECT id, collection FROM temp.staged
        WHERE id IS NOT NULL
        """)
  }

  /// Appends to `temp.gone` the nodes that nothing reaches any more without the nodes that are
  /// already in it.
  func appendNewlyUnreachable(behindGone reaching: Reachability) throws {
    _ = try findUnreached(
      reaching,
      movingBy: """
        INSERT OR IGNORE INTO temp.gone(id, collection) SELECT id, collection FROM temp.staged
        WHERE id IS NOT NULL AND id NOT IN (SELECT id FROM temp.blocked) ORDER BY id
        """)
  }

  /// Moves the nodes that get no mark from `temp.staged` into another table by a statement. Returns
  /// whether there would be more of them without leases.
  private func findUnreached(
    _ reaching: Reachability, movingBy statement: Query
  ) throws -> Bool {
    let isLeased = try reaching.mark(self)
    // For a row of the application, `cascade_node` has only its identity.
    let (binding, numbers) = (reaching.binding, reaching.numbers)
    for table in binding.collections.values
    where reaching.model.isReachableByModel(table.collection) {
      let isUnreached = table.isNotListed("temp.reachable_nodes", "d", numbers)
      try stageRows(of: table, numbers, where: isUnreached)
    }
    try numberFound()
    try run(
      generated: """
        INSERT INTO temp.staged(id, collection)
        SELECT n.id, n.collection FROM main.cascade_collection AS c
        CROSS JOIN main.cascade_node AS n ON n.collection = c.id
        WHERE c.name NOT GLOB 'cascade_file/*' AND c.id NOT IN (\(binding.tableNumbers))
        AND n.id NOT IN (SELECT id FROM temp.reachable_nodes)
        """)
    try empty(.reachableNodes)
    try run(statement)
    try clearFound()
    return isLeased
  }

  fileprivate func removeGoneFromReached(above low: Int64) throws(SQLiteError) {
    if try integer("SELECT 1 FROM temp.gone LIMIT 1") == nil { return }
    try run(
      "DELETE FROM temp.reachable_nodes WHERE seq > ? AND id IN (SELECT id FROM temp.gone)",
      .integer(low))
  }

  func stageRows(
    of table: NodeTable, _ numbers: NumberedTables, where condition: String = "1"
  ) throws(SQLiteError) {
    try run(
      generated: """
        INSERT INTO temp.staged(id, key, row, collection)
        SELECT \(table.numberKeyAndRow("d", numbers)), \(table.id) FROM \(table.rows) AS d
        WHERE \(table.isNode("d")) AND \(condition)
        """)
  }

  fileprivate func markFoundReached() throws(SQLiteError) {
    try numberFound(
      movingBy: """
        INSERT OR IGNORE INTO temp.reachable_nodes(id)
        SELECT id FROM temp.staged WHERE id IS NOT NULL ORDER BY id
        """)
  }
}
