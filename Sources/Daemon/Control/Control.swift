internal import CascadeStore
internal import CascadeModel
internal import CascadeVarlink
internal import Spool
internal import SystemdService
internal import VarlinkServer

/// The methods of `io.cascaded.Control`. A request is checked and applied like a change file: the
/// socket is a second way into the inbox, with the same rules.
@EventLoopActor
final class Control {
  let stores: Stores
  let uploads = Uploads()
  private var lastLease: Int64 = 0

  init(_ stores: Stores) { self.stores = stores }

  static var text: String {
    String(decoding: PackageResources.io_cascaded_Control_varlink, as: UTF8.self)
  }

  func interface() throws -> Interface {
    try Interface(
      Control.text,
      methods: [
        "Status": { try await self.status($0) },
        "Upload": { try await self.upload($0) },
        "Apply": { try await self.apply($0) },
        "Receipt": { try await self.receipt($0) },
        "Model": { try await self.model($0) },
        "Node": { try await self.node($0) },
        "Nodes": { try await self.nodes($0) },
        "Edges": { try await self.edges($0) },
        "CountEdges": { try await self.countEdges($0) },
        "Fetch": { try await self.fetch($0) },
        "Plan": { try await self.plan($0) },
        "Graph": { try await self.graph($0) },
        "HeldPlan": { try await self.heldPlan($0) },
        "Why": { try await self.why($0) },
        "Sweep": { try await self.sweep($0) },
        "Batches": { try await self.batches($0) },
        "Undo": { try await self.undo($0) },
        "Delete": { try await self.delete($0) },
        "Erase": { try await self.erase($0) },
        "Jobs": { try await self.jobs($0) },
        "Cancel": { try await self.cancel($0) },
        "Protect": { try await self.protect($0) },
        "Unprotect": { try await self.unprotect($0) },
        "Protections": { try await self.protections($0) },
        "Notices": { try await self.notices($0) },
        "Deleted": { try await self.deleted($0) },
        "Acknowledge": { try await self.acknowledge($0) },
        "Spool": { try await self.listSpool($0) },
        "Retry": { try await self.retry($0) },
        "Drop": { try await self.drop($0) },
        "Approve": { try await self.approve($0) },
        "Reject": { try await self.reject($0) },
        "Lease": { try await self.lease($0) },
        "Leases": { try await self.leases($0) },
        "Release": { try await self.release($0) },
        "Attach": { try await self.attach($0) },
        "EstimateIndexes": { try await self.estimateIndexes($0) },
        "BeginMigration": { try await self.beginMigration($0) },
        "EndMigration": { try await self.endMigration($0) },
        "Detach": { try await self.detach($0) },
        "TakeRoots": { try await self.takeRoots($0) },
        "Check": { try await self.check($0) },
        "Pause": { try await self.pause($0) },
        "Resume": { try await self.resume($0) },
        "Reload": { try await self.reload($0) },
        "Events": { try await self.events($0) },
        "Metrics": { try await self.metrics($0) },
      ])
  }

  /// The store that a call is about.
  func service(_ call: Call) async throws -> StoreService {
    let service = try named(call)
    try await service.opened()
    return service
  }

  /// The same. With `more` it waits until the store is served, and tells why.
  func awaitedService(_ call: Call) async throws -> StoreService {
    let service = try named(call)
    var told: String?
    while call.more && service.isStartingOrAway {
      try await EventLoop.limit(.milliseconds(200)) { try await service.settled() }
      guard let reason = service.reasonNotServed, reason != told else { continue }
      try await call.reply(continues: ["waiting": .string(reason)])
      told = reason
    }
    try await service.opened()
    return service
  }

  /// The same, also for a store that cannot be served now.
  func named(_ call: Call) throws -> StoreService {
    let services = stores.services(for: call.peer)
    guard let path = call.parameters["store"]?.string else {
      if services.count == 1 { return services[0] }
      let paths = services.map(\.path).sorted().joined(separator: ", ")
      let what =
        services.isEmpty
        ? "none is served" : "several are served, choose one with `--store`: \(paths)"
      throw VarlinkError.noSuchStore("(\(what))")
    }
    guard let service = services.first(where: { $0.isStore(path) }) else {
      throw VarlinkError.noSuchStore(path)
    }
    return service
  }

  /// A number for a call that holds leases. Leases of an earlier daemon were ended before.
  func nextLease() -> Int64 {
    lastLease += 1
    return lastLease
  }

  // MARK: - Status

  private func status(_ call: Call) async throws -> JSON {
    let isOfAll = call.parameters["store"]?.string == nil
    var list: [JSON] = []
    for service in isOfAll ? stores.services(for: call.peer) : [try named(call)] {
      list.append(await status(of: service))
    }
    return [
      "version": .string(Release.version), "stores": .array(list),
      "problems": .array(
        isOfAll && stores.areAllOpen(to: call.peer) ? stores.complaints.map(JSON.string) : []),
    ]
  }

  private func status(of service: StoreService) async -> JSON {
    let counts = service.spoolCounts
    let spool: JSON = [
      "waiting": .integer(Int64(counts.waiting)), "held": .integer(Int64(counts.held)),
      "rejected": .integer(Int64(counts.rejected)), "stuck": .integer(Int64(counts.stuck)),
    ]
    let journal = await service.journal()?.count ?? 0
    let (state, reason) = service.state
    let polled = service.polledText.map { [JSON.Field("polled", .string($0))] } ?? []
    let status: JSON = [
      "store": .string(service.configuration.path), "state": .string(state),
      "reason": reason.map(JSON.string) ?? .null, "spool": spool,
      "journal": .integer(Int64(journal)), "progress": service.progress.progress?.status ?? .null,
      "longestReader": service.longestReaderJSON,
      "lockMs": service.tally.recentHolds.json,
      "heldPlans": .array(
        service.condition.heldSweeps.map(\.heldPlan) + service.openJobs.compactMap(\.heldPlan)),
      "jobs": .array(service.openJobs.map(\.json)), "expired": service.passes.json,
      "lastSweep": service.lastSweep, "schedules": service.schedules,
    ]
    return .object((status.object ?? []) + polled)
  }
}

extension VarlinkError {
  static func noSuchStore(_ store: String) -> VarlinkError {
    VarlinkError("io.cascaded.Control.NoSuchStore", ["store": .string(store)])
  }

  static func noSuchThing(_ what: String) -> VarlinkError {
    VarlinkError("io.cascaded.Control.NoSuchThing", ["what": .string(what)])
  }

  static func unusable(_ parameter: String, _ reason: String) -> VarlinkError {
    VarlinkError(
      "io.cascaded.Control.Unusable",
      ["parameter": .string(parameter), "reason": .string(reason)])
  }

  /// The error for any other failure: of the disk, SQLite or the spool.
  static func unavailable(_ error: any Error) -> VarlinkError {
    let reason = error is CancellationError ? "it was stopped; try again" : "\(error)"
    return VarlinkError(
      "io.cascaded.Control.Unavailable", ["store": "", "reason": .string(reason)])
  }
}
