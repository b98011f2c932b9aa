internal import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import CascadeEngine
package import SQLiteBinding
package import SQLiteTables
internal import SQLiteJournal
package import SQLiteRules
internal import SQLiteEdges

/// The flush: finds the nodes that must go, checks that they may, and removes them.
extension Writer {
  /// The last flush of a transaction also checks the whole transaction against the hold limit.
  /// `check` is called with the levels of D, before anything is removed, and may refuse them. `begin`
  /// is called behind everything that is only read.
  package func flush(
    isLast: Bool = true, checking check: ([Closure.Level]) throws -> Void = { _ in },
    beforeWriting begin: () throws -> Void = {}
  ) throws {
    defer { beginPeriod() }
    if facts.hasTables && !current.sweep.isSweep { try resolveReferencesToRows() }
    if current.lostCount > 0 && !current.sweep.isSweep { try cancelRemovalsDeclaredElsewhere() }
    if current.deadCount > 0 && facts.hasTables && !current.sweep.isSweep {
      try dropUnusedAbsentNodes()
    }
    if current.deadCount > 0 || current.lostCount > 0 {
      try requireAllTables()
      if !isLast { try nameAllDead() }
      try refreshDeletedRows()
      try removeUntilAccepted(isLast: isLast, check, begin)
      if !current.sweep.isSweep { try deleteStaleCandidatesInTransaction() }
      try clearFlushState()
    } else if isLast {
      try holdIfOverLimit()
      try begin()
      // Candidates whose node is gone may have left a cause that explains nothing.
      if current.sweep.isSweep { try clearFlushState() }
    }
    try clearAdditions()
  }

  /// Repeats the deletion until nothing is refused. A node that the application's own rules keep
  /// stays, and D is found again without it. A transaction, in contrast, is refused as
  /// a whole.
  private func removeUntilAccepted(
    isLast: Bool, _ check: ([Closure.Level]) throws -> Void, _ begin: () throws -> Void
  ) throws {
    while true {
      let before = current
      let levels = try findGone()
      try judgeOwnDeletions()
      try check(levels)
      if isLast { try holdIfOverLimit() } else { try addToPlan() }
      try begin()
      guard let refused = try removeUnlessRefused(levels) else { return }
      current = before
      current.blocked += refused.reasons
      current.blocksMore = true
      try db.block(refused.nodes)
    }
  }

  private func removeUnlessRefused(_ levels: [Closure.Level]) throws -> ApplicationRefusal? {
    if !current.sweep.hasDeletionSavepoint {
      try removeGone(levels)
      return nil
    }
    do {
      try db.savepoint { try removeGone(levels) }
      return nil
    } catch let refused as ApplicationRefusal {
      return refused
    } catch is ForeignKeyRefusal {
      let refused = try nodesRefusedByForeignKeys()
      if current.sweep.isSweep { return refused }
      throw Rejection(refused.reasons)
    }
  }

  package func findGone() throws -> [Closure.Level] {
    try db.findLeased(binding, at: clock.now)
    current.numbers = try db.numbers(binding)
    current.numbers.leavesWaiting =
      try !current.sweep.isSweep && (mayHoldBack || namesWhatWaits())
    try nameDeadOutOfRange()
    let closure = Closure(
      rulesSeen: identities.counters.rulesSeen, binding: binding, numbers: current.numbers,
      firstNewId: current.firstNewId, following: current.sweep.followedRules,
      inSteps: current.sweep.isStepped,
      fromRootsOf: current.reachability.deletesUnreachable ? model : nil)
    var levels: [Closure.Level]
    if sweepRun.job != nil {
      levels = try findGone(byJob: closure)
    } else if current.sweep.isSweep {
      let (found, denials) = try closure.completeUndenied(db, deniedAs: denialsWaitFor)
      levels = found
      current.blocked += denials
      current.block(
        try db.protections(of: "SELECT id FROM temp.new_candidates", binding).map(\.reason))
      if try db.blocksMore { current.blocksMore = true }
    } else {
      levels = try closure.complete(db)
      try rejectIfDenied()
    }
    try count(levels.nodeCounts)
    if try current.reachability.deletesUnreachable && levels.contains(where: \.hasRuleEffects)
      && db.hasLeases
    {
      sweepRun.leasesKeepUnreachable = true
    }
    // The first level is not caused by this sweep. The kind of sweep that cascades notifies its
    // neighbours and removes what is left of it.
    if !current.notifiesOfEarlierDeletions { levels.removeFirst() }
    return levels
  }

