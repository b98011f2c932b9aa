internal import CascadeModel
internal import CascadePostgres
internal import PostgresBinding
package import PostgresTables

/// References to what a sweep deleted, from transactions that could not see the deletion.
///
/// A transaction that was open while a node went may have inserted a reference to it, and neither saw
/// the other. Once all transactions that were open then have ended, each later one sees that the node
/// is gone. So what went is looked for once more at that time, and then never again.
package struct LateReferences {
  private let store: StoreConnection

  package init(_ store: StoreConnection) { self.store = store }

  /// The ends whose loss an edge would notice. A join row is removed with either.
  private var ends: [(relation: EdgeRelation, end: EdgeEnd)] {
    store.binding.relations.flatMap { relation -> [(EdgeRelation, EdgeEnd)] in
      if relation.looseJoin != nil { return [(relation, .source), (relation, .destination)] }
      if relation.join != nil { return [] }
      let isMissed = !relation.allRules.isDisjoint(with: .losingDestination)
      return isMissed ? [(relation, .destination)] : []
    }
  }

  // MARK: - What went

  /// Remembers what went, in the transaction that ends a batch, and what still refers to it.
  package func remember(_ waves: Waves) throws {
    let tables = Dictionary(
      ends.map { $0.relation.table(at: $0.end) }.map { ($0.number, $0) }, uniquingKeysWith: { $1 })
    for table in tables.values {
      try store.db.run(
        """
        INSERT INTO cascade.recheck(collection, key)
        SELECT DISTINCT \(table.number), n.key FROM (\(waves.gone(table, untold: true, unsettled: true))) n
        """)
    }
    let hasBlocked = try BlockedNodes(store).isAny
    // A reference may be there when its destination is gone and all rules were followed.
    for (relation, end) in ends
    where relation.join == nil && (relation.staysDangling || hasBlocked) {
      try rememberOutlived(relation, end, waves.gone(relation.destination, untold: true))
    }
  }

  /// Remembers, after an undo, which edges it has brought back although an end is gone.
  package func rememberRestored() throws {
    for (relation, end) in ends {
      let gone = """
        SELECT r.key FROM cascade.recheck r WHERE r.collection = \(relation.table(at: end).number)
        """
      if relation.join == nil {
        try rememberOutlived(relation, end, gone)
      } else {
        try rememberJoinRows(relation, end, try store.db.run(gone).texts)
      }
    }
  }

  private func rememberJoinRows(
    _ relation: EdgeRelation, _ end: EdgeEnd, _ keys: [String]
  ) throws {
    if keys.isEmpty { return }
    let dangling = relation.dangling(at: end)
    try store.db.run(
      """
      INSERT INTO cascade.outlived(relation, key, other)
      SELECT \(relation.number), \(relation.from()), \(relation.to()) FROM \(dangling.edges)
      WHERE \(dangling.isAny("$1")) AND \(dangling.condition)
      """, [arrayText(keys)])
  }

  private func rememberOutlived(
    _ relation: EdgeRelation, _ end: EdgeEnd, _ keys: String
  ) throws {
    let lost = try store.leads(relation, toAnyOf: keys)
    try store.db.run(
      """
      INSERT INTO cascade.outlived(relation, key, other)
      SELECT \(relation.number), \(relation.source.key.text("s")), \(relation.to())
      FROM \(relation.edges()) WHERE \(lost.condition)
      AND \(relation.dangling(at: end).condition)
      """, lost.values)
  }

  // MARK: - What came late

  package static let isDue = "xid < pg_snapshot_xmin(pg_current_snapshot())"

  /// Journals what is referred to again, in a transaction of its own. Whether there is any.
  package func journalDue() throws -> Bool {
    let isAny = "SELECT EXISTS (SELECT FROM cascade.recheck WHERE \(LateReferences.isDue))"
    if try !store.db.runAgain(isAny).bool { return false }
    let spared = try SparedCauses(store)
    return try store.transaction(isDurable: false) {
      let due = try store.db.run(
        "DELETE FROM cascade.recheck WHERE \(LateReferences.isDue) RETURNING collection, key"
      ).rows
      if due.isEmpty { return false }
      let keys = Dictionary(grouping: due) { Int64($0[0]!)! }.mapValues { $0.map { $0[1]! } }
      let isAny = try ends.reduce(false) { isAny, edge in
        guard let keys = keys[edge.relation.table(at: edge.end).number] else { return isAny }
        return try journal(edge.relation, edge.end, keys, but: spared) || isAny
      }
      try store.db.run("DELETE FROM cascade.outlived WHERE \(LateReferences.isDue)")
      return isAny
    }
  }

  private func journal(
    _ relation: EdgeRelation, _ end: EdgeEnd, _ keys: [String], but spared: SparedCauses
  ) throws -> Bool {
    let dangling = relation.dangling(at: end)
    let tables = end == .destination ? relation.destinationNumbers : "\(dangling.table.number)"
    let known = """
      SELECT FROM cascade.outlived o WHERE o.relation IN (\(relation.numbers))
      AND o.key = \(relation.from()) AND o.other = \(relation.to())
      """
    return try losses(relation, dangling.table, dangling.key, from: relation.from(), relation.to())
      .reduce(false) { isAny, loss in
        let journaled = try store.db.run(
          """
          \(loss) FROM \(dangling.edges)
          WHERE \(dangling.isAny("$1")) AND \(dangling.condition) AND NOT EXISTS (\(known))
          AND NOT \(spared.ownsDeletion(dangling.key, of: tables))
          AND NOT \(spared.tellOfLoss(of: relation.numbers, from: relation.from(), to: relation.to()))
          """, [arrayText(keys)])
        return isAny || journaled.changed > 0
      }
  }

  /// What begins the statements that journal the loss of such edges. Other references to the same node were
  /// lost before; join rows with that end go, and those are found by it that are to be set to null.
  private func losses(
    _ relation: EdgeRelation, _ table: MappedTable, _ key: String, from: String, _ to: String
  ) -> [String] {
    func loss(_ row: String) -> String {
      "INSERT INTO cascade.journal(what, subject, key, other, told) SELECT DISTINCT \(row)"
    }
    let end = "\(JournalSubject.gone.rawValue), \(table.number), \(key), NULL"
    if relation.join != nil { return [loss("\(end), false")] }
    let edge = "\(JournalSubject.widowed.rawValue), \(relation.number), \(from), \(to), false"
    let isEmptied = relation.allRules.contains(.nullifySourceIfDestinationDeleted)
    return [loss(edge)] + (isEmptied ? [loss("\(end), true")] : [])
  }

  /// Edges that came when an end was gone. One to what was deleted before is as if the deletion were
  /// seen now; others to nothing are left to a search for them.
  package func journalArrived() throws {
    let spared = try SparedCauses(store)
    for (relation, end) in ends {
      let (table, key) = (relation.table(at: end), end == .source ? "j.key" : "j.other")
      for loss in losses(relation, table, key, from: "j.key", "j.other") {
        try store.db.run(
          """
          \(loss) FROM cascade.journal j
          WHERE j.what = \(JournalSubject.arrived.rawValue) AND j.subject = \(relation.number)
          AND \(table.wasDeleted(key)) AND NOT \(table.has(key))
          AND NOT \(spared.ownsDeletion(key, of: "\(table.number)"))
          """)
      }
    }
    try store.db.run(
      """
      DELETE FROM cascade.journal j WHERE j.what = \(JournalSubject.arrived.rawValue)
      AND NOT \(store.binding.waits("j"))
      """)
  }
}
