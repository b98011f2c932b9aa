internal import Model
internal import Store
internal import Varlink

/// Fetched properties: a model's queries, answered when somebody asks.
extension Control {
  /// Nodes to a reply.
  private nonisolated static let page = 1_000

  func fetch(_ call: Call) async throws -> JSON {
    let fetched = try await fetched(call)
    var rest = fetched.nodes[...]
    while rest.count > Control.page && call.more {
      try await call.reply(continues: reply(rest.prefix(Control.page), fetched))
      rest = rest.dropFirst(Control.page)
    }
    return reply(rest.prefix(Control.page), fetched)
  }

  private func reply(_ nodes: ArraySlice<StoredNode>, _ fetched: Fetched) -> JSON {
    ["nodes": .array(nodes.map(\.json)), "cached": .bool(fetched.isCached)]
  }

  private func fetched(_ call: Call) async throws -> Fetched {
    let service = try await service(call)
    let node = try call.node("node")!
    let name = call.text("name")!
    let refresh = call.parameters["refresh"]?.bool ?? false
    do {
      return try await service.fetcher.read { try $0.fetch(name, of: node, refresh: refresh) }
    } catch let error as FetchError {
      throw VarlinkError(error)
    }
  }
}

extension VarlinkError {
  fileprivate init(_ error: FetchError) {
    switch error {
    case .noSuchNode(let node): self = .noSuchThing("node \(node)")
    case .noSuchProperty(let text), .unusable(let text): self = .unusable("name", text)
    case .unavailable: self = .unavailable(error)
    }
  }
}
