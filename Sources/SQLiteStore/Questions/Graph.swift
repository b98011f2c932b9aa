package import CascadeModel
internal import CascadeSQLite
package import CascadeStore
internal import CascadeEngine
internal import SQLiteBinding

extension Reader {
  /// Nil if the node does not exist.
  package func graph(around node: Node, depth: Int, limit: Int) throws -> Graph? {
    guard let center = try existingNode(node) else { return nil }
    let search = try GraphSearch(around: .node(center), depth: depth, limit: limit, in: self)
    return try consequences {
      try markExistingDead([center])
    } tell: { denials, numbers in
      try search.graph(denials: denials) { try isGone($0, numbers) }
    }
  }

  /// The node with its key as edges store it.
  private func existingNode(_ node: Node) throws -> Node? {
    let stored = try self.node(node)
    return stored.exists ? try withStoredKey(stored.node) : nil
  }

  private func isGone(_ end: Destination, _ numbers: NumberedTables) throws -> Bool {
    switch end {
    case .file(let root, let path):
      return try isGone(.text(path), in: Destination.fileCollection + root)
    case .node(let node):
      guard let key = try keyInTable(of: node) else { return false }
      if try isGone(key, in: node.collection) { return true }
      guard let table = try binding().collections[node.collection] else { return false }
      let goes = table.isGoingReference(Reference("?1"), numbers, where: "1").text
      return try db.integer(generated: "SELECT \(goes)", [key]) == 1
    }
  }

  /// Whether an end that is numbered by its name is deleted.
  private func isGone(_ key: Value, in collection: String) throws -> Bool {
    try db.integer(
      """
      SELECT EXISTS (
        SELECT 1 FROM temp.known AS k JOIN temp.gone AS g ON g.id = k.id
        WHERE k.collection = ?1 AND k.key = ?2)
      OR EXISTS (
        SELECT 1 FROM cascade_node AS n JOIN temp.gone AS g ON g.id = n.id
        WHERE n.collection = ?1 AND n.key = ?2)
      """, .integer(try collectionId(collection)), key) == 1
  }
}

extension Reader: EdgeSource {
  package func edges(_ query: EdgeQuery, limit: Int) throws -> EdgePage {
    try edges(query, after: nil, limit: limit)
  }
}
