internal import CascadeStore
internal import CascadeModel
internal import CascadeSystem
internal import CascadeVarlink
internal import SystemdService
internal import VarlinkServer

/// Commands for the daemon itself.
extension Control {
  func pause(_ call: Call) async throws -> JSON {
    try await each(call, "paused") {
      try $0.mayBePaused()
      try await $0.pause(by: call.peer.uid)
    }
  }

  func resume(_ call: Call) async throws -> JSON {
    _ = try await each(call, "resumed") {
      try $0.mayBePaused()
      try await $0.resume(by: call.peer.uid)
    }
    return ["mismatched": await mismatched(try chosen(call))]
  }

  private func chosen(_ call: Call) throws -> [StoreService] {
    call.text("store") == nil ? stores.services(for: call.peer) : [try named(call)]
  }

  /// The stores whose tables do not fit their models.
  private func mismatched(_ services: [StoreService]) async -> JSON {
    var found: [JSON] = []
    for service in services {
      let problems = await service.lookAtTables()
      if problems.isEmpty { continue }
      let reason = problems.joined(separator: "; ")
      found.append(["store": .string(service.path), "reason": .string(reason)])
    }
    return .array(found)
  }

  /// Runs `body` for the named store, or for all stores. A failure of one does not stop the others.
  private func each(
    _ call: Call, _ outcome: String, _ body: (StoreService) async throws -> Void
  ) async throws -> JSON {
    let chosen = try chosen(call)
    var failures: [any Error] = []
    for service in chosen {
      do {
        try await body(service)
      } catch {
        failures.append(error)
      }
    }
    guard let failure = failures.first else { return [:] }
    if chosen.count == 1 { throw failure }
    let others = chosen.count > failures.count ? ["the others are \(outcome)"] : []
    throw StoreError((failures.map { "\($0)" } + others).joined(separator: "; "))
  }

  func reload(_ call: Call) async throws -> JSON {
    if !stores.areAllOpen(to: call.peer) { throw VarlinkError.permissionDenied }
    do {
      let reloaded = try await Reloading.reload(stores, by: call.peer.uid)
      return ["reloaded": reloaded.json(mismatched: await mismatched(stores.services))]
    } catch let error as ConfigurationError {
      throw VarlinkError.misconfigured(error)
    } catch let error as SystemError {
      throw VarlinkError.misconfigured(
        ConfigurationError("\(error)", [ModelProblem(path: "", message: "cannot be read")]))
    }
  }

  func metrics(_ call: Call) async throws -> JSON {
    let format = try call.metricsFormat()
    var gauges: [Gauges] = []
    for service in stores.services(for: call.peer) { gauges.append(await service.gauges()) }
    var head = Metrics(in: format, of: stores.socket ?? "")
    head.add(stores.gauges, at: SystemClock.wall())
    let isBrief = call.parameters["all"]?.bool != true && gauges.count > StoreMetrics.mostInFull
    let gone = stores.areAllOpen(to: call.peer) ? stores.gone : StoreCounters()
    var metrics = StoreMetrics(gauges, and: gone, isBrief: isBrief, behind: head).metrics
    metrics.end()
    return ["text": .string(metrics.text)]
  }

  // MARK: - Events

  func events(_ call: Call) async throws -> JSON {
    let follows = call.parameters["follow"]?.bool ?? false
    if follows { try call.requireMore() }
    let store = try call.text("store").map { _ in try named(call).path }
    let bell = stores.events.watch()
    let after = call.parameters["after"]?.integer ?? stores.events.start(follows ? 10 : .max)
    // A higher number is from an earlier daemon.
    var last = after > stores.events.count ? 0 : max(0, after)
    while true {
      let missed = max(0, stores.events.start(.max) - last)
      let events = stores.events.after(last)
      last = stores.events.count
      let mayBeTold = mayBeTold(call)
      let reply = reply(events.filter { isOf(store, $0) && mayBeTold($0) }, missed: missed)
      if !follows { return reply }
      try await call.reply(continues: reply)
      try await bell.wait()
    }
  }

  private func isOf(_ store: String?, _ event: JSON) -> Bool {
    store == nil || event["store"]?.string == store
  }

  /// What names no store may name any in its text.
  private func mayBeTold(_ call: Call) -> (JSON) -> Bool {
    let open = stores.services(for: call.peer)
    if open.count == stores.services.count { return { _ in true } }
    let paths = Set(open.map(\.path))
    return { $0["store"]?.string.map(paths.contains) ?? false }
  }

  private func reply(_ events: [JSON], missed: Int64) -> JSON {
    ["events": .array(events), "missed": .integer(missed)]
  }
}

extension Call {
  fileprivate func metricsFormat() throws -> Metrics.Format {
    guard let name = text("format") else { return .openMetrics }
    if let format = Metrics.Format(rawValue: name) { return format }
    let known = Metrics.Format.allCases.map(\.rawValue).joined(separator: " or ")
    throw VarlinkError.unusable("format", "\"\(name)\" is not a format: use \(known)")
  }
}

extension Reloaded {
  fileprivate func json(mismatched: JSON) -> JSON {
    [
      "added": .array(added.map(JSON.string)), "removed": .array(removed.map(JSON.string)),
      "changed": .array(
        changed.map {
          ["store": .string($0.store), "changes": .array($0.changes.map(JSON.string))]
        }),
      "failed": .array(
        failed.map { ["store": .string($0.store), "reason": .string($0.reason)] }),
      "unchanged": .array(unchanged.map(JSON.string)), "mismatched": mismatched,
    ]
  }
}

extension VarlinkError {
  fileprivate static func misconfigured(_ error: ConfigurationError) -> VarlinkError {
    VarlinkError(
      "io.cascaded.Control.Misconfigured",
      ["complaints": .array(error.complaints.map(JSON.string))])
  }
}
