package import CascadeModel
internal import CascadeSQLite
package import CascadeStore
internal import CascadePlanning
internal import SQLiteBinding

extension Reader {
  /// Nil if the node does not exist.
  package func graph(around node: Node, depth: Int, limit: Int) throws -> Graph? {
    guard let center = try existingNode(node) else { return nil }
    var search = GraphSearch(around: .node(center), limit: limit)
    for level in 0..<depth { try search.expand(level, self) }
    try search.addOuterEdges(depth, self)
    return try consequences {
      try markExistingDead([center])
    } tell: { denials, numbers in
      let vertices = try search.vertices.map { vertex in
        var vertex = vertex
        vertex.isDeleted = try isGone(vertex.end, numbers)
        return vertex
      }
      let denying = Set(denials.compactMap { $0.edge.map(EdgeEnds.init) })
      let arrows = search.edges.map { edge in
        Graph.Arrow(edge: edge, denies: denying.contains(EdgeEnds(edge)))
      }
      return Graph(vertices: vertices, arrows: arrows, denials: denials)
    }
  }

  /// The node with its key as edges store it.
  private func existingNode(_ node: Node) throws -> Node? {
    let stored = try self.node(node)
    if !stored.exists { return nil }
    if case .mapped = model.collections[node.collection] { return stored.node }
    return node.key.managedText.map { Node(node.collection, .text($0)) }
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
      """, .integer(try number(ofCollection: collection)), key) == 1
  }
}

/// A search from the center outwards, level by level, as long as there is room.
private struct GraphSearch {
  private(set) var vertices: [Graph.Vertex]
  private(set) var edges: [Edge] = []
  private var indexes: [Destination: Int]
  private var seen: Set<EdgeIdentity> = []
  private let limit: Int
  /// No more vertices are added, only edges.
  private var addsEdgesOnly = false

  init(around center: Destination, limit: Int) {
    vertices = [Graph.Vertex(end: center, depth: 0)]
    indexes = [center: 0]
    self.limit = max(limit, 1)
  }

  mutating func expand(_ depth: Int, _ reader: Reader) throws {
    for index in vertices.indices where vertices[index].depth == depth {
      try followLeaving(index, reader)
      try follow(EdgeQuery(to: vertices[index].end), index, reader)
    }
  }

  /// Adds the edges between the outermost vertices: each such edge leaves one of them.
  mutating func addOuterEdges(_ depth: Int, _ reader: Reader) throws {
    addsEdgesOnly = true
    for index in vertices.indices where vertices[index].depth == depth {
      try followLeaving(index, reader)
    }
  }

  private mutating func followLeaving(_ index: Int, _ reader: Reader) throws {
    guard case .node(let node) = vertices[index].end else { return }
    try follow(EdgeQuery(from: node), index, reader)
  }

  private mutating func follow(_ query: EdgeQuery, _ index: Int, _ reader: Reader) throws {
    let page = try reader.edges(query, limit: limit + 1)
    for edge in page.edges { add(edge, at: index) }
    if page.next != nil {
      vertices[index].hiddenEdgeCount += max(try reader.count(query) - page.edges.count, 0)
    }
  }

  private mutating func add(_ edge: Edge, at index: Int) {
    if seen.contains(EdgeIdentity(edge)) { return }
    for end in [.node(edge.source), edge.destination] where indexes[end] == nil {
      if addsEdgesOnly || vertices.count >= limit { return vertices[index].hiddenEdgeCount += 1 }
      indexes[end] = vertices.count
      vertices.append(Graph.Vertex(end: end, depth: vertices[index].depth + 1))
    }
    seen.insert(EdgeIdentity(edge))
    edges.append(edge)
  }
}

private struct EdgeEnds: Hashable {
  let name: String
  let source: Node
  let destination: Destination

  init(_ edge: Edge) { (name, source, destination) = (edge.name, edge.source, edge.destination) }
}

private struct EdgeIdentity: Hashable {
  let ends: EdgeEnds
  let origin: Origin
  let kind: EdgeKind

  init(_ edge: Edge) { (ends, origin, kind) = (EdgeEnds(edge), edge.origin, edge.kind) }
}
