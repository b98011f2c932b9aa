internal import CascadeModel
internal import CascadeSQLite
package import CascadeStore
internal import CascadeEngine
internal import SQLiteBinding
internal import SQLiteRules

/// Edges of one kind that a query selects, in an order of their own.
protocol EdgeListing {
  /// A statement that counts them.
  var count: Query { get }
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
      sum + Int(try db.integer(listing.count) ?? 0)
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

extension Edge {
  /// The columns from which an edge is read, where a query has stored edges `e`.
  static let columns = "m.name, sc.name, s.key, dc.name, d.key, e.rules, e.origin"
  /// What gives these edges their names; an end may be missing.
  static let names = """
    CROSS JOIN cascade_name AS m ON m.id = e.name
    LEFT JOIN cascade_node AS s ON s.id = e.source
    LEFT JOIN cascade_collection AS sc ON sc.id = s.collection
    LEFT JOIN cascade_node AS d ON d.id = e.destination
    LEFT JOIN cascade_collection AS dc ON dc.id = d.collection
    """
}

/// The edges in Cascade's own table that a query selects, in the order of the index that is used.
struct StoredEdges: EdgeListing {
  let binding: Binding
  private var conditions: [Query] = []
  /// The columns of the index that is used.
  private var order = "e.source, e.name, e.destination, e.origin"

  init(_ binding: Binding) { self.binding = binding }

  mutating func select(_ condition: Query, order: String) {
    conditions.append(condition)
    self.order = order
  }

  private func condition(_ more: [Query] = []) -> Query {
    let all = conditions + more
    return all.isEmpty ? "" : "WHERE \(all.joined(separator: " AND "))"
  }

  var count: Query {
    if binding.isEmpty { return "SELECT count(*) FROM cascade_edge AS e \(condition())" }
    let bothThere = [Query(binding.nodeExists("s")), Query(binding.nodeExists("d"))]
    return """
      SELECT count(*) FROM cascade_edge AS e JOIN cascade_node AS s ON s.id = e.source
      JOIN cascade_node AS d ON d.id = e.destination \(condition(bothThere))
      """
  }

  func page(
    _ db: borrowing Connection, _ model: StoreModel, behind position: [Value], limit: Int
  ) throws -> [(edge: Edge?, position: [Value])] {
    let isLater = position.isEmpty ? [] : [Query("(\(order)) > (?, ?, ?, ?)", position)]
    return try db.all(
      """
      SELECT \(Edge.columns), \(binding.nodeExists("s")) AND \(binding.nodeExists("d")), \(order)
      FROM (
        SELECT * FROM cascade_edge AS e \(condition(isLater)) ORDER BY \(order) LIMIT \(limit)
      ) AS e \(Edge.names) ORDER BY \(order)
      """
    ) { row in
      // An edge that lost an end is left out; a sweep will remove it.
      (row.integer(7) == 0 ? nil : Edge(row: row, model), (8..<12).map { row.value($0) })
    }
  }
}

extension Reader {
  /// Nil if a name or an end is unknown, so that no edge can match.
  func storedEdges(_ query: EdgeQuery, _ binding: Binding) throws -> StoredEdges? {
    var listing = StoredEdges(binding)
    if let name = query.name {
      let id = try db.integer("SELECT id FROM cascade_name WHERE name = ?", .text(name))
      guard let id else { return nil }
      listing.select("e.name = \(bind: id)", order: "e.name, e.source, e.destination, e.origin")
    }
    if let to = query.to {
      guard let id = try storedId(of: to) else { return nil }
      listing.select(
        "e.destination = \(bind: id)", order: "e.destination, e.name, e.source, e.origin")
    }
    if let from = query.from {
      guard let id = try storedId(of: from) else { return nil }
      listing.select("e.source = \(bind: id)", order: "e.source, e.name, e.destination, e.origin")
    }
    return listing
  }

  func storedId(of destination: Destination) throws -> Int64? {
    switch destination {
    case .node(let node): try storedId(of: node)
    case .file(let root, let path):
      try storedId(of: Node(Destination.fileCollection + root, .text(path)))
    }
  }
}
