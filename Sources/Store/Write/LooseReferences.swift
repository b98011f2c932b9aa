internal import CascadeModel
internal import CascadeSQLite
/// References in the values of objects that lead to what is not there. They have no edge; as soon as
/// what they name is there, they have one, like a column that dangled. `cascade_loose` has them by
/// what they name.
extension Writer {
  /// What nobody takes out of the values that say these edges, before they are deleted.
  func keepLoose(_ edges: LosingEdges) throws {
    if references.collections.isEmpty || edges.end == .source { return }
    try db.run(
      generated: """
        INSERT OR IGNORE INTO main.cascade_loose
        SELECT n.collection, n.key, e.source, e.name, e.origin, e.rules
        FROM \(edges.rows) CROSS JOIN main.cascade_node AS n ON n.id = e.destination
        WHERE \(edges.condition(.first)) AND e.origin >= 2 AND NOT e.rules & 64
        AND e.source NOT IN (SELECT id FROM temp.gone)
        AND n.collection NOT IN (
          SELECT id FROM main.cascade_collection WHERE name GLOB 'cascade_file/*')
        """, edges.bound)
  }

  func keepLoose(_ place: ReferencePlace, of source: Int64, to node: Node) throws {
    guard let loose = try loose(place, of: source, to: node) else { return }
    try db.run(
      generated: "INSERT OR IGNORE INTO cascade_loose VALUES(?, ?, ?, ?, ?, ?)",
      loose + [.integer(place.rules.rawValue)])
  }

  /// A value does not say it any more.
  func forgetLoose(_ place: ReferencePlace, of source: Int64, to node: Node) throws {
    guard let loose = try loose(place, of: source, to: node) else { return }
    try db.run(
      generated: """
        DELETE FROM cascade_loose
        WHERE collection = ? AND key = ? AND source = ? AND name = ? AND origin = ?
        """, loose)
  }

