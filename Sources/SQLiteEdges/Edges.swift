package import CascadeModel
package import CascadeSQLite
internal import CascadeStore
internal import CascadeEngine
internal import SQLiteBinding
package import SQLiteTables
internal import SQLiteJournal
internal import SQLiteRules

/// What makes two edges the same.
package struct EdgeKey: Hashable {
  package var source: Int64
  package var name: Int64
  package var destination: Int64
  package var origin: Origin

  package init(source: Int64, name: Int64, destination: Int64, origin: Origin) {
    (self.source, self.name) = (source, name)
    (self.destination, self.origin) = (destination, origin)
  }

  /// From the columns: source, name, destination, origin.
  package init(_ row: Row) {
    (source, name, destination) = (row.integer(0), row.integer(1), row.integer(2))
    origin = Origin(rawValue: row.integer(3)) ?? .property
  }
}

/// Adding and removing edges between flushes. `born` tells an edge that was added since the last
/// flush from one that was there before: an edge of the first kind that is removed again never was.
extension Writer {
  /// Adds an edge, or replaces the rules of one. With `isOwn` false, the edge was not made by this
  /// transaction: it is not counted, and its ends are not validated.
  package func add(_ edge: EdgeKey, rules: Rules, isOwn: Bool = true) throws {
    if !rules.isSubset(of: identities.counters.rulesSeen) {
      requestDenialTriggers(rules.subtracting(identities.counters.rulesSeen))
      identities.counters.rulesSeen.formUnion(rules)
    }
    let cancelled = try cancelRemoval(edge)
    if cancelled != nil { current.counts.edgesAdded -= 1 }
    let born = cancelled ?? identities.counters.serial
    try db.run(
      "INSERT INTO cascade_edge VALUES(?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
      row: (edge.source, edge.name, edge.destination, edge.origin.rawValue, rules.rawValue, born))
    if db.changes == 1 {
      if !isOwn { return }
      current.ownDeletions.areNewEdges = true
      current.counts.edgesAdded += 1
      try touch(edge.source)
      return try touch(edge.destination)
    }
    try db.run(
      """
      UPDATE cascade_edge SET rules = ?5
      WHERE source = ?1 AND name = ?2 AND destination = ?3 AND origin = ?4
      """, .integer(edge.source), .integer(edge.name), .integer(edge.destination),
      .integer(edge.origin.rawValue), .integer(rules.rawValue))
  }

  /// Takes back the removal of an edge that was removed since the last flush: the edge was never
  /// away. Returns when it was added; nil if it was not removed.
  func cancelRemoval(_ edge: EdgeKey, isCounted: Bool = true) throws -> Int64? {
    if current.lostCount == 0 { return nil }
    let born = try db.integer(
      """
      DELETE FROM temp.lost_edges WHERE source = ? AND name = ? AND destination = ? AND origin = ?
      RETURNING born
      """, .integer(edge.source), .integer(edge.name), .integer(edge.destination),
      .integer(edge.origin.rawValue))
    if born == nil { return nil }
    current.lostCount -= 1
    if isCounted { current.counts.edgesRemoved -= 1 }
    return born
  }

  /// Returns false if there is no such edge.
  package func remove(_ edge: EdgeKey, as removal: Removal) throws -> Bool {
    let old = try db.first(
      """
      DELETE FROM cascade_edge WHERE source = ? AND name = ? AND destination = ? AND origin = ?
      RETURNING rules, born
      """, .integer(edge.source), .integer(edge.name), .integer(edge.destination),
      .integer(edge.origin.rawValue)
    ) { (rules: Rules(rawValue: $0.integer(0)), born: $0.integer(1)) }
    guard let old else { return false }
    try touch(edge.source)
    if old.born == identities.counters.serial {
      if try isStillHeldByRow(edge) { return true }
      current.counts.edgesAdded -= 1
      try deleteUnusedFileIdentity(edge.destination)
      return true
    }
    try recordLoss(edge, old.rules, born: old.born, as: removal)
    current.counts.edgesRemoved += 1
    return true
  }

  func recordLoss(
    _ edge: EdgeKey, _ rules: Rules, born: Int64 = 0, as removal: Removal = .sourceDeleted
  ) throws {
    try db.run(
      "INSERT OR IGNORE INTO temp.lost_edges VALUES(?, ?, ?, ?, ?, ?, ?)", .integer(edge.source),
      .integer(edge.name), .integer(edge.destination), .integer(edge.origin.rawValue),
      .integer(rules.rawValue), .integer(born), .integer(removal.code))
    current.lostCount += db.changes
  }

  /// An edge that its source no longer declares in one relation, but still declares in another, was
  /// not removed.
  package func cancelRemovalsDeclaredElsewhere() throws {
    try cancelLostEdges(
      """
      SELECT 1 FROM main.cascade_edge AS e WHERE e.source = lost_edges.source AND e.name = lost_edges.name
      AND e.destination = lost_edges.destination AND e.origin >= \(Origin.declared.rawValue)
      """)
    for relation in binding.edgeRelations {
      try cancelLostEdges("\(relation.lostEdgeIsDeclared) AND lost_edges.name = \(relation.nameId)")
    }
  }

  private func cancelLostEdges(_ edges: String) throws {
    try db.run(
      generated: """
        DELETE FROM temp.lost_edges WHERE origin >= \(Origin.declared.rawValue)
        AND removal = \(Removal.sourceDeleted.code) AND EXISTS (\(edges))
        """, [])
    current.lostCount -= db.changes
    current.counts.edgesRemoved -= db.changes
  }

