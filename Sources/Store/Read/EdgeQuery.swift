package import Model
internal import SQLite

/// Edges by any combination of name, source and destination; none of them is all edges.
package struct EdgeQuery: Sendable {
  package var name: String?
  package var from: Node?
  package var to: Destination?

  package init(name: String? = nil, from: Node? = nil, to: Destination? = nil) {
    self.name = name
    self.from = from
    self.to = to
  }
}

/// The place of an edge in the order of its query; the next page begins behind it.
package struct EdgeCursor: Hashable, Sendable {
  let source: Int64
  let name: Int64
  let destination: Int64
  let origin: Int64
}

package struct EdgePage: Sendable {
  package let edges: [Edge]
  /// Nil where the listing ends.
  package let next: EdgeCursor?
}

extension Reader {
  package func count(_ query: EdgeQuery) throws -> Int {
    guard let bound = try bind(query) else { return 0 }
    let count = try db.integer(
      generated: "SELECT count(*) FROM cascade_edge AS e \(bound.condition)", bound.values)
    return Int(count ?? 0)
  }

  package func edges(
    _ query: EdgeQuery, after cursor: EdgeCursor? = nil, limit: Int = 1_000
  ) throws -> EdgePage {
    guard var bound = try bind(query) else { return EdgePage(edges: [], next: nil) }
    if let cursor { bound.continueBehind(cursor) }
    let rows = try db.all(generated: bound.select(limit: limit), bound.values) { row in
      let cursor = EdgeCursor(
        source: row.integer(7), name: row.integer(8), destination: row.integer(9),
        origin: row.integer(6))
      // Without a key an end is no row any more: such an edge waits for the `dangling` sweep.
      return (row.isNull(2) || row.isNull(4) ? nil : Edge(row: row, model), cursor)
    }
    return EdgePage(
      edges: rows.compactMap(\.0), next: rows.count < limit ? nil : rows.last?.1)
  }

  /// Nil where a name or an end is not known, so that no edge can match.
  private func bind(_ query: EdgeQuery) throws -> BoundEdgeQuery? {
    var bound = BoundEdgeQuery()
    if let from = query.from {
      guard let id = try id(of: from) else { return nil }
      bound.add("e.source", id)
    }
    if let to = query.to {
      guard let id = try id(of: to) else { return nil }
      bound.add("e.destination", id)
    }
    if let name = query.name {
      let id = try db.integer("SELECT id FROM cascade_name WHERE name = ?", .text(name))
      guard let id else { return nil }
      bound.add("e.name", id)
    }
    return bound
  }

  private func id(of destination: Destination) throws -> Int64? {
    switch destination {
    case .node(let node): return try id(of: node)
    case .file(let root, let path):
      return try id(of: Node(Destination.fileCollection + root, .text(path)))
    }
  }
}

/// The text of a query and its values. The order is that of the index which answers it.
private struct BoundEdgeQuery {
  private(set) var values: [Value] = []
  private var conditions: [String] = []
  private var columns: Set<String> = []

  mutating func add(_ column: String, _ value: Int64) {
    conditions.append("\(column) = ?")
    values.append(.integer(value))
    columns.insert(column)
  }

  private var order: [String] {
    if columns.contains("e.source") { return ["source", "name", "destination", "origin"] }
    if columns.contains("e.destination") { return ["destination", "name", "source", "origin"] }
    if columns.contains("e.name") { return ["name", "source", "destination", "origin"] }
    return ["source", "name", "destination", "origin"]
  }

  mutating func continueBehind(_ cursor: EdgeCursor) {
    let place = [
      "source": cursor.source, "name": cursor.name, "destination": cursor.destination,
      "origin": cursor.origin,
    ]
    conditions.append("(\(order.map { "e.\($0)" }.joined(separator: ", "))) > (?, ?, ?, ?)")
    values += order.map { .integer(place[$0]) }
  }

  var condition: String {
    conditions.isEmpty ? "" : "WHERE \(conditions.joined(separator: " AND "))"
  }

  func select(limit: Int) -> String {
    """
    SELECT m.name, sc.name, s.key, dc.name, d.key, e.rules, e.origin,
      e.source, e.name, e.destination
    FROM (
      SELECT * FROM cascade_edge AS e \(condition)
      ORDER BY \(order.map { "e.\($0)" }.joined(separator: ", ")) LIMIT \(limit)
    ) AS e
    CROSS JOIN cascade_name AS m ON m.id = e.name
    LEFT JOIN cascade_node AS s ON s.id = e.source
    LEFT JOIN cascade_collection AS sc ON sc.id = s.collection
    LEFT JOIN cascade_node AS d ON d.id = e.destination
    LEFT JOIN cascade_collection AS dc ON dc.id = d.collection
    ORDER BY \(order.map { "e.\($0)" }.joined(separator: ", "))
    """
  }
}
