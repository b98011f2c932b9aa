internal import CascadeStore
package import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding

/// Rows of the application, read as nodes: the value is an object of all columns.
extension Reader {
  func mappedNode(_ node: Node) throws -> StoredNode {
    let nowhere = StoredNode(node: node, exists: false, type: nil, value: nil)
    return try db.snapshot {
      guard let table = try binding().collections[node.collection],
        table.stored(node.key) != nil, let keys = table.columnValues(node.key)
      else { return nowhere }
      return try read(table, where: table.isKeyed("s"), keys).first ?? nowhere
    }
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
      return try read(
        table, where: "\(table.isNode("s")) \(condition)", keys,
        "ORDER BY \(table.order("s")) LIMIT \(limit)")
    }
  }

  private func read(
    _ table: NodeTable, where condition: String, _ values: [Value], _ order: String = ""
  ) throws -> [StoredNode] {
    let key = table.keyColumns("s")
    return try db.all(
      generated: """
        SELECT \(key.joined(separator: ", ")), s.* FROM \(table.rows) AS s
        WHERE \(condition) \(order)
        """, values
    ) { MappedRow($0, keyCount: key.count).node(in: table.collection) }
  }
}

extension NodeTable {
  /// The order of the key's own index.
  fileprivate func order(_ alias: String) -> String {
    guard case .mapped(_, let key, let collations) = kind else { return "\(alias).key" }
    return zip(key, collations).map { "\(alias).\(quoted($0.name)) COLLATE \(quoted($1))" }
      .joined(separator: ", ")
  }

  /// A condition: the row comes after the key that is bound, in this order.
  fileprivate func isBehind(_ alias: String) -> String {
    guard case .mapped(_, let key, let collations) = kind else { return "\(alias).key > ?1" }
    let columns = key.map { "\(alias).\(quoted($0.name))" }.joined(separator: ", ")
    let bounds = collations.enumerated().map { "?\($0 + 1) COLLATE \(quoted($1))" }
    return "(\(columns)) > (\(bounds.joined(separator: ", ")))"
  }
}
