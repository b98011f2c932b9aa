internal import CascadeModel
internal import CascadeSQLite
internal import CascadeSystem
package import CascadeStore
internal import CascadePlanning
internal import SQLiteBinding
internal import SQLiteTables
internal import SQLiteRules
internal import SQLiteEdges

extension Reader {
  /// Checks the data: references to nothing, wherever they are, and the demands of the model. A
  /// database that was never attached has no managed nodes and no stored edges: there, only
  /// references between rows are checked.
  package func checkReferences(limit: Int = Receipt.mostListed) throws -> Findings {
    try db.snapshot {
      let (binding, isAttached) = (try binding(), try isAttached())
      var findings = Findings()
      try addDanglingEdges(binding, &findings, limit)
      try addDanglingReferences(binding, &findings, limit)
      for relation in binding.edgeRelations where relation.destination.kind != .files {
        if !isAttached && !(relation.source.isMapped && relation.destination.isMapped) { continue }
        try addDangling(relation, &findings, limit)
        try addJoinsWithoutSource(relation, binding, &findings, limit)
      }
      for demand in isAttached ? Demand.all(in: model) : [] {
        for judgement in demand.judgements(binding, model, of: .all) {
          try add(judgement, &findings, limit)
        }
      }
      return findings
    }
  }

  /// How many nodes of each collection `sweep unreferenced` would find.
  package func countUnreferenced() throws -> [(collection: String, count: Int)] {
    try db.snapshot {
      try db.findUnreferenced(binding(), model.countedEnds, at: SystemClock.wall())
      return try db.unreferencedCounts().map { (collection: $0.name, count: $0.count) }
    }
  }

  private func add(_ judgement: Judgement, _ findings: inout Findings, _ limit: Int) throws {
    let room = findings.room(limit)
    let found = try judgement.violations(db, model, limit: room).map {
      Finding(kind: $0.code.rawValue, message: $0.message, node: $0.node)
    }
    try findings.add(found, room) { try judgement.violationCount(db) }
  }

  private func addDangling(_ relation: EdgeRelation, _ findings: inout Findings, _ limit: Int)
    throws
  {
    if !relation.mayStandForNothing { return }
    let tables = relation.alternatives.map(\.collection)
    let dangling = """
      SELECT DISTINCT \(relation.source.key("s")), \(relation.reference.value) \(relation.all)
      AND \(relation.isDangling)
      """
    try add(dangling, of: relation, &findings, limit) { Finding(dangling: $0, in: tables) }
  }

  /// Finds join rows without a source. If the inverse relationship uses the same rows, those that
  /// have a destination are listed as dangling there.
  private func addJoinsWithoutSource(
    _ relation: EdgeRelation, _ binding: Binding, _ findings: inout Findings, _ limit: Int
  ) throws {
    guard let lost = relation.rowsWithoutSource else { return }
    let isSaid = binding.edgeRelations.contains { $0.isInverse(of: relation) }
    let joins = """
      SELECT DISTINCT \(lost.source), \(relation.reference.value) \(lost.rows) AND \(relation.isEdge)
      AND \(isSaid ? relation.isDangling : "1")
      """
    try add(joins, of: relation, &findings, limit, as: Finding.init(sourceless:))
  }

  /// `edges` is a query for the keys of both ends of each edge.
  private func add(
    _ edges: String, of relation: EdgeRelation, _ findings: inout Findings, _ limit: Int,
    as finding: (Edge) -> Finding
  ) throws {
    let (from, to) = (relation.source.collection, relation.destination.collection)
    try add(edges, &findings, limit) { row in
      finding(
        Edge(
          name: relation.name, source: Node(from, row.key(0, in: from, model)),
          destination: .node(Node(to, row.key(1, in: to, model))), rules: relation.rules,
          origin: .declared, kind: relation.kind))
    }
  }

