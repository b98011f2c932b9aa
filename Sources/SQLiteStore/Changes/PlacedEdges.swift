package import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import CascadeEngine
internal import SQLiteBinding
package import SQLiteTables
internal import SQLiteJournal
internal import SQLiteRules
internal import SQLiteEdges

/// Edges that a change file adds or removes by their name, where the model says that they live.
extension Writer: EdgeWriting {
  package func exists(_ node: Node) throws -> Bool {
    guard let table = try table(of: node.collection) else { return try existing(node) != nil }
    guard let place = try locate(keyValues(node, table), in: table) else { return false }
    return try !isDead(number(place, in: table.id))
  }

  package func type(of node: Node) throws -> String? {
    if try table(of: node.collection) != nil { return nil }
    guard let id = try existing(node) else { return nil }
    return try db.first("SELECT type FROM cascade_node WHERE id = ?", .integer(id)) {
      $0.optionalText(0)
    } ?? nil
  }

  package func spelled(_ node: Node) throws -> Node {
    guard let table = try table(of: node.collection) else {
      return Node(node.collection, .text(try identity(of: node).key))
    }
    let keys = try keyValues(node, table)
    let values = try db.all(
      generated: """
        SELECT \(table.keyColumns("s").joined(separator: ", ")) FROM \(table.rows) AS s
        WHERE \(table.isKeyed("s"))
        """, keys
    ) { row in keys.indices.map { row.value(Int32($0)) } }.first
    let parts = (values ?? keys).compactMap(Key.init)
    return Node(node.collection, table.isComposite ? .composite(parts) : parts[0])
  }

  package func isRequired(_ column: String, of node: Node) throws -> Bool {
    try table(of: node.collection)?.table?.column(column)?.isRequired ?? false
  }

  // MARK: - Documents

  package func document(_ name: String, of node: Node) throws -> JSONText {
    guard let table = try table(of: node.collection) else {
      let value = try existing(node).flatMap { id in
        try db.first("SELECT value FROM cascade_node WHERE id = ?", .integer(id)) {
          $0.optionalText(0)
        } ?? nil
      }
      return JSONText(valid: value ?? "{}").members()?.first { $0.isNamed(name) }?.value ?? .null
    }
    let column = try RowValues(node, in: table).anyColumn(name)
    let value =
      try db.all(
        generated: """
          SELECT s.\(quoted(column.name)) FROM \(table.rows) AS s WHERE \(table.isKeyed("s"))
          """, keyValues(node, table)
      ) { $0.value(0) }.first ?? .null
    guard let document = value.document else {
      throw Rejection(.invalid, "\(node): \"\(name)\" has no JSON", node: node)
    }
    return document
  }

  package func written(_ document: JSONText, to column: String, of node: Node) -> JSONText {
    document.isNull ? .null : JSONText(.string(document.text))
  }

  package func patch(_ node: Node, set: [Member]) throws {
    _ = try patch(node, set: set, unset: [])
  }

  package func patch(
    _ node: Node, set: [Member], removingAlone relationship: Relationship, _ end: Destination
  ) throws {
    _ = try patch(node, set: set, unset: [], as: .edgeDeleted)
  }

  // MARK: - References in rows

  /// Where the relationship has its edges to this end.
  private func relation(
    _ relationship: Relationship, to end: Destination
  ) throws -> EdgeRelation {
    let collection =
      switch end {
      case .node(let node): node.collection
      case .file(let root, _): Destination.fileCollection + root
      }
    let relation = binding.edgeRelations.first {
      $0.relationship == relationship && $0.destination.collection == collection
    }
    if let relation { return relation }
    throw Rejection(
      .invalid,
      "\"\(relationship.name)\" of \"\(relationship.from)\" cannot be written: its place does not "
        + "match the model")
  }

  package func refers(
    _ relationship: Relationship, _ from: Node, _ to: Destination
  ) throws -> Bool {
    let relation = try relation(relationship, to: to)
    if relation.isInJoinTable { return try !joinRows(relation, from, to).isEmpty }
    let keys = try keyValues(from, relation.source)
    return try db.integer(
      generated: """
        SELECT 1 FROM \(relation.source.rows) AS s WHERE \(relation.source.isKeyed("s"))
        AND \(relation.isEdge)
        AND \(relation.destination.referenceHasKey("?\(keys.count + 1)", of: relation.reference))
        """, keys + [key(to, relation.destination)]) != nil
  }

  private func key(_ end: Destination, _ table: NodeTable) -> Value {
    switch end {
    case .node(let node): table.stored(node.key) ?? .null
    case .file(_, let path): .text(path)
    }
  }

  // MARK: - Join rows

  private func joinRows(
    _ relation: EdgeRelation, _ from: Node, _ to: Destination
  ) throws -> [RowEdge] {
    try joinEdges(
      relation, from: key(.node(from), relation.source), to: key(to, relation.destination))
  }

  package func joined(_ relationship: Relationship, _ from: Node) throws -> [Node] {
    try binding.edgeRelations.filter { $0.relationship == relationship }.flatMap { relation in
      try joinedKeys(relation, from: key(.node(from), relation.source)).compactMap { value in
        try relation.destination.node(ofKey: value).map(spelled)
      }
    }
  }

