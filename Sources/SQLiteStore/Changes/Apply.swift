package import CascadeModel
internal import CascadeSQLite
package import CascadeStore
internal import SQLiteBinding
package import SQLiteTables
internal import SQLiteJournal
internal import SQLiteRules
internal import SQLiteEdges
internal import SQLiteDeletion
internal import SQLiteSweeps

/// Writes each change; nothing is judged before the flush.
extension Writer {
  func apply(_ change: consuming Change) throws {
    switch consume change {
    case .put(let node, let type, let value, let edges):
      try put(node, type: type, value: value, edges: edges)
    case .patch(let node, let set, let unset): try patch(node, set: set, unset: unset)
    case .delete(let node): try delete(node)
    case .deleteAll(let collection): try deleteAll(collection)
    case .link(let name, let from, let to, let rules):
      try link(name, from: from, to: to, rules: rules)
    case .unlink(let name, let from, let to, let removal):
      try unlink(name, from: from, to: to, as: removal)
    case .flush: try flush(isLast: false)
    }
  }

  private func put(
    _ node: Node, type: String?, value: JSONText?, edges: [DeclaredEdge]?
  ) throws {
    if let table = try table(of: node.collection) {
      return try put(node, in: table, type: type, value: value, edges: edges)
    }
    let identity = try identity(of: node)
    let (id, isNew) = try upsert(identity, type: type, value: value?.text)
    try touch(id)
    try resolveReferencesTo(identity, to: id)
    try updatePropertyEdges(node, id, type: type, value: value, isNew: isNew)
    guard let edges else { return }
    let old = isNew ? [:] : try declaredEdges(of: id)
    try declare(edges, of: node, id, insteadOf: old)
    if !isNew { try deleteTrashedList(of: id) }
  }

  private func upsert(
    _ identity: Identities.Identity, type: String?, value: String?
  ) throws -> (id: Int64, isNew: Bool) {
    try db.run(
      """
      INSERT INTO cascade_node(id, collection, key, type, value) VALUES(?, ?, ?, ?, ?)
      ON CONFLICT(collection, key) DO NOTHING
      """, .integer(identities.counters.nextId), .integer(identity.collection), .text(identity.key),
      .text(type), .text(value))
    if db.changes == 1 {
      let id = newId()
      identities.nodes[identity] = id
      return (id, true)
    }
    let id = try existingId(identity)!
    if facts.demands.dependOnTypes { try touchNeighbours(of: id, unlessOf: type) }
    try db.run(
      "UPDATE cascade_node SET type = ?, value = ? WHERE id = ?", .text(type), .text(value),
      .integer(id))
    try revive(id)
    return (id, false)
  }

  func revive(_ id: Int64) throws {
    if current.deadCount == 0 { return }
    try db.run("DELETE FROM temp.dead WHERE id = ?", .integer(id))
    current.deadCount -= db.changes
    if db.changes == 0 { return }
    // References that were resolved while the node was marked dead took it for absent.
    identities.referencesCurrentAt = nil
    if facts.hasTables {
      try db.run("DELETE FROM temp.named_missing_rows WHERE id = ?", .integer(id))
    }
  }

  private func patch(_ node: Node, set: [Member], unset: [String]) throws {
    if let table = try table(of: node.collection) {
      return try patch(node, in: table, set: set, unset: unset)
    }
    guard let id = try existing(node) else {
      throw Rejection(.invalid, "\(node) cannot be patched: it does not exist", node: node)
    }
    let text = try db.first("SELECT value FROM cascade_node WHERE id = ?", .integer(id)) {
      $0.optionalText(0)
    }
    guard var members = JSONText(valid: (text ?? nil) ?? "{}").members() else {
      throw Rejection(.invalid, "\(node) cannot be patched: its value is not an object", node: node)
    }
    members.apply(set: set, unset: unset)
    try db.run(
      "UPDATE cascade_node SET value = ? WHERE id = ?", .text(JSONText(object: members).text),
      .integer(id))
    try touch(id)
    try updatePropertyEdges(node, id, patched: members, set.map(\.name) + unset)
  }

  private func delete(_ node: Node) throws {
    if let table = try table(of: node.collection) { return try delete(node, in: table) }
    guard let id = try existing(node) else { return current.counts.passedOver += 1 }
    try markDead(id)
  }

  private func deleteAll(_ collection: String) throws {
    if let table = try table(of: collection) { return try deleteAll(in: table) }
    try db.run(
      """
      INSERT OR IGNORE INTO temp.dead
      SELECT id FROM cascade_node WHERE collection = ?
      """, .integer(try managedCollectionId(collection)))
    current.deadCount += db.changes
  }

  private func link(_ name: String, from: Node, to: Destination, rules: Rules?) throws {
    let rules = try rules ?? modelRules(name, from: from, to: to)
    try add(
      EdgeKey(
        source: try endId(from), name: try nameId(name), destination: try endId(to),
        origin: .manual),
      rules: rules)
  }

  private func unlink(
    _ name: String, from: Node, to: Destination, as removal: Removal
  ) throws {
    // Both ends are resolved first: a name that the model does not know is an error, not an absent
    // edge.
    let ends = (from: try existingId(.node(from)), to: try existingId(to))
    if ends.from == nil || ends.to == nil { return current.counts.passedOver += 1 }
    let edge = EdgeKey(
      source: try endId(from), name: try nameId(name), destination: try endId(to), origin: .manual)
    if try !remove(edge, as: removal) { current.counts.passedOver += 1 }
  }

  /// The id of a managed node that exists now.
  private func existing(_ node: Node) throws -> Int64? {
    guard let id = try existingId(identity(of: node)), try !isDead(id) else { return nil }
    return id
  }

  /// Applies one transaction within the current group: all of its changes, or none.
  ///
  /// Throws `Rejection` with every reason, or the error of the source of the changes. `complete`
  /// adds to the ledger's entry what is known only after the last change.
  package func apply(
    _ submission: Submission, changes next: () throws -> Change?,
    completing complete: (inout Submission) -> Void = { _ in }
  ) throws -> Receipt {
    var submission = submission
    clock.now = submission.at
    return try transaction {
      current.hold.id = submission.id
      try applyAll(next)
      try flush()
      try rejectViolatedForeignKeys()
      try validate()
      complete(&submission)
      try record(submission)
      return receipt(submission)
    }
  }

  func applyAll(_ next: () throws -> Change?) throws {
    var count = 0
    while let change = try next() {
      do {
        try apply(change)
      } catch let rejection as Rejection {
        throw rejection.placed("changes[\(count)]")
      } catch let error as RejectionWithRollback {
        throw RejectionWithRollback(rejection: error.rejection.placed("changes[\(count)]"))
      }
      count += 1
    }
  }
}

extension [Member] {
  mutating func apply(set: [Member], unset: [String]) {
    for member in set {
      if let index = firstIndex(where: { $0.isNamed(member.name) }) {
        self[index] = member
      } else {
        append(member)
      }
    }
    removeAll { member in unset.contains { member.isNamed($0) } }
  }
}