  /// Finds the missing nodes among those that the transaction names whose deletion a held plan owns, or
  /// was given up.
  private func namesWhatWaits() throws -> Bool {
    let mayWait = try current.deadCount > 0 && (db.ownsJournalRows || db.hasGivenUp)
    if !mayWait { return false }
    let missing = """
      FROM temp.dead AS m CROSS JOIN temp.known AS k ON k.id = m.id AND NOT k.present
      """
    if try db.integer(generated: "SELECT 1 \(missing) LIMIT 1") == nil { return false }
    try db.run(
      generated: """
        INSERT OR IGNORE INTO temp.waiting_dead SELECT k.id \(missing)
        WHERE (k.collection, k.key) IN (\(JournalScope.ownedDeletions))
        OR EXISTS (SELECT 1 FROM main.cascade_given_up AS u
          WHERE u.via_collection = k.collection AND u.via_key = k.key)
        """)
    return try db.integer("SELECT 1 FROM temp.waiting_dead LIMIT 1") != nil
  }

  private func removeGone(_ levels: [Closure.Level]) throws {
    try persistCandidates()
    try rememberLostFiles()
    try touchNeighbours()
    try collectRemovedEdgeNotices()
    guard let first = levels.first?.slice else { return }
    // With triggers the lists cannot be collected now: what triggers write into a list later would
    // be missing.
    if !binding.hasTriggers { try findLists(of: levels.nodeCounts) }
    let isLarge = current.counts.deletedCount > lock.manyNodes
    if !isLarge || binding.hasForeignKeys {
      return try remove(Slice(low: first.low, high: .max), levels.nodeCounts)
    }
    try db.setCache(.deleting)
    defer { try? db.setCache(.ordinary) }
    let all = Slice(low: first.low, high: levels.last?.slice.high ?? first.high)
    let emptied = try tablesEmptied(by: levels.nodeCounts)
    current.step.emptied = Set(emptied.map(\.id))
    defer { current.step.emptied = [] }
    try withoutTriggers {
      for slice in all.parts(of: lock.manyNodes) {
        try remove(slice, levels.nodeCountsOfLevel(around: slice) ?? db.nodeCounts(in: slice))
      }
      for table in emptied { try db.run(generated: "DELETE FROM \(table.rows)") }
    }
  }

  /// The tables of which no row stays. They are emptied at the end: SQLite then releases whole
  /// pages, and looks for no row.
  ///
  /// A table is not emptied where triggers or the journal have to see each row. Nor where a row has
  /// its number in `cascade_node`: that number is deleted before the end, and afterwards nothing
  /// tells that the row goes.
  private func tablesEmptied(by ends: NodeCounts) throws -> [NodeTable] {
    if binding.hasTriggers || current.journalsDeletions { return [] }
    return try binding.childrenFirst.filter { table in
      let count = ends.rowsThere(of: table)
      if count < lock.manyNodes || current.numbers.tablesInNodes.contains(table.id) { return false }
      let another = "SELECT 1 FROM \(table.rows) LIMIT 1 OFFSET ?"
      return try db.integer(generated: another, [.integer(Int64(count))]) == nil
    }
  }

  package func remove(_ slice: Slice, _ ends: NodeCounts) throws {
    try listDeleted(slice)
    try writeNotices(slice)
    if !model.files.isEmpty { try releaseFiles(slice) }
    if keepsTrash { try trashSlice(slice, ends) }
    try noteDeleted(slice, ends)
    let mark = try journalMark
    if current.journalsDeletions { try journalReferences(toObjectsIn: slice, ends) }
    try removeReferences(slice, ends)
    if keepsTrash { try trashReferencesLostByForeignKeys(slice) }
    if current.sweep.isStepped { try applyForeignKeyEffects(slice) }
    try deleteRows(slice, ends)
    try recheckAfterTriggers(slice, ends)
    try unjournalOwnRemovals(slice, behind: mark)
    if ends.areAllByRow || current.step.isHighFanOut { return }
    let lost = LosingEdges(end: .destination, slice: slice)
    try storeDanglingReferences(lost)
    try nullifyReferences(lost)
    if current.journalsDeletions { try LosingEdges.all(of: slice).forEach(journal) }
    try deleteStoredNodesAndEdges(slice)
  }