  package func insertJoinRow(
    _ relationship: Relationship, _ from: Node, _ to: Node
  ) throws {
    let relation = try relation(relationship, to: .node(to))
    guard case .join(let table, let sources, let destinations) = relation.form else { return }
    let values = try keyValues(from, relation.source) + keyValues(to, relation.destination)
    let row = JoinRow(
      table: table, columns: sources + destinations, values: values, source: from,
      name: relation.name)
    if let nodes = binding.collection(in: table) { return try insert(row, in: nodes) }
    try run(row)
    try recordChange([], becoming: joinRows(relation, from, .node(to)))
  }

  /// A row that is a node, too.
  private func insert(_ row: JoinRow, in nodes: NodeTable) throws {
    let mark = try journalMark
    try run(row)
    guard let place = try lastInserted(row, in: nodes) else {
      throw row.makeRejection("its row has no key of \"\(nodes.collection)\"")
    }
    try touch(noteInsertion(of: place, in: nodes, behind: mark))
  }

  private func lastInserted(_ row: JoinRow, in nodes: NodeTable) throws -> RowLocation? {
    guard let rowid = nodes.table?.rowid else {
      let keys = nodes.keyNames.compactMap { row.value(of: $0) }
      return keys.count < nodes.keyNames.count ? nil : try locate(keys, in: nodes)
    }
    let condition = "s.\(rowid) = last_insert_rowid() AND \(nodes.isNode("s"))"
    return try locate(where: condition, in: nodes)
  }

  private func run(_ row: JoinRow) throws {
    do {
      try db.run(generated: row.insertion, row.values)
    } catch {
      guard error.isAboutTheValue || error.isAboutTheStatement else { throw error }
      let rejection = row.makeRejection(error.message)
      throw db.isInTransaction ? rejection : RejectionWithRollback(rejection: rejection)
    }
    if db.changes == 0 { throw row.makeRejection("a trigger prevents this") }
  }

  package func deleteJoinRows(
    _ relationship: Relationship, _ from: Node, _ to: Node, as removal: Removal
  ) throws {
    let relation = try relation(relationship, to: .node(to))
    guard let table = relation.joinTable else { return }
    let ends = (key(.node(from), relation.source), key(.node(to), relation.destination))
    if let nodes = binding.collection(in: table) {
      if removal != .sourceDeleted { throw relation.rejects(removal, nodes, from) }
      for value in try joinRowKeys(relation, in: nodes, from: ends.0, to: ends.1) {
        if let node = nodes.node(ofKey: value) { try delete(node, in: nodes) }
      }
      return
    }
    let old = try joinEdges(relation, from: ends.0, to: ends.1)
    let mark = try journalMark
    let references = try deleteJoinRows(relation, from: ends.0, to: ends.1)
    try recordChange(old, becoming: [], as: removal)
    for reference in references {
      try unjournalOwnJoinRow(relation, reference.0, reference.1, behind: mark)
    }
  }

  // MARK: - Manual edges

  package func stored(_ name: String, _ from: Node) throws -> [Destination] {
    guard let source = try existingId(.node(from)) else { return [] }
    return try db.all(
      """
      SELECT c.name, d.key FROM cascade_edge AS e CROSS JOIN cascade_node AS d ON d.id = e.destination
      CROSS JOIN cascade_collection AS c ON c.id = d.collection
      WHERE e.source = ? AND e.name = ? AND e.origin = ?
      """, .integer(source), .integer(try nameId(name)), .integer(Origin.manual.rawValue)
    ) { row in row.destination(1, in: row.text(0), model) }
  }
}

/// A row to insert into a join table.
private struct JoinRow {
  let table: Table
  let columns: [String]
  let values: [Value]
  let source: Node
  let name: String

  var insertion: String {
    let names = columns.map(quoted).joined(separator: ", ")
    let values = columns.map { _ in "?" }.joined(separator: ", ")
    return "INSERT OR ABORT INTO main.\(quoted(table.name))(\(names)) VALUES(\(values))"
  }

  func value(of column: String) -> Value? {
    columns.firstIndex { $0.folded == column.folded }.map { values[$0] }
  }

  func makeRejection(_ message: String) -> Rejection {
    Rejection(
      .invalid, "\(source): \"\(name)\" lives in the join table \"\(table.name)\": \(message)",
      node: source)
  }
}

extension EdgeRelation {
  fileprivate func rejects(_ removal: Removal, _ nodes: NodeTable, _ from: Node) -> Rejection {
    Rejection(
      .invalid,
      "\(from): the rows of \"\(name)\" are nodes of \"\(nodes.collection)\", so none is removed as "
        + "\"\(removal.rawValue)\"", node: from)
  }
}

extension NodeTable {
  /// The node with a key of `temp.known`.
  fileprivate func node(ofKey value: Value) -> Node? {
    guard isComposite else { return Key(value).map { Node(collection, $0) } }
    guard case .text(let text) = value, let parts = try? JSON.parse(text).array else { return nil }
    return Node(collection, .composite(parts.compactMap(Key.init(json:))))
  }
}

extension Value {
  /// The JSON of a column; nil if it has none.
  fileprivate var document: JSONText? {
    switch self {
    case .null: .null
    case .integer(let number): JSONText(.integer(number))
    case .real(let number): JSONText(.number(number))
    case .text(let text): (try? JSON.parse(text)).map { _ in JSONText(valid: text).trimmed }
    case .blob: nil
    }
  }
}
