package import CascadeModel
internal import CascadeEngine
internal import CascadePostgres
internal import CascadeStore
internal import PostgresBinding
internal import PostgresTables

/// Edges that a change file adds or removes by their name, where the model says that they live.
extension ChangeFile: EdgeWriting {
  package var model: StoreModel { store.model }

  /// The table of a node, and its key there; nil if the collection has no table yet.
  private func place(_ node: Node) throws -> (table: MappedTable, key: String)? {
    try store.refuseStopped(node.collection)
    guard let table = store.binding.tables[node.collection] else { return nil }
    return (table, try key(of: node, in: table))
  }

  package func exists(_ node: Node) throws -> Bool {
    guard let (table, key) = try place(node) else { return false }
    return try db.run("SELECT \(table.has("$1"))", [key]).bool
  }

  package func type(of node: Node) throws -> String? {
    guard let (table, key) = try place(node), table.isManaged else { return nil }
    return try db.run("SELECT type FROM \(table.name) t WHERE t.key = $1", [key]).rows.first?[0]
  }

  package func spelled(_ node: Node) throws -> Node {
    if let (table, key) = try place(node) { return table.node(key) }
    if let problem = store.model.problem(ofChanged: node.collection) {
      throw Rejection(.invalid, problem)
    }
    return Node(node.collection, node.key.managedText.map(Key.text) ?? node.key)
  }

  private func columns(of table: MappedTable) throws -> [RowValues.Column] {
    try columns[table.number] ?? RowValues.columns(of: table, store)
  }

  private func column(_ name: String, of node: Node) throws -> RowValues.Column? {
    guard let (table, _) = try place(node), !table.isManaged else { return nil }
    if let column = try columns(of: table).first(where: { $0.name == name }) { return column }
    throw rejects(node, "the table \(table.name) has no column \"\(name)\"")
  }

  private func rejects(_ node: Node, _ message: String) -> Rejection {
    Rejection(.invalid, "\(node): \(message)", node: node)
  }

  package func isRequired(_ column: String, of node: Node) throws -> Bool {
    try self.column(column, of: node)?.isRequired ?? false
  }

  // MARK: - Documents

  package func document(_ name: String, of node: Node) throws -> JSONText {
    guard let (table, key) = try place(node) else { return .null }
    guard let column = try column(name, of: node) else {
      let value = try db.run("SELECT value FROM \(table.name) t WHERE t.key = $1", [key]).text
      return JSONText(valid: value ?? "{}").members()?.first { $0.isNamed(name) }?.value ?? .null
    }
    let value = column.isArray ? "to_jsonb(x.\(column.quoted))" : "x.\(column.quoted)"
    let text = try db.run(
      "SELECT \(value)::text FROM \(table.name) x WHERE \(table.key.equal("x", text: "$1"))", [key]
    ).text
    guard let text else { return .null }
    if (try? JSON.parse(text)) != nil { return JSONText(valid: text).trimmed }
    throw rejects(node, "\"\(name)\" has no JSON")
  }

  package func written(_ document: JSONText, to column: String, of node: Node) throws -> JSONText {
    let isText = try self.column(column, of: node).map { !$0.isArray && !$0.isJSON } ?? false
    return isText && !document.isNull ? JSONText(.string(document.text)) : document
  }

  package mutating func patch(_ node: Node, set: [Member]) throws {
    try patch(node, set: set, unset: [])
  }

  package mutating func patch(
    _ node: Node, set: [Member], removingAlone relationship: Relationship, _ end: Destination
  ) throws {
    try patch(node, set: set, unset: [])
    guard let (_, key) = try place(node), let end = end.node, let (_, other) = try place(end) else {
      return
    }
    for relation in relations(relationship) where relation.destination.collection == end.collection
    {
      try written.forgetLoss(of: relation, from: key, to: other)
    }
  }

  // MARK: - References in rows

  /// Where the relationship has its edges to this collection.
  private func relation(
    _ relationship: Relationship, to collection: String
  ) throws -> EdgeRelation {
    let relation = relations(relationship).first { $0.destination.collection == collection }
    if let relation { return relation }
    let source = store.model.collection(of: relationship.from)
    try store.refuseStopped(relationship.name, of: source)
    throw Rejection(
      .invalid,
      "\"\(relationship.name)\" of \"\(relationship.from)\" cannot be written: its place does not "
        + "match the model")
  }

  private func relations(_ relationship: Relationship) -> [EdgeRelation] {
    let source = store.model.collection(of: relationship.from)
    return store.binding.relations.filter {
      $0.name == relationship.name && $0.storage == relationship.edgeStorage && !$0.isStored
        && !$0.isTie && $0.source.collection == source
    }
  }

