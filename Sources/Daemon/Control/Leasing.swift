internal import CascadeModel
internal import CascadeSystem
internal import CascadeVarlink
internal import CascadeStore
internal import SystemdService
internal import VarlinkServer

/// Leases over the socket: for a time, or as long as the connection is open.
extension Control {
  /// The longest lease is about a year.
  private nonisolated static let longest: Int64 = 366 * 86_400

  func lease(_ call: Call) async throws -> JSON {
    let service = try await service(call)
    let request = LeaseRequest(
      subjects: try call.leaseSubjects(of: service.configuration.model),
      owner: call.text("owner") ?? userName(call.peer.uid),
      seconds: call.parameters["seconds"]?.integer ?? Lease.standard)
    if !(1...Control.longest ~= request.seconds) {
      throw VarlinkError.unusable("seconds", "a lease lasts at least a second and at most a year")
    }
    if call.more { return try await hold(request, service, call) }
    return reply(try await service.lease(request))
  }

  /// Renews the leases until the client disconnects.
  private func hold(
    _ request: LeaseRequest, _ service: StoreService, _ call: Call
  ) async throws -> JSON {
    let connection = nextLease()
    var request = request
    request.connection = connection
    let timer = service.heldLeases.add(request, of: connection)
    do {
      try await call.reply(continues: reply(try await service.lease(request)))
      while true {
        try await timer.wait(until: SystemClock.wall() + request.seconds * 500)
        try await renew(request, service, timer)
      }
    } catch {
      await service.releaseConnection(connection)
      throw error
    }
  }

  /// Renews the leases. If the store is busy, tries again.
  private func renew(
    _ request: LeaseRequest, _ service: StoreService, _ timer: WallTimer
  ) async throws {
    for part in [8, 16, 32, 64] as [Int64] {
      try service.mayHold()
      if (try? await service.lease(request)) != nil { return }
      try await timer.wait(until: SystemClock.wall() + request.seconds * 1_000 / part)
    }
    try service.mayHold()
    _ = try await service.lease(request)
  }

  func leases(_ call: Call) async throws -> JSON {
    reply(try await service(call).reader.read { try $0.leases() })
  }

  private func reply(_ leases: [Lease]) -> JSON { ["leases": .array(leases.map(\.json))] }

  func release(_ call: Call) async throws -> JSON {
    let service = try await service(call)
    let subjects = try call.leaseSubjects(of: service.configuration.model)
    let count = try await service.release(subjects, owner: call.text("owner"))
    return ["released": .integer(Int64(count))]
  }
}

/// The nodes that a client wants to lease, and for how long.
struct LeaseRequest: Sendable {
  let subjects: [Lease.Subject]
  let owner: String
  let seconds: Int64
  /// The number of the call that holds the leases; nil if only the time ends them.
  var connection: Int64?
}

extension Lease {
  var json: JSON {
    let subject =
      key.map { JSON.Field("node", Node(collection, $0).json) }
      ?? JSON.Field("collection", .string(collection))
    return .object([
      subject, JSON.Field("owner", owner.map(JSON.string) ?? .null),
      JSON.Field("expires", .integer(expires)), JSON.Field("connection", .bool(isOfConnection)),
    ])
  }
}

extension Call {
  fileprivate func leaseSubjects(of model: StoreModel) throws -> [Lease.Subject] {
    let nodes = parameters["nodes"]?.array?.compactMap(\.string) ?? []
    let collections = parameters["collections"]?.array?.compactMap(\.string) ?? []
    if nodes.isEmpty && collections.isEmpty {
      throw VarlinkError.unusable("nodes", "name a node or a collection to lease")
    }
    return try nodes.map { .node(try Call.node($0, "nodes", of: model)) }
      + collections.map { .collection($0) }
  }
}
