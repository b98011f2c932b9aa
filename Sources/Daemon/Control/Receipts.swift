internal import CascadeModel
internal import CascadeStore
internal import CascadeSystem
internal import Spool
internal import SystemdService
internal import VarlinkServer

/// What became of a change file, and why it waits.
extension Control {
  func receipt(_ call: Call) async throws -> JSON {
    let service = try await service(call)
    let id = call.text("id")!
    if let applied = try await ledgerReceipt(id, service) {
      guard let name = try unsettled(id, service) else { return applied }
      return try await waiting(name, service, call)
    }
    switch try service.spool.state(ofId: id) {
    case .waiting(let name): return try await waiting(name, service, call)
    case .held(let name): return ["state": "held", "receipt": try await held(name, id, service)]
    case .rejected(_, let reasons): return ["state": "rejected", "receipt": rejected(id, reasons)]
    // It may have been applied in between.
    case nil: return try await ledgerReceipt(id, service) ?? ["state": "unknown"]
    }
  }

  /// The name of a file that was applied, and could still be lost with its server: it is in the queue.
  private func unsettled(_ id: String, _ service: StoreService) throws -> FileName? {
    if service.configuration.isFile { return nil }
    guard case .waiting(let name) = try service.spool.state(ofId: id) else { return nil }
    return name
  }

  private func ledgerReceipt(_ id: String, _ service: StoreService) async throws -> JSON? {
    let entry = try await service.reader.read { try $0.ledgerEntry(id) }
    guard let entry, entry.isComplete else { return nil }
    return ["state": "applied", "receipt": entry.receipt.json]
  }

  /// The receipt of a file in the queue. There is no suspension between the look at the queue and
  /// the wait for the receipt, so it cannot be missed.
  private func waiting(
    _ name: FileName, _ service: StoreService, _ call: Call
  ) async throws -> JSON {
    if let stuck = try service.spool.setAside().first(where: { $0.name == name }) {
      return ["state": "waiting", "waiting": .string("it is set aside: \(stuck.reason)")]
    }
    if call.parameters["wait"]?.bool != true {
      return ["state": "waiting", "waiting": service.reasonToWait.map(JSON.string) ?? .null]
    }
    let receipt = try await call.tellingReasons(of: service) {
      try await service.enqueueAndWait(name) {}.json
    }
    let outcome = receipt["outcome"]?.string ?? ""
    return [
      "state": .string(outcome == "duplicate" ? "applied" : outcome), "receipt": receipt,
    ]
  }

  private func held(_ name: FileName, _ id: String, _ service: StoreService) async throws -> JSON {
    let plan = try await service.reader.read { try $0.plansOfFiles()[name.description] }
    var receipt = Receipt(id: id, outcome: .held)
    receipt.plan = plan?.plan
    receipt.deletedCount = plan?.deletedCount ?? 0
    return receipt.json
  }

  /// A rejected file keeps its reasons as JSON.
  private func rejected(_ id: String, _ reasons: [UInt8]) -> JSON {
    let receipt = Receipt(id: id, outcome: .rejected).json
    let reasons = (try? JSON.parse(reasons, as: .json))?["reasons"] ?? []
    return .object(
      receipt.object!.map { $0.name == "reasons" ? JSON.Field("reasons", reasons) : $0 })
  }
}

extension Control {
  func model(_ call: Call) async throws -> JSON {
    let source = try named(call).configuration.model.source
    return ["model": source.json, "fingerprint": .string(source.fingerprint)]
  }
}

extension Call {
  /// Runs `work`. If the call allows more replies, tells why it waits when that is not obvious.
  func tellingReasons(
    of service: StoreService, _ work: @escaping @EventLoopActor @Sendable () async throws -> JSON
  ) async throws -> JSON {
    if !more { return try await work() }
    return try await withThrowingTaskGroup(of: JSON?.self) { group in
      group.addTask(executorPreference: EventLoop.shared) { try await work() }
      group.addTask(executorPreference: EventLoop.shared) {
        try await self.tellReasons(of: service)
        return nil
      }
      defer { group.cancelAll() }
      while let reply = try await group.next() { if let reply { return reply } }
      return [:]
    }
  }

  @EventLoopActor
  private func tellReasons(of service: StoreService) async throws {
    var told: String?
    while true {
      try await EventLoop.sleep(for: .milliseconds(200), tolerance: .milliseconds(50))
      guard let reason = service.reasonToWait, reason != told else { continue }
      told = reason
      try await reply(continues: ["waiting": .string(reason)])
    }
  }
}

extension StoreService {
  /// Why files of the queue are not applied now; nil if they are, or if it is not known.
  var reasonToWait: String? {
    if let reason = condition.pause?.error.description ?? condition.trouble { return reason }
    if condition.isDetached { return StoreError.detached.description }
    if !isServed { return "the store is being looked through" }
    if let server = condition.server, server.isWaiting { return server.reason }
    if stores.engine.isLocked(at: path) { return "the database is locked" }
    if let progress = progress.progress {
      return "a sweep is running: \(progress.phase.rawValue), \(progress.done) of \(progress.total)"
    }
    return nil
  }
}