  /// Edges and nodes that are added from here on are new to the next flush.
  private func beginPeriod() {
    current.ownDeletions.areNewEdges = false
    identities.counters.serial += 1
    current.firstNewId = identities.counters.nextId
  }

  package func count(_ ends: NodeCounts) throws {
    for (kind, rows) in ends.rows where kind.existed {
      guard let collection = try db.nameOfNodes(kind.collection) else { continue }
      current.counts.deletedCount += rows
      if let rule = Rules(rawValue: kind.rule).names.first {
        current.counts.deletedByRule[rule, default: 0] += rows
      }
      if current.sweep.isSweep {
        current.counts.deletedByCollection[collection, default: 0] += rows
      }
    }
  }

  /// Refuses to delete while some tables cannot be read: their rows may hold what would go. The
  /// change file waits until the tables are back.
  private func requireAllTables() throws {
    if !isPartlyBound { return }
    if binding.stoppingProblems.isEmpty {
      throw StoreError("nothing is deleted before the properties of objects are read again")
    }
    let problems = binding.stoppingProblems.map(\.description).joined(separator: "; ")
    throw StoreError("nothing is deleted while the tables do not match the model: \(problems)")
  }

  /// Lists nodes of the slice in the receipt, as far as it has room. Finds the keys of these; with
  /// triggers in the application, of all nodes.
  private func listDeleted(_ slice: Slice) throws {
    let room = Int64(Receipt.mostListed - current.counts.deleted.count)
    try db.storeKeysOfRows(
      binding, "SELECT id FROM temp.gone WHERE id < 0 AND seq > ?1 AND seq <= ?2 LIMIT ?3",
      slice.bound + [.integer(binding.hasTriggers ? -1 : room)])
    if room == 0 || current.counts.deletedCount == 0 { return }
    current.counts.deleted += try db.all(
      """
      SELECT c.name, coalesce(n.key, k.key)
      FROM temp.gone AS g LEFT JOIN cascade_node AS n ON n.id = g.id
      LEFT JOIN temp.known AS k ON k.id = g.id
      CROSS JOIN cascade_collection AS c ON c.id = coalesce(n.collection, k.collection)
      WHERE g.counts AND g.seq > ? AND g.seq <= ? AND c.name NOT GLOB 'cascade_file/*'
      ORDER BY g.seq LIMIT ?
      """, .integer(slice.low), .integer(slice.high), .integer(room)
    ) { $0.node(0, model) }
  }

  /// Deletes the stored edges and nodes in the order of the B-trees, so that each page is touched
  /// once.
  private func deleteStoredNodesAndEdges(_ slice: Slice) throws {
    try evictFromIdentityCache(slice)
    try deleteDanglingReferences(slice)
    let gone: Query = "SELECT id FROM temp.gone WHERE id > 0 AND \(slice.contains("seq"))"
    for end in EdgeEnd.allCases {
      try db.run("DELETE FROM main.cascade_edge WHERE \(end.rawValue) IN (\(gone))")
      current.counts.edgesRemoved += db.changes
    }
    try db.run("DELETE FROM main.cascade_node WHERE id IN (\(gone))")
  }

  /// Removes deleted nodes from the identity cache, so that they are not found again: a few one by
  /// one; for many, the whole cache is cleared.
  private func evictFromIdentityCache(_ slice: Slice) throws {
    let few: Int64 = 256
    let gone = try db.all(
      """
      SELECT n.collection, n.key FROM temp.gone AS g CROSS JOIN cascade_node AS n ON n.id = g.id
      WHERE g.seq > ? AND g.seq <= ? LIMIT ?
      """, .integer(slice.low), .integer(slice.high), .integer(few + 1)
    ) { Identities.Identity(collection: $0.integer(0), key: $0.text(1)) }
    if gone.count > few { return identities.nodes.removeAllEntries() }
    for identity in gone { identities.nodes[identity] = nil }
  }

  package func clearFlushState() throws {
    // Another row may later be where one was deleted.
    try db.run(
      """
      UPDATE temp.known SET row = NULL, present = 0 WHERE id IN (SELECT id FROM temp.gone WHERE id > 0)
      """)
    try db.empty(.ownedBy(.flush))
    try db.empty(.ownedBy(.closure))
    try db.empty(.ownedBy(.unreachableOrder))
    try db.empty(.ownedBy(.leases))
    try db.clearKeysOfRows()
    current.unnamedDead = [:]
    current.partOfDeleted = nil
    current.deadCount = 0
    current.lostCount = 0
  }
}
