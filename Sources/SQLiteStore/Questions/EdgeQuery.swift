package import CascadeStore
internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding

/// Edges of one kind that a query selects, in an order of their own.
protocol EdgeListing {
  /// A statement that counts them, and its values.
  var count: (sql: String, values: [Value]) { get }
  /// At most `limit` edges after a position, each with its own position. A row without an edge is
  /// one that lost an end.
  func page(
    _ db: borrowing Connection, _ model: StoreModel, behind position: [Value], limit: Int
  ) throws -> [(edge: Edge?, position: [Value])]
}

extension Reader {
  package func count(_ query: EdgeQuery) throws -> Int {
    try db.snapshot { try countNow(query) }
  }

  /// Counts within the caller's transaction.
  func countNow(_ query: EdgeQuery) throws -> Int {
    try listings(query).compactMap { $0 }.reduce(0) { sum, listing in
      sum + Int(try db.integer(generated: listing.count.sql, listing.count.values) ?? 0)
    }
  }

  package func edges(
    _ query: EdgeQuery, after cursor: EdgeCursor? = nil, limit: Int = 1_000
  ) throws -> EdgePage {
    try db.snapshot { try edgesNow(query, after: cursor, limit: limit) }
  }

  func edgesNow(_ query: EdgeQuery, after cursor: EdgeCursor?, limit: Int) throws -> EdgePage {
    var edges: [Edge] = []
    var room = limit
    let listings = try listings(query)
    var relation = cursor ?? EdgeCursor(listing: 0)
    while relation.listing < listings.count {
      let rows = try listings[relation.listing]?.page(
        db, model, behind: relation.values, limit: room)
      edges += rows?.compactMap(\.edge) ?? []
      room -= rows?.count ?? 0
      if room <= 0, let last = rows?.last {
        let next = EdgeCursor(listing: relation.listing, position: last.position)
        return EdgePage(edges: edges, next: next)
      }
      relation = EdgeCursor(listing: relation.listing + 1)
    }
    return EdgePage(edges: edges, next: nil)
  }

  /// Nil for a kind that cannot contain a selected edge.
  private func listings(_ query: EdgeQuery) throws -> [(any EdgeListing)?] {
    let binding = try binding()
    return [try storedEdges(query, binding)]
      + (try binding.edgeRelations.map { try edges(of: $0, query) })
  }
}

extension EdgeCursor {
  /// Values in the order of the index that is used; empty at the beginning of the listing.
  fileprivate var values: [Value] { position as? [Value] ?? [] }
}
