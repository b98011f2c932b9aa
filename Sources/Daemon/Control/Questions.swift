internal import CascadeEngine
internal import CascadeStore
internal import CascadeModel
internal import SystemdService
internal import CascadeVarlink
internal import VarlinkServer

/// Commands that only read. They run beside the writer and do not wait for it.
extension Control {
  /// The number of rows in one reply.
  private nonisolated static let page = 1_000

  func node(_ call: Call) async throws -> JSON {
    let service = try await service(call)
    let node = try call.node("node", of: service.configuration.model)!
    let stored = try await service.reader.read { try $0.node(node) }
    return ["node": stored.json]
  }

  func nodes(_ call: Call) async throws -> JSON {
    let reader = try await service(call).reader
    let collection = call.text("collection")!
    var last: Key?
    while true {
      let after = last
      let page = try await reader.read {
        try $0.nodes(in: collection, after: after, limit: Control.page)
      }
      let reply: JSON = ["nodes": .array(page.map(\.json))]
      last = page.last?.node.key
      if page.count < Control.page || !call.more { return reply }
      try await call.reply(continues: reply)
    }
  }

  func edges(_ call: Call) async throws -> JSON {
    let service = try await service(call)
    let query = try edgeQuery(call, of: service.configuration.model)
    var cursor: EdgeCursor?
    while true {
      let after = cursor
      let page = try await service.reader.read {
        try $0.edges(query, after: after, limit: Control.page)
      }
      let reply: JSON = ["edges": .array(page.edges.map(\.listed))]
      cursor = page.next
      if cursor == nil || !call.more { return reply }
      try await call.reply(continues: reply)
    }
  }

  func countEdges(_ call: Call) async throws -> JSON {
    let service = try await service(call)
    let query = try edgeQuery(call, of: service.configuration.model)
    let count = try await service.reader.read { try $0.count(query) }
    return ["count": .integer(Int64(count))]
  }

  private func edgeQuery(_ call: Call, of model: StoreModel) throws -> EdgeQuery {
    EdgeQuery(
      name: call.text("name"), from: try call.node("from", of: model),
      to: try call.destination("to", of: model))
  }

  func plan(_ call: Call) async throws -> JSON {
    let service = try await service(call)
    let texts = call.parameters["nodes"]?.array?.compactMap(\.string) ?? []
    let nodes = try texts.map { try Call.node($0, "nodes", of: service.configuration.model) }
    return try await service.reader.read {
      ["plan": try $0.plan(deleting: nodes).json(of: nodes.map($0.withStoredKey))]
    }
  }

  func why(_ call: Call) async throws -> JSON {
    let service = try await service(call)
    let asked = try call.destination("node", of: service.configuration.model)!
    return try await service.reader.read { reader in
      let named = try reader.withStoredKey(asked)
      let why = try reader.why(asked).json(of: named)
      let marks = try named.node.map { try reader.marks(of: $0) } ?? []
      guard case .object(let members) = why, !marks.isEmpty else { return ["why": why] }
      return ["why": .object(members + [JSON.Field("marked", .array(marks.map(\.json)))])]
    }
  }

  func notices(_ call: Call) async throws -> JSON {
    let service = try await service(call)
    let follows = call.parameters["follow"]?.bool ?? false
    if follows { try call.requireMore() }
    let bell = service.watchNotices()
    var last = call.parameters["after"]?.integer ?? 0
    while true {
      let after = last
      let page = try await service.reader.read {
        try $0.notices(after: after, limit: Control.page)
      }
      last = page.last?.id ?? last
      let reply: JSON = ["notices": .array(page.map(\.json))]
      if page.count < Control.page && !follows || !call.more { return reply }
      if !page.isEmpty { try await call.reply(continues: reply) }
      if page.count < Control.page { try await bell.wait() }
    }
  }

  func deleted(_ call: Call) async throws -> JSON {
    let service = try await service(call)
    let follows = call.parameters["follow"]?.bool ?? false
    if follows { try call.requireMore() }
    let bell = service.watchDeleted()
    var query = DeletedQuery(call.text("collection"), after: call.parameters["after"]?.integer)
    query.hasValues = call.parameters["values"]?.bool ?? false
    while true {
      let page = try await deleted(query, service)
      query.after = page.end
      let reply: JSON = ["deleted": .array(page.nodes.map(\.json))]
      if !page.isFull && !follows || !call.more { return reply }
      if !page.nodes.isEmpty { try await call.reply(continues: reply) }
      if !page.isFull { try await bell.wait() }
    }
  }

  private func deleted(_ query: DeletedQuery, _ service: StoreService) async throws -> DeletedPage {
    do {
      return try await service.reader.read { try $0.deleted(query, limit: Control.page) }
    } catch let forgotten as DeletedForgotten {
      throw VarlinkError.unusable("after", "\(forgotten)")
    }
  }
}
