package import CascadeModel
internal import CascadeSQLite
package import CascadeStore
internal import CascadeEngine
internal import SQLiteBinding
package import SQLiteTables
internal import SQLiteJournal
internal import SQLiteRules
internal import SQLiteEdges
internal import SQLiteDeletion
internal import SQLiteSweeps
internal import SQLiteUndo

/// Writes each change; nothing is judged before the flush.
extension Writer {
  func apply(_ change: consuming Change) throws {
    switch consume change {
    case .put(let node, let type, let value, let edges, let merge, let mayDeleteItself):
      let id = try put(node, type: type, value: value, edges: edges, merge: merge)
      try note(id, mayDeleteItself: mayDeleteItself)
    case .patch(let node, let set, let unset, let expected, let mayDeleteItself):
      try requireUnchanged(node, expected)
      try note(patch(node, set: set, unset: unset), mayDeleteItself: mayDeleteItself)
    case .delete(let node, let expected):
      try requireUnchanged(node, expected)
      try delete(node)
    case .deleteAll(let collection): try deleteAll(collection)
    case .link(let name, let from, let to, let rules, let mayDeleteItself):
      var edges = self
      try edges.link(name, from: from, to: to, rules: rules)
      try note(from, mayDeleteItself: mayDeleteItself)
    case .unlink(let name, let from, let to, let removal):
      var edges = self
      if try !edges.unlink(name, from: from, to: to, as: removal) { current.counts.passedOver += 1 }
    case .relink(let name, let from, let to, let rules, let mayDeleteItself):
      var edges = self
      try edges.relink(name, from: from, to: to, rules: rules)
      try note(from, mayDeleteItself: mayDeleteItself)
    case .flush: try flush(isLast: false)
    case .restore(let thing): try load(thing)
    }
  }

  private func put(
    _ node: Node, type: String?, value: JSONText?, edges: [DeclaredEdge]?, merge: Bool
  ) throws -> Int64 {
    if let table = try table(of: node.collection) {
      return try put(node, in: table, type: type, value: value, edges: edges, merge: merge)
    }
    let (type, value) = try merge ? merged(node, type, value) : (type, value)
    let identity = try identity(of: node)
    let (id, isNew) = try upsert(identity, type: type, value: value?.text)
    try touch(id)
    try resolveReferencesTo(identity, to: id)
    try updatePropertyEdges(node, id, type: type, value: value, isNew: isNew)
    try endWait(ofPut: .text(identity.key), in: identity.collection)
    guard let edges else { return id }
    let old = isNew ? [:] : try declaredEdges(of: id)
    try declare(edges, of: node, id, insteadOf: old)
    if !isNew { try deleteTrashedList(of: id) }
    return id
  }

  /// What an object is to have if a put merges these into it.
  private func merged(
    _ node: Node, _ type: String?, _ value: JSONText?
  ) throws -> (String?, JSONText?) {
    guard let id = try existing(node) else { return (type, value) }
    let old = try db.first("SELECT type, value FROM cascade_node WHERE id = ?", .integer(id)) {
      ($0.optionalText(0), $0.optionalText(1).map { JSONText(valid: $0) })
    }
    return (type ?? old?.0, try node.merging(value, into: old?.1))
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

  func patch(
    _ node: Node, set: [Member], unset: [String], as removal: Removal = .sourceDeleted
  ) throws -> Int64 {
    if let table = try table(of: node.collection) {
      return try patch(node, in: table, set: set, unset: unset, as: removal)
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
    try updatePropertyEdges(node, id, patched: members, set.map(\.name) + unset, as: removal)
    return id
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

  package func addStored(
    _ name: String, _ from: Node, _ to: Destination, rules: Rules?
  ) throws {
    let rules = try rules ?? modelRules(name, from: from, to: to)
    try add(
      EdgeKey(
        source: try endId(from), name: try nameId(name), destination: try endId(to),
        origin: .manual),
      rules: rules)
  }

  package func removeStored(
    _ name: String, _ from: Node, _ to: Destination, as removal: Removal
  ) throws -> Bool {
    // Both ends are resolved first: a name that the model does not know is an error, not an absent
    // edge.
    let ends = (from: try existingId(.node(from)), to: try existingId(to))
    if ends.from == nil || ends.to == nil { return false }
    let edge = EdgeKey(
      source: try endId(from), name: try nameId(name), destination: try endId(to), origin: .manual)
    return try remove(edge, as: removal)
  }

  private func note(_ source: Node, mayDeleteItself: Bool?) throws {
    if mayDeleteItself == nil { return }
    if let table = try table(of: source.collection) {
      guard let place = try locate(keyValues(source, table), in: table) else { return }
      return try note(number(place, in: table.id), mayDeleteItself: mayDeleteItself)
    }
    if let id = try existing(source) { try note(id, mayDeleteItself: mayDeleteItself) }
  }

  /// The id of a managed node that exists now.
  func existing(_ node: Node) throws -> Int64? {
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
    defer { noteEndOfDenials() }
    return try transaction {
      current.hold.id = submission.id
      current.ownDeletions.areAllowed = submission.mayDeleteItself
      let marks = try binding.marked.isEmpty ? nil : lastMark
      try applyAll(next)
      try flush()
      try rejectViolatedForeignKeys()
      try refuseDeniedMarks(behind: marks)
      try validate()
      complete(&submission)
      try record(submission)
      if current.counts.deletedCount > 0 { try numberDeleted() }
      if current.isRestoring { try beginRestoring() }
      return receipt(submission)
    }
  }

  private func refuseDeniedMarks(behind last: Int64?) throws {
    guard let last, case let newest = try lastMark, newest > last else { return }
    let closure = MarkClosure(binding, rulesSeen: identities.counters.rulesSeen)
    try closure.findDenied(among: Slice(low: last, high: newest), db)
    let denied = try db.deniedMarks(model)
    try db.empty(.ownedBy(.marks))
    if !denied.isEmpty { throw Rejection(denied) }
  }

  /// A change may be the end of a denial, and no trigger journals it.
  private func noteEndOfDenials() {
    if (try? db.waitsForEndOfDenial) == true { heldBack.endings += 1 }
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
