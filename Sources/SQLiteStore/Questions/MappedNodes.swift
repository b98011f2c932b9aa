package import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import SQLiteBinding

/// Rows of the application, read as nodes: the value is an object of all columns.
extension Reader {
  /// The row of a node; nil if there is none.
  func mappedRow(_ node: Node) throws -> MappedRow? {
    guard let table = try binding().collections[node.collection],
      table.stored(node.key) != nil, let keys = table.columnValues(node.key)
    else { return nil }
    return try rows(of: table, where: table.isKeyed("s"), keys).first
  }

  /// The node with its key as its table stores it, whether the node exists or not.
  package func withStoredKey(_ destination: Destination) throws -> Destination {
    guard case .node(let node) = destination else { return destination }
    return .node(try withStoredKey(node))
  }

  package func withStoredKey(_ node: Node) throws -> Node {
    guard let table = try binding().collections[node.collection] else {
      return Node(node.collection, node.key.managedText.map(Key.text) ?? node.key)
    }
    guard let values = table.columnValues(node.key) else { return node }
    let parts = values.compactMap(Key.init)
    if parts.count < values.count { return node }
    return Node(node.collection, parts.count == 1 ? parts[0] : .composite(parts))
  }

  /// A page of nodes after `key`, in the order of the keys.
  func mappedNodes(in collection: String, after key: Key?, limit: Int) throws -> [StoredNode] {
    try db.snapshot {
      guard let table = try binding().collections[collection] else { return [] }
      let keys = key.flatMap(table.columnValues) ?? []
      let condition = keys.isEmpty ? "" : "AND \(table.isBehind("s"))"
      return try rows(
        of: table, where: "\(table.isNode("s")) \(condition)", keys,
        "ORDER BY \(table.order("s")) LIMIT \(limit)"
      ).map { $0.node(in: collection) }
    }
  }

  private func rows(
    of table: NodeTable, where condition: String, _ values: [Value], _ order: String = ""
  ) throws -> [MappedRow] {
    let key = table.keyColumns("s")
    return try db.all(
      generated: """
        SELECT \(key.joined(separator: ", ")), s.* FROM \(table.rows) AS s
        WHERE \(condition) \(order)
        """, values
    ) { MappedRow($0, keyCount: key.count) }
  }
}

extension NodeTable {
  /// The order of the key's own index.
  fileprivate func order(_ alias: String) -> String {
    zip(keyColumns(alias), collations ?? []).map { "\($0) COLLATE \(quoted($1))" }
      .joined(separator: ", ")
  }

  /// A condition: the row comes after the key that is bound, in this order.
  fileprivate func isBehind(_ alias: String) -> String {
    let bounds = (collations ?? []).enumerated().map { "?\($0 + 1) COLLATE \(quoted($1))" }
    return "(\(keyColumns(alias).joined(separator: ", "))) > (\(bounds.joined(separator: ", ")))"
  }
}

/// A row of an application's table. The query selects the columns of its key first, and then all
/// columns.
struct MappedRow {
  let key: [Value]
  let members: [(name: String, value: Value)]

  init(_ row: Row, keyCount: Int) {
    let values = row.columns.map { row.value($0) }
    key = Array(values.prefix(keyCount))
    members = row.columns.dropFirst(keyCount).map { (row.name($0), values[Int($0)]) }
  }

  func node(in collection: String) -> StoredNode {
    let json = JSON.object(members.map { JSON.Field($0.name, $0.value.json) })
    return StoredNode(
      node: Node(collection, Key(key)), exists: true, type: nil, value: JSONText(json))
  }
}

extension Key {
  init(_ values: [Value]) {
    let parts = values.map { Key($0) ?? .text("") }
    self = parts.count == 1 ? parts[0] : .composite(parts)
  }
}
