internal import CascadeEngine
package import CascadeModel
internal import CascadeSQLite
package import CascadeStore
internal import SQLiteBinding
internal import SQLiteDeletion
internal import SQLiteEdges
internal import SQLiteJournal
internal import SQLiteRules
package import SQLiteTables

/// Nodes that are kept from every deletion, with all that their deletion would take along.
///
/// 1. What that is, is written down (`cascade_protected`): triggers refuse what an application deletes of it,
///    and what the daemon deletes is held back as by a lease (`ProtectedNodes.swift`).
/// 2. It is found again where something was written since, before anything is deleted, and each minute.
/// 3. Where nothing is protected, there are no such triggers.
extension Writer {
  package func protect(_ request: Protection.Request, at now: Int64) throws -> Protection {
    try adaptToSchema()
    let number = try group {
      guard let (collection, key) = try storedKey(of: request.node) else {
        throw NoNodeToProtect(request.node)
      }
      let number = try db.insert(request, collection, key, at: now)
      try recordProtection(request.author, "protect", at: now)
      _ = try rebind()
      return number
    }
    let all = try db.protections(model)
    let protection = all.first { $0.number == number }!
    try findProtected(by: protection)
    return protection
  }

  package func unprotect(
    _ node: Node, by author: String, at now: Int64
  ) throws -> Protection? {
    try adaptToSchema()
    let stored = binding.collections[node.collection]?.stored(node.key)
    let known = try db.protections(model).first {
      $0.node == node
        || $0.node.collection == node.collection
          && stored == binding.collections[node.collection]?.stored($0.node.key) && stored != nil
    }
    guard let known else { return nil }
    try group {
      try db.deleteProtection(known.number)
      try recordProtection(author, "unprotect", at: now)
      _ = try rebind()
    }
    return known
  }

  package func reviewProtections(at now: Int64) throws -> [Protection] {
    if try !hasProtections { return [] }
    let all = try db.protections(model)
    let ended = all.filter { $0.hasEnded(at: now) }
    if !ended.isEmpty {
      try group {
        for one in ended { try db.deleteProtection(one.number) }
        _ = try rebind()
      }
    }
    try findProtectedAgain(evenIfNothingWasWritten: true)
    return ended
  }

  private func recordProtection(_ author: String, _ what: String, at now: Int64) throws {
    let batch = beginBatch()
    try record(Submission(.protection, id: "\(what)-\(batch)", by: author, at: now))
  }

  private func storedKey(of node: Node) throws -> (collection: Int64, key: Value)? {
    try db.findNodes(of: .nodes([node]), binding, db.numbers(binding))
    defer { try? db.empty(.unreachableNodes) }
    try db.storeKeysOfRows(binding, "SELECT id FROM temp.unreachable_nodes WHERE id < 0")
    return try db.first(
      """
      SELECT u.collection, coalesce(k.key, n.key) FROM temp.unreachable_nodes AS u
      LEFT JOIN temp.known AS k ON k.id = u.id LEFT JOIN cascade_node AS n ON n.id = u.id
      """
    ) { ($0.integer(0), $0.value(1)) }
  }

  // MARK: - What is protected

  package var hasProtections: Bool {
    get throws { try hasOwnTables() && db.hasProtections }
  }

  package func followProtected() throws { try findProtectedAgain() }

  /// Called before anything is deleted.
  func findProtectedAgain(evenIfNothingWasWritten isDue: Bool = false) throws {
    if try !hasProtections { return }
    let written = try foreignCommits() &+ identities.counters.serial
    if !isDue && heldBack.protectedAsOf == written { return }
    for protection in try db.protections(model) { try findProtected(by: protection) }
    heldBack.protectedAsOf = try foreignCommits() &+ identities.counters.serial
  }

  private func findProtected(by protection: Protection) throws {
    try stoppableSnapshot {
      current = TransactionState()
      try db.empty(.known)
      try db.stopExcludingLeased()
      current.numbers = try db.numbers(binding)
      try db.findNodes(of: .nodes([protection.node]), binding, current.numbers)
      let closure = Closure(
        rulesSeen: identities.counters.rulesSeen, binding: binding, numbers: current.numbers,
        firstNewId: .max)
      try closure.complete(db)
      try db.storeKeysOfRows(binding, "SELECT id FROM temp.gone WHERE id < 0", [])
      try db.empty(.protectedKeys)
      try db.run(
        """
        INSERT OR IGNORE INTO temp.protected_keys
        SELECT g.collection, coalesce(n.key, k.key) FROM temp.gone AS g
        LEFT JOIN cascade_node AS n ON n.id = g.id LEFT JOIN temp.known AS k ON k.id = g.id
        WHERE g.counts AND coalesce(n.key, k.key) IS NOT NULL
        """)
      try clearFlushState()
      try db.commit()
    }
    defer { clearPlan() }
    try store(protection)
  }

  /// A part at a time. A row that is protected itself stays, also where it has gone.
  private func store(_ protection: Protection) throws {
    let (own, most) = (protection.number, max(lock.fewNodes, lock.pace.rows))
    let new: Query = """
      INSERT OR IGNORE INTO cascade_protected SELECT t.collection, t.key, \(bind: own)
      FROM temp.protected_keys AS t WHERE NOT EXISTS (SELECT 1 FROM cascade_protected AS p
        WHERE p.collection = t.collection AND p.key = t.key AND p.protection = \(bind: own))
      LIMIT \(bind: most)
      """
    let old: Query = """
      DELETE FROM cascade_protected WHERE protection = \(bind: own) AND (collection, key) IN (
        SELECT p.collection, p.key FROM cascade_protected AS p WHERE p.protection = \(bind: own)
        AND (p.collection, p.key) NOT IN (SELECT collection, key FROM temp.protected_keys)
        AND (p.collection, p.key) NOT IN (SELECT collection, key FROM cascade_protection)
        LIMIT \(bind: most))
      """
    let before = try db.protectedCollections
    for statement in [new, old] {
      while try changes(by: statement) >= most { try yieldLock() }
    }
    if try db.protectedCollections != before { try group { _ = try rebind() } }
  }

  private func changes(by statement: Query) throws -> Int64 {
    try group {
      try db.run(statement)
      return Int64(db.changes)
    }
  }
}
