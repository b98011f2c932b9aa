internal import Model
internal import SQLite

/// Looks at the edges once: finds what must go, asks whether it may, and removes it (DESIGN 2.3).
extension Writer {
  /// The last flush of a transaction also asks whether all of it is over the hold limit.
  func flush(isLast: Bool = true) throws {
    defer { beginPeriod() }
    if current.deadCount > 0 || current.lostCount > 0 {
      try refuseHalfView()
      try removeAll(isLast: isLast)
      try clear()
    } else if isLast {
      try refuseOverLimit()
    }
    try forgetFresh()
  }

  /// Until nothing is refused: what the application's own rules keep stays, and D is found anew
  /// without it (DESIGN 2.5). A transaction is refused as a whole instead.
  private func removeAll(isLast: Bool) throws {
    while true {
      let before = current
      try findGone()
      if isLast { try refuseOverLimit() } else { try addToPlan() }
      guard let refused = try removeUnlessRefused() else { return }
      current = before
      current.blocked += refused.reasons
      try db.block(refused.nodes)
    }
  }

  private func removeUnlessRefused() throws -> Refused? {
    do {
      try db.savepoint(removeGone)
      return nil
    } catch let refused as Refused {
      return refused
    }
  }

  private func findGone() throws {
    let closure = Closure(
      storedRules: counters.rulesSeen, binding: binding, firstNewId: current.firstNewId)
    if current.isSweep {
      current.blocked += try closure.completeUndenied(db)
    } else {
      try closure.complete(db)
      try refuseDenied()
    }
    try countDeleted()
  }

  private func removeGone() throws {
    try report()
    try touchNeighbours()
    if model.trash > .zero { try keepInTrash() }
    try letGo()
    try deleteRows()
    try forgetOwnRemovals()
    try nullifyReferences()
    try deleteGone()
  }

  /// From here on, edges and nodes that come are new to the next flush.
  private func beginPeriod() {
    counters.serial += 1
    current.firstNewId = counters.nextId
  }

  private func countDeleted() throws {
    let count = try db.integer("SELECT count(*) FROM temp.gone WHERE counts")
    let files = model.files.isEmpty ? 0 : try db.filesInGone()
    current.deletedCount += Int(count ?? 0) - files
    if current.isSweep { try countByKind() }
  }

  private func countByKind() throws {
    for count in try db.goneByCollection() {
      current.deletedByCollection[count.name, default: 0] += count.gone
    }
    current.deletedByRule.merge(try db.countsByRule()) { $0 + $1 }
  }

  /// Somebody else may hold what we cannot see: the file waits until the tables are back.
  private func refuseHalfView() throws {
    if binding.problems.isEmpty { return }
    let problems = binding.problems.map(\.description).joined(separator: "; ")
    throw StoreError("nothing is deleted while the model and the tables differ: \(problems)")
  }

  /// What the receipt, the notices and the files' owner are told.
  private func report() throws {
    if current.deletedCount > 0 { try listDeleted() }
    try writeNotices()
    if !model.files.isEmpty { try releaseFiles() }
  }

  private func listDeleted() throws {
    let room = Receipt.mostListed - current.deleted.count
    current.deleted += try db.all(
      """
      SELECT c.name, coalesce(n.key, k.key)
      FROM temp.gone AS g LEFT JOIN cascade_node AS n ON n.id = g.id
      LEFT JOIN temp.known AS k ON k.id = g.id
      CROSS JOIN cascade_collection AS c ON c.id = coalesce(n.collection, k.collection)
      WHERE g.counts AND c.name NOT GLOB 'cascade_file/*'
      ORDER BY g.seq LIMIT ?
      """, .integer(Int64(room))
    ) { $0.node(0, model) }
  }

  /// In the order of the B-trees, so that each page is touched once.
  private func deleteGone() throws {
    try forgetGone()
    try db.run("DELETE FROM cascade_edge WHERE source IN (SELECT id FROM temp.gone)")
    current.edgesRemoved += db.changes
    try db.run("DELETE FROM cascade_edge WHERE destination IN (SELECT id FROM temp.gone)")
    current.edgesRemoved += db.changes
    try db.run("DELETE FROM cascade_node WHERE id IN (SELECT id FROM temp.gone)")
  }

  /// What goes must not be found again. A few are taken out one by one, many with all the others.
  private func forgetGone() throws {
    let few: Int64 = 256
    let gone = try db.all(
      """
      SELECT n.collection, n.key FROM temp.gone AS g CROSS JOIN cascade_node AS n ON n.id = g.id
      LIMIT ?
      """, .integer(few + 1)
    ) { Interned.Identity(collection: $0.integer(0), key: $0.text(1)) }
    if gone.count > few { return interned.nodes.forget() }
    for identity in gone { interned.nodes[identity] = nil }
  }

  private func clear() throws {
    try db.run("DELETE FROM temp.dead")
    try db.run("DELETE FROM temp.lost")
    try db.forgetGone()
    try db.run("DELETE FROM temp.blocked")
    current.deadCount = 0
    current.lostCount = 0
  }
}
