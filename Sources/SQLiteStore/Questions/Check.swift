internal import CascadeModel
internal import CascadeSQLite
internal import CascadeSystem
package import CascadeStore
internal import CascadeEngine
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
      var queries = [danglingEdges(binding), danglingReferences(binding)]
      for relation in binding.edgeRelations where relation.destination.kind != .files {
        if !isAttached && !(relation.source.isMapped && relation.destination.isMapped) { continue }
        queries += [dangling(relation), joinsWithoutSource(relation, binding)].compactMap { $0 }
      }
      if isAttached { queries.append(givenUp(binding)) }
      for (query, finding) in queries {
        try findings.add(limit) { room in
          try db.all(generated: "\(query) LIMIT ?", [.integer(Int64(room))], as: finding)
        } count: {
          Int(try db.integer(generated: "SELECT count(*) FROM (\(query))") ?? 0)
        }
      }
      for demand in isAttached ? Demand.all(in: model) : [] {
        for judgement in demand.judgements(binding, model, of: .all) {
          try findings.add(limit) { room in
            try judgement.violations(db, model, limit: room).map {
              Finding(kind: $0.code.rawValue, message: $0.message, node: $0.node)
            }
          } count: {
            try judgement.violationCount(db)
          }
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

  /// What a rejected plan would have deleted first.
  private func givenUp(_ binding: Binding) -> FindingQuery {
    let model = model
    let ends = binding.endsOfGivenUp.map { "AND NOT (\($0))" }.joined(separator: "\n")
    let rows = """
      SELECT c.name, g.key, m.name, v.name, g.via_key FROM main.cascade_given_up AS g
      JOIN main.cascade_collection AS c ON c.id = g.collection
      JOIN main.cascade_name AS m ON m.id = g.name
      JOIN main.cascade_collection AS v ON v.id = g.via_collection
      WHERE true \(ends)
      """
    return (rows, { Finding(givenUp: $0, model) })
  }

  /// A query, and what is found by a row of it.
  private typealias FindingQuery = (text: String, finding: (Row) -> Finding)

  private func dangling(_ relation: EdgeRelation) -> FindingQuery? {
    if !relation.mayStandForNothing { return nil }
    let (model, tables) = (model, relation.alternatives.map(\.collection))
    let edges = """
      SELECT DISTINCT \(relation.source.key("s")), \(relation.reference.value) \(relation.all)
      AND \(relation.isDangling)
      """
    return (edges, { Finding(dangling: relation.edge($0, model), in: tables) })
  }

  /// Finds join rows without a source. If the inverse relationship uses the same rows, those that
  /// have a destination are listed as dangling there.
  private func joinsWithoutSource(_ relation: EdgeRelation, _ binding: Binding) -> FindingQuery? {
    guard let lost = relation.rowsWithoutSource else { return nil }
    let (model, isSaid) = (model, binding.edgeRelations.contains { $0.isInverse(of: relation) })
    let joins = """
      SELECT DISTINCT \(lost.source), \(relation.reference.value) \(lost.rows) AND \(relation.isEdge)
      AND \(isSaid ? relation.isDangling : "1")
      """
    return (joins, { Finding(sourceless: relation.edge($0, model)) })
  }

  private func danglingReferences(_ binding: Binding) -> FindingQuery {
    let model = model
    let references = """
      SELECT m.name, sc.name, s.key, dc.name, l.key, l.rules, l.origin
      FROM cascade_dangling_reference AS l JOIN cascade_name AS m ON m.id = l.name
      JOIN cascade_node AS s ON s.id = l.source
      JOIN cascade_collection AS sc ON sc.id = s.collection
      JOIN cascade_collection AS dc ON dc.id = l.collection
      WHERE NOT \(binding.danglingTargetExists(loose: "l"))
      """
    return (references, { Finding(dangling: Edge(row: $0, model)) })
  }

  /// An end without a row cannot be named.
  private func danglingEdges(_ binding: Binding) -> FindingQuery {
    let model = model
    let edges = """
      SELECT \(Edge.columns), \(binding.nodeExists("s")) FROM cascade_edge AS e \(Edge.names)
      WHERE NOT (\(binding.nodeExists("s"))) OR NOT (\(binding.nodeExists("d")))
      """
    return (edges, { Finding(lostEnd: $0, model) })
  }
}

extension Findings {
  /// Counts the findings only if there may be more than were asked for.
  fileprivate mutating func add(
    _ limit: Int, find: (_ room: Int) throws -> [Finding], count: () throws -> Int
  ) throws {
    let room = Swift.max(limit - list.count, 0)
    let found = try find(room)
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

  fileprivate init(givenUp row: Row, _ model: StoreModel) {
    let (node, gone) = (row.node(0, model), row.node(3, model))
    self.init(
      kind: "givenUp",
      message: "\(node) would have followed \(gone) by \"\(row.text(2))\", and was given up",
      node: node)
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