  package func refers(
    _ relationship: Relationship, _ from: Node, _ to: Destination
  ) throws -> Bool {
    guard let (source, key) = try place(from) else { return false }
    switch to {
    case .file(_, let path):
      guard let column = relationship.edgeStorage.columns.first else { return false }
      return try db.run(
        """
        SELECT EXISTS (SELECT FROM \(source.name) s WHERE \(source.key.equal("s", text: "$1"))
          AND s.\(quoted(column))::text = $2)
        """, [key, path]
      ).bool
    case .node(let node):
      guard let (_, other) = try place(node) else { return false }
      let relation = try relation(relationship, to: node.collection)
      let edges = relation.edges(ofText: "$1")
      return try db.run(
        "SELECT EXISTS (SELECT FROM \(edges.from) WHERE \(edges.condition) AND \(relation.leads(toText: "$2")))",
        [key, other]
      ).bool
    }
  }

  // MARK: - Join rows

  package func joined(_ relationship: Relationship, _ from: Node) throws -> [Node] {
    guard let (_, key) = try place(from) else { return [] }
    return try relations(relationship).flatMap { relation in
      let edges = relation.edges(ofText: "$1")
      return try db.run(
        """
        SELECT DISTINCT \(relation.to()) FROM \(edges.from) WHERE \(edges.condition)
        AND \(relation.isEdge())
        """, [key]
      ).texts.map(relation.destination.node)
    }
  }

  package mutating func insertJoinRow(
    _ relationship: Relationship, _ from: Node, _ to: Node
  ) throws {
    let (relation, join, ends) = try joinRow(relationship, from, to)
    guard let nodes = join.nodes else { return try joins.insert(relation, join, ends) }
    let statement = store.binding.insertion(into: join, returning: [nodes.key.text("x")])
    let key = try store.writing(join.name) { try db.run(statement, ends).text }
    guard let key else {
      throw rejects(from, "the row of \"\(relation.name)\" has no key of \"\(nodes.collection)\"")
    }
    written.noteInsertion(key, of: nodes)
    try noteArrival(of: nodes.node(key), key, in: nodes)
  }

  package mutating func deleteJoinRows(
    _ relationship: Relationship, _ from: Node, _ to: Node, as removal: Removal
  ) throws {
    let (relation, join, ends) = try joinRow(relationship, from, to)
    guard let nodes = join.nodes else { return try joins.delete(relation, join, ends, as: removal) }
    if removal != .sourceDeleted {
      throw rejects(
        from,
        "the rows of \"\(relation.name)\" are nodes of \"\(nodes.collection)\", so none is removed as "
          + "\"\(removal.rawValue)\"")
    }
    let keys = try db.run(
      "SELECT \(nodes.key.text("e")) FROM \(join.name) e WHERE \(join.isBetween("e"))", ends
    ).texts
    for key in keys { try delete(nodes.node(key)) }
  }

  private mutating func joinRow(
    _ relationship: Relationship, _ from: Node, _ to: Node
  ) throws -> (relation: EdgeRelation, join: JoinTable, ends: [String]) {
    let relation = try relation(relationship, to: to.collection)
    let ends = [
      try key(of: from, in: relation.source), try key(of: to, in: relation.destination),
    ]
    return (relation, relation.join!, ends)
  }

  // MARK: - Manual edges

  package mutating func addStored(
    _ name: String, _ from: Node, _ to: Destination, rules: Rules?
  ) throws {
    try add(stored(name, from, to), self.rules(rules, name, from, to), isDeclared: false)
  }

  package mutating func removeStored(
    _ name: String, _ from: Node, _ to: Destination, as removal: Removal
  ) throws -> Bool {
    try unlink(stored(name, from, to), as: removal)
  }

  package func stored(_ name: String, _ from: Node) throws -> [Destination] {
    guard let (source, key) = try place(from) else { return [] }
    var ends: [Destination] = []
    for relation in store.binding.relations(from: source) where relation.name == name {
      guard let join = relation.join, join.isStored else { continue }
      ends += try db.run(
        """
        SELECT \(join.destination.text("e")) FROM \(join.name) e
        WHERE \(join.source.equal("e", text: "$1")) AND NOT e.is_declared
        """, [key]
      ).texts.map { .node(relation.destination.node($0)) }
    }
    for relation in store.binding.storedFiles(of: source) where relation.name == name {
      guard let stored = relation.stored else { continue }
      ends += try db.run(
        """
        SELECT e.path FROM \(stored.name) e WHERE \(stored.source.equal("e", text: "$1"))
        AND NOT e.is_declared
        """, [key]
      ).texts.map { .file(root: relation.root, path: $0) }
    }
    return ends
  }
}

extension RowValues.Column {
  fileprivate var isArray: Bool { type.hasSuffix("[]") }
  fileprivate var isJSON: Bool { type == "json" || type == "jsonb" }
}
