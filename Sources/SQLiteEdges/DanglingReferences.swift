package import CascadeModel
internal import CascadeSQLite
package import CascadeEngine
package import SQLiteBinding
package import SQLiteTables
internal import SQLiteJournal
package import SQLiteRules

/// References in the values of objects to nodes that do not exist. They have no edge. As soon as
/// the node exists they get one, like a column that dangled. `cascade_dangling_reference` stores
/// them by the node that they name.
extension Writer {
  /// Stores the references that stay in values although their destinations are deleted, because no
  /// rule nullifies them. Runs before the edges are deleted.
  package func storeDanglingReferences(_ edges: LosingEdges) throws {
    if facts.references.collections.isEmpty || edges.end == .source { return }
    try db.run(
      """
      INSERT OR IGNORE INTO main.cascade_dangling_reference
      SELECT n.collection, n.key, e.source, e.name, e.origin, e.rules
      FROM \(edges.edgesClause) CROSS JOIN main.cascade_node AS n ON n.id = e.destination
      WHERE \(edges.condition) AND e.origin >= \(Origin.firstOfValues.rawValue) AND NOT e.rules & \(Rules.nullifySourceIfDestinationDeleted.rawValue)
      AND e.source NOT IN (SELECT id FROM temp.gone)
      AND n.collection NOT IN (
        SELECT id FROM main.cascade_collection WHERE name GLOB 'cascade_file/*')
      """)
  }

  func storeDanglingReferences(_ place: PropertyReference, of source: Int64, to node: Node) throws {
    guard let loose = try loose(place, of: source, to: node) else { return }
    try db.run(
      generated: "INSERT OR IGNORE INTO cascade_dangling_reference VALUES(?, ?, ?, ?, ?, ?)",
      loose + [.integer(place.rules.rawValue)])
  }

  /// Removes a reference that a value no longer has.
  package func deleteDanglingReferences(_ place: PropertyReference, of source: Int64, to node: Node)
    throws
  {
    guard let loose = try loose(place, of: source, to: node) else { return }
    try db.run(
      generated: """
        DELETE FROM cascade_dangling_reference
        WHERE collection = ? AND key = ? AND source = ? AND name = ? AND origin = ?
        """, loose)
  }

  /// The columns that identify a loose reference; nil where no node can have such a key.
  private func loose(
    _ place: PropertyReference, of source: Int64, to node: Node
  ) throws -> [Value]? {
    let table = try table(of: node.collection)
    let key = table.map { $0.stored(node.key) } ?? node.key.managedText.map(Value.text)
    guard let key else { return nil }
    let collection = try table?.id ?? managedCollectionId(node.collection)
    return [
      .integer(collection), key, .integer(source), .integer(try nameId(place.name)),
      .integer(place.origin.rawValue),
    ]
  }

  /// Stores the references to absent nodes in those members that a patch does not set. A node that
  /// only edges name so far is absent. A reference that has an edge is left to the flush.
  func storeDanglingReferences(
    _ place: PropertyReference, of source: Int64, in members: [Member], but edges: [EdgeKey: Rules]
  ) throws {
    for case .node(let node) in try place.destinations(in: members) {
      if let end = try existingEnd(.node(node)), try !isDead(end) { continue }
      if let end = try existingId(.node(node)),
        try edges[edge(of: place, from: source, to: end)] != nil
      {
        continue
      }
      try storeDanglingReferences(place, of: source, to: node)
    }
  }

  /// Removes the references of sources that are deleted.
  package func deleteDanglingReferences(_ slice: Slice) throws {
    if facts.references.collections.isEmpty { return }
    try db.run(
      """
      DELETE FROM cascade_dangling_reference
      WHERE source IN (SELECT id FROM temp.gone WHERE id > 0 AND seq > ? AND seq <= ?)
      """, .integer(slice.low), .integer(slice.high))
  }

  /// Removes the references of a source whose value is written anew. Returns whether there were
  /// any.
  @discardableResult
  func deleteDanglingReferences(of source: Int64) throws -> Bool {
    try db.run("DELETE FROM cascade_dangling_reference WHERE source = ?", .integer(source))
    return db.changes > 0
  }

  // MARK: - When a node begins to exist

  package func resolveReferencesTo(_ identity: Identities.Identity, to id: Int64) throws {
    if facts.references.collections.isEmpty { return }
    try resolveReferencesTo(identity.collection, .text(identity.key), to: id, isOwn: true)
  }

  /// Turns the references to a node into edges, for at most `most` sources. Returns how many edges.
  @discardableResult
  private func resolveReferencesTo(
    _ collection: Int64, _ key: Value, to id: Int64, isOwn: Bool, most: Int64 = -1
  ) throws -> Int64 {
    let edges = try db.all(
      """
      DELETE FROM cascade_dangling_reference WHERE collection = ?1 AND key = ?2 AND source IN (
        SELECT source FROM cascade_dangling_reference
        WHERE collection = ?1 AND key = ?2 AND source NOT IN (SELECT id FROM temp.dead) LIMIT ?3)
      RETURNING source, name, ?4, origin, rules
      """, .integer(collection), key, .integer(most), .integer(id)
    ) { (EdgeKey($0), Rules(rawValue: $0.integer(4))) }
    for (edge, rules) in edges { try add(edge, rules: rules, isOwn: isOwn) }
    return Int64(edges.count)
  }

