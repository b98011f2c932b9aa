package import CascadeModel
internal import CascadeEngine
internal import CascadePostgres
package import CascadeStore
internal import PostgresBinding
internal import PostgresSweeps
internal import PostgresTables

extension PostgresReader {
  /// Nil if the node does not exist.
  package func graph(around node: Node, depth: Int, limit: Int) throws -> Graph? {
    try ask { store in
      guard let table = store.binding.tables[node.collection], let key = table.key.text(node.key),
        try store.db.run("SELECT \(table.has("$1"))", [key]).bool
      else { return nil }
      let search = try GraphSearch(
        around: .node(table.node(key)), depth: depth, limit: limit, in: StoredEdgeSource(store))
      var closure = try Closure(store, journal: nil)
      try closure.begin(with: table, keys: [key])
      try closure.complete()
      return try search.graph(denials: closure.denials()) { try closure.deletes($0) }
    }
  }
}

private struct StoredEdgeSource: EdgeSource {
  private let store: StoreConnection

  init(_ store: StoreConnection) { self.store = store }

  func edges(_ query: EdgeQuery, limit: Int) throws -> EdgePage {
    try EdgeListing(store: store, query: query).page(after: nil, limit: limit)
  }

  func count(_ query: EdgeQuery) throws -> Int {
    try EdgeListing(store: store, query: query).count()
  }
}
