internal import CascadeStore
internal import CascadeModel
internal import CascadeSQLite
internal import CascadeEngine
internal import SQLiteBinding
internal import SQLiteTables

/// The edges of one relation that a query selects, in the order of their sources' keys. Several
/// references to the same node are one edge. An edge whose end does not exist is left out.
struct RelationEdges: EdgeListing {
  let relation: EdgeRelation
  /// The values of the source's key columns, and the destination's key as its row stores it.
  let from: [Value]?
  let to: Value?
  /// A destination to leave out.
  var excluded: Value?

  private var source: NodeTable { relation.source }
  private var destination: NodeTable { relation.destination }

  private var bound: [Value] { (from ?? []) + [to, excluded].compactMap { $0 } }
  private var boundTo: String { "?\(1 + (from?.count ?? 0))" }

  /// The join table comes first if only the destination is given.
  private var rows: String {
    if to == nil { return "\(source.rows) AS s \(relation.references) \(relation.destinationRow)" }
    guard let reference = relation.sourceReference, let table = relation.joinTable, from == nil
    else { return "\(source.rows) AS s \(relation.references)" }
    return """
      main.\(quoted(table.name)) AS j
      CROSS JOIN \(source.rows) AS s ON \(source.hasKey("s", reference))
      """
  }

  private var conditions: [String] {
    var conditions = [relation.isEdge, source.isNode("s")]
    if from != nil { conditions.append(source.isKeyed("s")) }
    if to != nil { conditions.append(destination.referenceHasKey(boundTo, of: relation.reference)) }
    if excluded != nil { conditions.append("\(relation.destinationKey) <> ?\(bound.count)") }
    return conditions
  }

  private var ends: String {
    "\(source.key("s")), \(to == nil ? relation.destinationKey : boundTo)"
  }

  var count: Query {
    let rows = "FROM \(self.rows) WHERE \(conditions.joined(separator: " AND "))"
    if !hasMany { return Query("SELECT count(*) \(rows)", bound) }
    return Query("SELECT count(*) FROM (SELECT DISTINCT \(ends) \(rows))", bound)
  }

  func page(
    _ db: borrowing Connection, _ model: StoreModel, behind position: [Value], limit: Int
  ) throws -> [(edge: Edge?, position: [Value])] {
    let isLater = position.isEmpty ? [] : [isBehind]
    let order = order.joined(separator: ", ")
    return try db.all(
      generated: """
        SELECT \(hasMany ? "DISTINCT" : "") \(ends), \(order) FROM \(rows)
        WHERE \((conditions + isLater).joined(separator: " AND ")) ORDER BY \(order) LIMIT \(limit)
        """, bound + position
    ) { row in
      (relation.edge(row, model), (0..<self.order.count).map { row.value(Int32($0 + 2)) })
    }
  }

  // MARK: - Order

  /// Whether a source may have several edges in this relation.
  private var hasMany: Bool { relation.isInJoinTable || relation.isInLists }

  private var order: [String] { sourceOrder + destinationOrder }

  /// An index on the referring column has the rows with one value in the order of their rowids.
  private var sourceOrder: [String] {
    if to != nil, from == nil, !hasMany, let rowid = source.table?.rowid { return ["s.\(rowid)"] }
    return source.sortColumns("s")
  }

  private var destinationOrder: [String] {
    if !hasMany || to != nil { return [] }
    return destination.kind == .files ? [relation.destinationKey] : destination.sortColumns("d")
  }

  /// The values of the position are bound after the others.
  private var isBehind: String {
    let first = bound.count + 1
    let sources = sourceOrder.indices.map { "?\(first + $0)" }
    let destinations = destinationOrder.indices.map { "?\(first + sources.count + $0)" }
    let isLater = "\(list(sourceOrder)) > \(list(sources))"
    if destinations.isEmpty { return isLater }
    // The first condition lets SQLite seek in the index.
    return """
      \(list(sourceOrder)) >= \(list(sources))
      AND (\(isLater) OR \(list(destinationOrder)) > \(list(destinations)))
      """
  }

  private func list(_ words: [String]) -> String {
    words.count == 1 ? words[0] : "(\(words.joined(separator: ", ")))"
  }
}

extension Reader {
  /// Nil if the query does not select edges of this relation.
  func edges(of relation: EdgeRelation, _ query: EdgeQuery) throws -> RelationEdges? {
    if let name = query.name, name != relation.name { return nil }
    var from: [Value]?
    if let node = query.from {
      guard node.collection == relation.source.collection,
        let values = relation.source.columnValues(node.key)
      else { return nil }
      from = values
    }
    guard let to = query.to else { return RelationEdges(relation: relation, from: from, to: nil) }
    guard let key = try key(of: to, at: relation.destination) else { return nil }
    return RelationEdges(relation: relation, from: from, to: key)
  }

  private func key(of destination: Destination, at table: NodeTable) throws -> Value? {
    switch destination {
    case .file(let root, let path):
      Destination.fileCollection + root == table.collection ? .text(path) : nil
    case .node(let node):
      node.collection == table.collection ? try keyInTable(of: node) : nil
    }
  }
}

extension EdgeRelation {
  /// From the columns: the key of the source, that of the destination.
  func edge(_ row: Row, _ model: StoreModel) -> Edge {
    Edge(
      name: name, source: Node(source.collection, row.key(0, in: source.collection, model)),
      destination: row.destination(1, in: destination.collection, model), rules: rules,
      origin: .declared, kind: kind)
  }
}
