internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding

extension Reader {
  /// The key as the node's own row has it; nil if the node does not exist.
  func keyInTable(of node: Node) throws -> Value? {
    if let table = try binding().collections[node.collection] {
      return try key(node.key, in: table)
    }
    if case .mapped = model.collections[node.collection] { return nil }
    return try id(of: node) == nil ? nil : .text(node.key.managedText)
  }

  func key(_ key: Key, in table: NodeTable) throws -> Value? {
    guard let values = table.columnValues(key) else { return nil }
    return try db.all(
      generated: """
        SELECT \(table.key("n")) FROM \(table.rows) AS n
        WHERE \(table.isKeyed("n")) AND \(table.isNode("n"))
        """, values
    ) { $0.value(0) }.first
  }

  /// The number by which stored edges know a node; nil if the node does not exist, or if no edge
  /// ever named it.
  func storedId(of node: Node) throws -> Int64? {
    guard let key = try keyInTable(of: node) else { return nil }
    return try db.integer(
      """
      SELECT n.id FROM cascade_node AS n JOIN cascade_collection AS c ON c.id = n.collection
      WHERE c.name = ? AND n.key = ?
      """, .text(node.collection), key)
  }
}