  /// Makes `edges` the declared edges of a node: old ones that are not in the list are removed.
  package func declare(
    _ edges: [DeclaredEdge], of node: Node, _ id: Int64, insteadOf old: [EdgeKey: Rules]
  ) throws {
    var dropped = old
    for edge in edges {
      let rules = try edge.rules ?? modelRules(edge.name, from: node, to: edge.destination)
      let key = EdgeKey(
        source: id, name: try nameId(edge.name), destination: try endId(edge.destination),
        origin: .declared)
      if dropped.removeValue(forKey: key) != rules { try add(key, rules: rules) }
    }
    for edge in dropped.keys { _ = try remove(edge, as: .sourceDeleted) }
  }

  /// Deletes trashed edges of the node's earlier lists. The list of the put is complete: an undo
  /// must not add edges to it, unless it brings the node itself back.
  package func deleteTrashedList(of id: Int64) throws {
    if model.trash == .zero { return }
    try db.run(
      generated: """
        DELETE FROM main.cascade_trash_edge AS e
        WHERE source = ? AND origin = \(Origin.declared.rawValue)
        AND NOT EXISTS (SELECT 1 FROM main.cascade_trash WHERE batch = e.batch AND id = e.source)
        """, [.integer(id)])
  }

  package func declaredEdges(of id: Int64) throws -> [EdgeKey: Rules] {
    try edges(of: id, from: .declared, to: .declared)
  }

  /// The stored edges of a source with these origins.
  func edges(of id: Int64, from first: Origin, to last: Origin) throws -> [EdgeKey: Rules] {
    let edges = try db.all(
      """
      SELECT source, name, destination, origin, rules FROM cascade_edge
      WHERE source = ? AND origin BETWEEN ? AND ?
      """, .integer(id), .integer(first.rawValue), .integer(last.rawValue)
    ) { (EdgeKey($0), Rules(rawValue: $0.integer(4))) }
    return Dictionary(uniqueKeysWithValues: edges)
  }

  /// The model's rules for an edge that was written without rules.
  package func modelRules(_ name: String, from: Node, to: Destination) throws -> Rules {
    if let rules = model.rules(for: name, from: from.collection, to: to) { return rules }
    let target =
      switch to {
      case .node(let node): node.collection
      case .file(let root, _): root
      }
    throw Rejection(
      .invalid,
      "the edge \"\(name)\" from \(from) has no rules, and the model declares no relationship "
        + "\"\(name)\" from \"\(from.collection)\" to \"\(target)\"", node: from)
  }

  // MARK: - Ends

  /// The identity of a managed node, whether the node exists or not.
  package func identity(of node: Node) throws -> Identities.Identity {
    guard let key = node.key.managedText else {
      throw Rejection(.invalid, model.keyProblem(node)!, node: node)
    }
    return Identities.Identity(collection: try managedCollectionId(node.collection), key: key)
  }

  package func managedCollectionId(_ name: String) throws -> Int64 {
    if let id = identities.collections[name] { return id }
    if let problem = binding.problem(of: name) { throw cannotBeWritten(name, problem.message) }
    if let problem = model.problem(ofChanged: name) { throw Rejection(.invalid, problem) }
    if let other = try db.collection(lookingLike: name) {
      throw Rejection(.invalid, RecordedCollection.looksLike(other))
    }
    return try collectionId(name)
  }

  /// The id of an edge's end. A node that does not exist yet gets an identity, and is marked dead
  /// until it is put.
  package func endId(_ destination: Destination) throws -> Int64 {
    if case .node(let node) = destination, let table = try table(of: node.collection) {
      return try end(node, in: table)
    }
    let identity = try identity(of: destination)
    if let id = try existingId(identity) { return id }
    let id = try insertIdentity(identity)
    // A file that an edge names counts as existing: a transaction does not ask the disk.
    if case .node = destination { try markDead(id) }
    return id
  }

  package func endId(_ node: Node) throws -> Int64 { try endId(.node(node)) }

  /// The id of an end that has a row in `cascade_node`, marked dead or not.
  package func existingId(_ end: Destination) throws -> Int64? {
    if case .node(let node) = end, let table = try table(of: node.collection) {
      return try find(node, in: table)
    }
    return try existingId(identity(of: end))
  }

  func identity(of destination: Destination) throws -> Identities.Identity {
    switch destination {
    case .node(let node): return try identity(of: node)
    case .file(let root, let path):
      if let problem = model.problem(ofRoot: root) { throw Rejection(.invalid, problem) }
      let collection = try collectionId(Destination.fileCollection + root)
      return Identities.Identity(collection: collection, key: path)
    }
  }

  func insertIdentity(_ identity: Identities.Identity) throws -> Int64 {
    let id = newId()
    try db.run(
      "INSERT INTO cascade_node(id, collection, key) VALUES(?, ?, ?)", .integer(id),
      .integer(identity.collection), .text(identity.key))
    identities.nodes[identity] = id
    if facts.hasTables { try renumber(.text(identity.key), in: identity.collection, as: id) }
    return id
  }
}

extension EdgeRelation {
  /// A query that has a row if the source of a row of `temp.lost_edges` also declares the
  /// destination in this relation. It looks both ends up in `cascade_node`, as stored edges do.
  fileprivate var lostEdgeIsDeclared: String {
    """
    SELECT 1 FROM main.cascade_node AS sm
    CROSS JOIN \(source.rows) AS s ON \(source.hasKey("s", "sm.key")) \(references)
    CROSS JOIN main.cascade_node AS m
    WHERE sm.id = lost_edges.source AND sm.collection = \(source.id) AND m.id = lost_edges.destination
    AND m.collection = \(destination.id) AND \(isEdge)
    AND \(destination.isReferenceToNode(by: reference))
    """
  }
}
