internal import CascadeStore
internal import CascadeModel
internal import CascadeVarlink
internal import SystemdService
internal import VarlinkServer

/// Fetched properties: the model's queries, run on request.
extension Control {
  /// The number of nodes in one reply.
  private nonisolated static let page = 1_000

  func fetch(_ call: Call) async throws -> JSON {
    let fetched = try await fetched(call)
    var rest = fetched.nodes[...]
    while call.more {
      let count = Control.pageCount(of: rest)
      if count == rest.count { break }
      try await call.reply(continues: reply(rest.prefix(count), fetched))
      rest = rest.dropFirst(count)
    }
    return reply(rest.prefix(Control.page), fetched)
  }

  /// How many nodes the next reply has: a thousand, or fewer long ones.
  private nonisolated static func pageCount(of nodes: ArraySlice<StoredNode>) -> Int {
    var (count, bytes) = (0, 0)
    for node in nodes.prefix(page) {
      bytes += node.value?.text.utf8.count ?? 0
      if count > 0 && bytes > pageBytes { break }
      count += 1
    }
    return count
  }

  private nonisolated static let pageBytes = 4 << 20

  private func reply(_ nodes: ArraySlice<StoredNode>, _ fetched: Fetched) -> JSON {
    ["nodes": .array(nodes.map(\.json)), "cached": .bool(fetched.isCached)]
  }

  private func fetched(_ call: Call) async throws -> Fetched {
    let service = try await service(call)
    let node = try call.node("node", of: service.configuration.model)!
    let name = call.text("name")!
    let refresh = call.parameters["refresh"]?.bool ?? false
    do {
      return try await answer(of: service.fetcher) {
        try $0.fetch(name, of: node, refresh: refresh)
      }
    } catch let error as FetchError {
      throw VarlinkError(error)
    }
  }

  /// Runs the query. If the caller gives up, it does not wait for the end of the query.
  private func answer(
    of fetcher: StoreReader, _ body: @escaping @Sendable (any StoreReading) throws -> Fetched
  ) async throws -> Fetched {
    let answer = Promise<Fetched>()
    Task {
      do {
        answer.resolve(.success(try await fetcher.read(body)))
      } catch {
        answer.resolve(.failure(error))
      }
    }
    let clock = Task {
      try await EventLoop.sleep(for: Control.longestFetch)
      answer.resolve(
        .failure(FetchError.unavailable("the query is still running; try again later")))
    }
    defer { clock.cancel() }
    return try await answer.value()
  }

  /// SQLite stops a query earlier by itself, unless it is inside a call of one function.
  private nonisolated static let longestFetch = Duration.seconds(6)
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