  /// What tells such a reference from others; nil where nothing can be named so.
  private func loose(
    _ place: ReferencePlace, of source: Int64, to node: Node
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

  /// What a patch does not say anew. Who is only named by an edge so far is not there; and what has an
  /// edge, the flush judges by it.
  func keepLoose(
    _ place: ReferencePlace, of source: Int64, in members: [Member], but edges: [EdgeKey: Rules]
  ) throws {
    for case .node(let node) in try place.destinations(in: members) {
      if let end = try existingEnd(.node(node)), try !isDead(end) { continue }
      if let end = try find(.node(node)),
        try edges[edge(of: place, from: source, to: end)] != nil
      {
        continue
      }
      try keepLoose(place, of: source, to: node)
    }
  }

  /// Of sources that go.
  func forgetLoose(_ slice: Slice) throws {
    if references.collections.isEmpty { return }
    try db.run(
      """
      DELETE FROM cascade_loose
      WHERE source IN (SELECT id FROM temp.gone WHERE id > 0 AND seq > ? AND seq <= ?)
      """, .integer(slice.low), .integer(slice.high))
  }

  /// A value is written anew. Says whether there were any.
  @discardableResult
  func forgetLoose(of source: Int64) throws -> Bool {
    try db.run("DELETE FROM cascade_loose WHERE source = ?", .integer(source))
    return db.changes > 0
  }

  // MARK: - Somebody comes

  /// Before the value of this one is looked at again: what is there by now it has an edge to.
  func tieLoose(of source: Int64) throws {
    var last = LooseEnd.none
    while try tieFew(behind: &last, of: source) {}
  }

  func tie(_ identity: Interned.Identity, to id: Int64) throws {
    if references.collections.isEmpty { return }
    try tie(identity.collection, .text(identity.key), to: id, isOwn: true)
  }

  /// How many there were, of as many as there may be.
  @discardableResult
  private func tie(
    _ collection: Int64, _ key: Value, to id: Int64, isOwn: Bool, most: Int64 = -1
  ) throws -> Int64 {
    let edges = try db.all(
      """
      DELETE FROM cascade_loose WHERE collection = ?1 AND key = ?2 AND source IN (
        SELECT source FROM cascade_loose
        WHERE collection = ?1 AND key = ?2 AND source NOT IN (SELECT id FROM temp.dead) LIMIT ?3)
      RETURNING source, name, origin, rules
      """, .integer(collection), key, .integer(most)
    ) { row in
      (
        EdgeKey(
          source: row.integer(0), name: row.integer(1), destination: id,
          origin: Origin(rawValue: row.integer(2)) ?? .property),
        Rules(rawValue: row.integer(3))
      )
    }
    for (edge, rules) in edges { try add(edge, rules: rules, isOwn: isOwn) }
    return Int64(edges.count)
  }

  /// Rows that came by SQL. Where nobody else wrote since that was looked for, these are our own.
  func tieLooseRows() throws {
    if references.collections.isEmpty { return }
    let commits = try foreignCommits()
    if commits == interned.tied && !binding.hasTriggers && binding.spellsInOneWay {
      try tieBorn()
    } else {
      try tieLoose()
    }
    interned.tied = commits
  }

  private func tieBorn() throws {
    let ends = try db.all(
      """
      SELECT c.name, k.key, k.collection FROM temp.born AS b
      CROSS JOIN temp.known AS k ON k.id = b.id
      CROSS JOIN main.cascade_collection AS c ON c.id = k.collection
      WHERE EXISTS (
        SELECT 1 FROM main.cascade_loose AS l WHERE l.collection = k.collection AND l.key = k.key)
      """
    ) { (node: $0.node(0, model), collection: $0.integer(2), key: $0.value(1)) }
    for (node, collection, key) in ends {
      while try tie(collection, key, to: end(node), isOwn: true, most: atOnce) == atOnce {}
    }
  }

  /// And objects that an undo brought back.
  func tieLoose(toObjects: Bool = false) throws {
    if references.collections.isEmpty { return }
    var last = LooseEnd.none
    while try tieFew(behind: &last, toObjects: toObjects) {}
  }

  /// A sweep sees them; whoever plans it cannot write.
  package func tieLooseRows(_ manners: Manners = .none) throws {
    if isDetached { return }
    if try references.collections.isEmpty || isHalfView || looseEnd(behind: .none) == nil { return }
    var last = LooseEnd.none
    try littleByLittle(manners) {
      // These edges are older than whatever comes next.
      defer { counters.serial += 1 }
      return try tieFew(behind: &last)
    }
  }

  /// What is there by now, and somebody refers to: the next by collection and key. Says whether there
  /// was one.
  private func tieFew(
    behind last: inout LooseEnd, toObjects: Bool = false, of source: Int64? = nil
  ) throws -> Bool {
    guard let next = try looseEnd(behind: last, objects: toObjects, of: source)
    else { return false }
    let count = try tie(
      next.collection, next.key, to: end(next.node), isOwn: source != nil, most: atOnce)
    // Very many may refer to it.
    if count < atOnce { last = LooseEnd(collection: next.collection, key: next.key) }
    return true
  }

  private func looseEnd(
    behind last: LooseEnd, objects: Bool = false, of source: Int64? = nil
  ) throws -> (node: Node, collection: Int64, key: Value)? {
    let tables = binding.collections.values.map { String($0.id) }.joined(separator: ", ")
    let isRow = "l.collection IN (\(tables))"
    return try db.all(
      generated: """
        SELECT c.name, l.key, l.collection
        FROM main.cascade_loose AS l CROSS JOIN main.cascade_collection AS c ON c.id = l.collection
        WHERE (l.collection, l.key) > (?1, ?2) AND \(objects ? "1" : isRow)
        AND \(binding.isThere(loose: "l")) AND l.source NOT IN (SELECT id FROM temp.dead)
        \(source.map { "AND l.source = \($0)" } ?? "")
        ORDER BY l.collection, l.key LIMIT 1
        """, [.integer(last.collection), last.key]
    ) { (node: $0.node(0, model), collection: $0.integer(2), key: $0.value(1)) }.first
  }
}

/// What `cascade_loose` has references to.
private struct LooseEnd {
  let collection: Int64
  let key: Value

  static let none = LooseEnd(collection: .min, key: .null)
}

extension Binding {
  /// Whether what a row of `cascade_loose` names is there.
  func isThere(loose l: String) -> String {
    isThere(
      l,
      object: """
        EXISTS (SELECT 1 FROM cascade_node AS n
          WHERE n.collection = \(l).collection AND n.key = \(l).key
          AND n.id NOT IN (SELECT id FROM temp.dead))
        """)
  }
}