  /// Gives edges to references to rows that were inserted by SQL. If no other connection wrote
  /// since the last call, only the rows that this transaction inserted are looked at.
  package func resolveReferencesToRows() throws {
    if facts.references.collections.isEmpty { return }
    let commits = try foreignCommits()
    if commits == identities.referencesCurrentAt && !binding.hasTriggers
      && binding.comparesByBytes
    {
      try resolveReferencesToInserted()
    } else {
      try resolveReferences()
    }
    identities.referencesCurrentAt = commits
  }

  private func resolveReferencesToInserted() throws {
    let ends = try db.all(
      """
      SELECT c.name, k.key, k.collection FROM temp.new_rows AS b
      CROSS JOIN temp.known AS k ON k.id = b.id
      CROSS JOIN main.cascade_collection AS c ON c.id = k.collection
      WHERE EXISTS (
        SELECT 1 FROM main.cascade_dangling_reference AS l WHERE l.collection = k.collection AND l.key = k.key)
      """
    ) { (node: $0.node(0, model), collection: $0.integer(2), key: $0.value(1)) }
    for (node, collection, key) in ends {
      while try resolveReferencesTo(
        collection, key, to: endId(node), isOwn: true, most: rowsPerClockCheck) == rowsPerClockCheck
      {}
    }
  }

  /// Does so for all references, or for those of a source whose value is about to be read again;
  /// with `toObjects` also for those to objects that an undo brought back.
  package func resolveReferences(of source: Int64? = nil, toObjects: Bool = false) throws {
    if facts.references.collections.isEmpty { return }
    var last: ReferencedNode = (.min, .null)
    while try resolveNextReference(behind: &last, toObjects: toObjects, of: source) {}
  }

  /// Gives these references their edges before a sweep, which must see them: the planner cannot
  /// write.
  package func resolveReferencesBeforeSweep() throws {
    if attachment.isDetached { return }
    if try facts.references.collections.isEmpty || isPartlyBound
      || nextResolvable(behind: (.min, .null)) == nil
    {
      return
    }
    var last: ReferencedNode = (.min, .null)
    try repeatInTransactions {
      // These edges are older than any that follow.
      defer { identities.counters.serial += 1 }
      return try resolveNextReference(behind: &last)
    }
  }

  /// Handles the next node that exists by now and that loose references name, in order of
  /// collection and key. Returns whether there was one.
  private func resolveNextReference(
    behind last: inout ReferencedNode, toObjects: Bool = false, of source: Int64? = nil
  ) throws -> Bool {
    guard let next = try nextResolvable(behind: last, objects: toObjects, of: source)
    else { return false }
    let count = try resolveReferencesTo(
      next.collection, next.key, to: endId(next.node), isOwn: source != nil, most: rowsPerClockCheck
    )
    // Very many sources may refer to one node. Then the next call takes the same node again.
    if count < rowsPerClockCheck {
      last = (next.collection, next.key)
    }
    return true
  }

  private func nextResolvable(
    behind last: ReferencedNode, objects: Bool = false, of source: Int64? = nil
  ) throws -> (node: Node, collection: Int64, key: Value)? {
    let isRow = "l.collection IN (\(binding.tableNumbers))"
    return try db.all(
      generated: """
        SELECT c.name, l.key, l.collection
        FROM main.cascade_dangling_reference AS l CROSS JOIN main.cascade_collection AS c ON c.id = l.collection
        WHERE (l.collection, l.key) > (?1, ?2) AND \(objects ? "1" : isRow)
        AND \(binding.danglingTargetExists(loose: "l")) AND l.source NOT IN (SELECT id FROM temp.dead)
        \(source.map { "AND l.source = \($0)" } ?? "")
        ORDER BY l.collection, l.key LIMIT 1
        """, [.integer(last.collection), last.key]
    ) { (node: $0.node(0, model), collection: $0.integer(2), key: $0.value(1)) }.first
  }
}

/// A node that references in `cascade_dangling_reference` name.
private typealias ReferencedNode = (collection: Int64, key: Value)

extension Binding {
  /// A condition: the node that a row of `cascade_dangling_reference` names exists.
  package func danglingTargetExists(loose l: String) -> String {
    nodeExists(
      l,
      object: """
        EXISTS (SELECT 1 FROM cascade_node AS n
          WHERE n.collection = \(l).collection AND n.key = \(l).key
          AND n.id NOT IN (SELECT id FROM temp.dead))
        """)
  }
}
