internal import CascadeModel
internal import CascadeVarlink
internal import CascadeStore
internal import VarlinkServer

/// The neighbourhood of a node. The client draws it.
extension Control {
  func graph(_ call: Call) async throws -> JSON {
    let service = try await service(call)
    let node = try call.node("node", of: service.configuration.model)!
    let depth = try call.count("depth", otherwise: 2, most: 100)
    let limit = try call.count("limit", otherwise: 100, most: 10_000)
    let graph = try await service.reader.read {
      try $0.graph(around: node, depth: depth, limit: limit)
    }
    guard let graph else { throw VarlinkError.noSuchThing("node \(node)") }
    return graph.json
  }
}

extension Call {
  fileprivate func count(_ name: String, otherwise count: Int, most: Int) throws -> Int {
    guard let number = parameters[name]?.integer else { return count }
    if number < 0 { throw VarlinkError.unusable(name, "\(name) must not be negative") }
    return Int(min(number, Int64(most)))
  }
}

extension Graph {
  fileprivate var json: JSON {
    [
      "nodes": .array(vertices.map(\.json)), "edges": .array(arrows.map(\.json)),
      "denied": .array(denials.map(\.json)),
    ]
  }
}

extension Graph.Vertex {
  fileprivate var json: JSON {
    [
      "node": end.json, "depth": .integer(Int64(depth)), "goes": .bool(isDeleted),
      "more": .integer(Int64(hiddenEdgeCount)),
    ]
  }
}

extension Graph.Arrow {
  fileprivate var json: JSON {
    guard case .object(let fields) = edge.listed else { return edge.listed }
    return .object(fields + [JSON.Field("denies", .bool(denies))])
  }
}
