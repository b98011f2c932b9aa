package import CascadeModel
package import CascadeStore

/// What tells a search which edges there are.
package protocol EdgeSource {
  func edges(_ query: EdgeQuery, limit: Int) throws -> EdgePage
  func count(_ query: EdgeQuery) throws -> Int
}

/// A search from the center outwards, level by level, as long as there is room.
package struct GraphSearch {
  private var vertices: [Graph.Vertex]
  private var edges: [Edge] = []
  private var indexes: [Destination: Int]
  private var seen: Set<EdgeIdentity> = []
  private let limit: Int
  /// No more vertices are added, only edges.
  private var addsEdgesOnly = false

  package init(
    around center: Destination, depth: Int, limit: Int, in source: some EdgeSource
  ) throws {
    vertices = [Graph.Vertex(end: center, depth: 0)]
    indexes = [center: 0]
    self.limit = max(limit, 1)
    for level in 0..<depth { try expand(level, source) }
    try addOuterEdges(depth, source)
  }

  /// The graph, and what the deletion of its center would do.
  package func graph(denials: [Reason], isGone: (Destination) throws -> Bool) rethrows -> Graph {
    let vertices = try vertices.map { vertex in
      var vertex = vertex
      vertex.isDeleted = try isGone(vertex.end)
      return vertex
    }
    let denying = Set(denials.compactMap { $0.edge.map(EdgeEnds.init) })
    let arrows = edges.map { edge in
      Graph.Arrow(edge: edge, denies: denying.contains(EdgeEnds(edge)))
    }
    return Graph(vertices: vertices, arrows: arrows, denials: denials)
  }

  private mutating func expand(_ depth: Int, _ source: some EdgeSource) throws {
    for index in vertices.indices where vertices[index].depth == depth {
      try followLeaving(index, source)
      try follow(EdgeQuery(to: vertices[index].end), index, source)
    }
  }

  /// Adds the edges between the outermost vertices: each such edge leaves one of them.
  private mutating func addOuterEdges(_ depth: Int, _ source: some EdgeSource) throws {
    addsEdgesOnly = true
    for index in vertices.indices where vertices[index].depth == depth {
      try followLeaving(index, source)
    }
  }

  private mutating func followLeaving(_ index: Int, _ source: some EdgeSource) throws {
    guard case .node(let node) = vertices[index].end else { return }
    try follow(EdgeQuery(from: node), index, source)
  }

  private mutating func follow(
    _ query: EdgeQuery, _ index: Int, _ source: some EdgeSource
  ) throws {
    let page = try source.edges(query, limit: limit + 1)
    for edge in page.edges { add(edge, at: index) }
    if page.next != nil {
      vertices[index].hiddenEdgeCount += max(try source.count(query) - page.edges.count, 0)
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