  private func add(
    _ query: String, _ findings: inout Findings, _ limit: Int, as finding: (Row) -> Finding
  ) throws {
    let room = findings.room(limit)
    let found = try db.all(
      generated: "\(query) LIMIT ?", [.integer(Int64(room))], as: finding)
    try findings.add(found, room) {
      Int(try db.integer(generated: "SELECT count(*) FROM (\(query))") ?? 0)
    }
  }

  private func addDanglingReferences(_ binding: Binding, _ findings: inout Findings, _ limit: Int)
    throws
  {
    let references = """
      SELECT m.name, sc.name, s.key, dc.name, l.key, l.rules, l.origin
      FROM cascade_dangling_reference AS l JOIN cascade_name AS m ON m.id = l.name
      JOIN cascade_node AS s ON s.id = l.source
      JOIN cascade_collection AS sc ON sc.id = s.collection
      JOIN cascade_collection AS dc ON dc.id = l.collection
      WHERE NOT \(binding.danglingTargetExists(loose: "l"))
      """
    try add(references, &findings, limit) { Finding(dangling: Edge(row: $0, model)) }
  }

  /// An end without a row cannot be named.
  private func addDanglingEdges(
    _ binding: Binding, _ findings: inout Findings, _ limit: Int
  ) throws {
    let edges = """
      SELECT \(Edge.columns), \(binding.nodeExists("s")) FROM cascade_edge AS e \(Edge.names)
      WHERE NOT (\(binding.nodeExists("s"))) OR NOT (\(binding.nodeExists("d")))
      """
    try add(edges, &findings, limit) { Finding(lostEnd: $0, model) }
  }
}

extension Findings {
  fileprivate func room(_ limit: Int) -> Int { Swift.max(limit - list.count, 0) }

  /// Counts the findings only if there may be more than were asked for.
  fileprivate mutating func add(
    _ found: [Finding], _ room: Int, count: () throws -> Int
  ) rethrows {
    list += found
    total += found.count < room ? found.count : try count()
  }
}

extension Finding {
  /// `collections` are those that a reference without a type may lead to.
  fileprivate init(dangling edge: Edge, in collections: [String] = []) {
    let node = edge.destination.node
    var end = "\(node.map { "\($0)" } ?? edge.destination.json.text), which does not exist"
    if let node, !collections.isEmpty {
      end = "\(node.key.json.text), which is in none of \(collections.joined(separator: ", "))"
    }
    let hint = node?.key.hintOfNone.map { ". \($0)" } ?? ""
    self.init(
      kind: "dangling",
      message: "\"\(edge.name)\" of \(edge.source) refers to \(end)\(hint)",
      node: edge.source, edge: edge)
  }

  fileprivate init(sourceless edge: Edge) {
    let end = edge.destination.node.map { "\($0)" } ?? edge.destination.json.text
    self.init(
      kind: "dangling",
      message:
        "a row joins \(edge.source) to \(end) by \"\(edge.name)\", but the source does not exist",
      node: edge.destination.node, edge: edge)
  }

  /// Reads the columns of an edge, and whether its source exists.
  fileprivate init(lostEnd row: Row, _ model: StoreModel) {
    let (hasSource, hasBothKeys) = (row.integer(7) != 0, !row.isNull(1) && !row.isNull(3))
    if hasSource, hasBothKeys {
      self.init(dangling: Edge(row: row, model))
      return
    }
    let survivor = hasSource ? row.node(1, model) : row.isNull(3) ? nil : row.node(3, model)
    let whose = survivor.map { " of \($0)" } ?? ""
    self.init(
      kind: "dangling",
      message: "the edge \"\(row.text(0))\"\(whose) has lost its "
        + (hasSource ? "destination" : "source"),
      node: survivor, edge: hasBothKeys ? Edge(row: row, model) : nil)
  }
}

extension EdgeRelation {
  fileprivate func isInverse(of other: EdgeRelation) -> Bool {
    guard case .join(let table, let from, let to) = other.form else { return false }
    return form == .join(table, source: to, destination: from)
      && (source, destination) == (other.destination, other.source)
  }
}
