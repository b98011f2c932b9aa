internal import CascadeStore
internal import CascadeModel
internal import CascadeSystem
internal import SystemdService

/// The stores that are served. A failure of one does not affect the others.
@EventLoopActor
final class Stores {
  private(set) var services: [StoreService]
  let engine: any StoreEngine
  private let configuration: Configuration
  private let changed = Bell()
  /// The models of many stores, as they were last read.
  private(set) var templates: [StoreTemplate] = []
  let templatesChanged = Bell()
  private var isReloading = false
  /// What stores did that are not served any more.
  var gone = StoreCounters()
  private(set) var lastReload = SystemClock.wall()
  private var openCount = 0
  /// How many are being opened.
  private var openingCount = 0
  private let reloads = Broadcast()
  let events = Events()
  /// Rings when a connection is used, and may keep memory for its next use.
  let inUse = Bell()
  /// Whether `check` has told of SQLite's defect.
  var hasToldOfLibrary = false
  /// The path of the control socket.
  var socket: String?
  /// What is wrong with the current configuration, so that not all of it is served.
  private(set) var complaints: [String] = []

  init(
    _ engine: any StoreEngine, _ configuration: Configuration, _ found: Configuration.ReadResult
  ) {
    self.engine = engine
    self.configuration = configuration
    services = []
    complaints = found.complaints
    services = found.stores.map(service)
    templates = configuration.templates()
    for complaint in complaints {
      events.tell(.error, .reloadFailed, "not served: \(complaint)", [(.reason, complaint)])
    }
  }

  private func service(_ configuration: StoreConfiguration) -> StoreService {
    StoreService(configuration, events, of: self)
  }

  // MARK: - The start

  /// Why the only store will never be served, so that the daemon ends.
  private(set) var refusal: (any Error)?
  private var hasStarted = false

  /// Gives the stores a moment, so that most are served when the socket answers first. Throws if
  /// the daemon has a single store that cannot be served; stores of a directory are tried again.
  func start() async throws {
    try await EventLoop.limit(.milliseconds(500)) { await self.settle() }
    hasStarted = true
    if let refusal { throw refusal }
  }

  /// Returns when each store was looked through, waits for another program, or failed.
  func settle() async {
    for service in services { try? await service.settled() }
  }

  /// Whether this error ends the daemon.
  func refuses(_ error: any Error, of service: StoreService) -> Bool {
    if case .directory = configuration { return false }
    if service.configuration.template != nil { return false }
    if hasStarted || service.isFileOpen || service.isPassing(error) { return false }
    refusal = error
    service.ringOpenings()
    return true
  }

  /// Works until the task is cancelled.
  func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask(executorPreference: EventLoop.shared) { await self.poll() }
      group.addTask(executorPreference: EventLoop.shared) { await self.releaseIdleMemory() }
      group.addTask(executorPreference: EventLoop.shared) { await self.followTemplates() }
      repeat {
        for service in services where !service.isStarted {
          service.isStarted = true
          group.addTask(executorPreference: EventLoop.shared) { await service.run() }
        }
        try? await changed.wait()
      } while !Task.isCancelled
      group.cancelAll()
    }
  }

  /// The slow poll: finds what inotify missed. One timer for all stores causes one wake-up.
  private func poll() async {
    while (try? await EventLoop.sleep(for: .seconds(60), tolerance: .seconds(30))) != nil {
      for service in services { service.poll() }
    }
  }

  /// Releases the memory of connections that were not used for four seconds. Threads keep some
  /// until they end, a few seconds later.
  private func releaseIdleMemory() async {
    var hasRested = false
    while (try? await EventLoop.sleep(for: .seconds(5), tolerance: .seconds(1))) != nil {
      let idle = services.filter { $0.lastUse.map { .now - $0 >= .seconds(4) } == true }
      for service in idle { await service.releaseMemory() }
      if hasRested || !idle.isEmpty { Process.trimMemory() }
      hasRested = !idle.isEmpty
      if !hasRested && services.allSatisfy({ $0.lastUse == nil }) { try? await inUse.wait() }
    }
  }

  // MARK: - Very many stores

  /// So many stores stay open at most, which bounds memory and descriptors. One that is closed takes some
  /// milliseconds more for its next work. Where descriptors are short, fewer stay open.
  private var mostOpen = 32

  /// So many stores begin at a time, and of very many work at a time: each is at its end soon, and needs no
  /// memory then.
  let (starts, turns) = (Slots(16), Slots(16))

  /// Whether not all may stay open. Those of a server do.
  var areMany: Bool {
    services.count > mostOpen && services[0].configuration.isFile
  }

  func noteOpen(from wasOpen: Bool, to isOpen: Bool) {
    openCount += (isOpen ? 1 : 0) - (wasOpen ? 1 : 0)
  }

  /// Closes what was not used for longest.
  func makeRoom() async {
    while openCount > mostOpen {
      let idle = services.lazy.filter(\.mayBeClosed)
        .min { $0.connections.lastUse < $1.connections.lastUse }
      guard let idle, await idle.closeWhileIdle() else { return }
    }
  }

  /// So many descriptors are left to callers and to what is at work.
  private nonisolated static let spareDescriptors = min(96, ProcessUse.mostDescriptors / 4)
  /// So many a store needs while it is open.
  private nonisolated static let descriptorsOfStore = 12
  private nonisolated static let fewestOpen = 4

  /// Opens a store. Others are closed where descriptors are short. Throws where that is not enough.
  func withDescriptors<T: Sendable>(_ open: () async throws -> T) async throws -> T {
    if !haveDescriptors {
      await keepFewerOpen()
      if !haveDescriptors { throw OutOfDescriptors() }
    }
    openingCount += 1
    defer { openingCount -= 1 }
    return try await open()
  }

  private var haveDescriptors: Bool {
    let most = ProcessUse.mostDescriptors
    let needed = Stores.spareDescriptors + Stores.descriptorsOfStore * (openingCount + 1)
    // Where there are plenty, they need not be counted.
    if services.count + Stores.descriptorsOfStore * mostOpen + needed < most { return true }
    return ProcessUse.freeDescriptors >= needed
  }

  func keepFewerOpen() async {
    mostOpen = max(Stores.fewestOpen, min(mostOpen, openCount) - 1)
    await makeRoom()
  }

  var paths: String { services.map(\.configuration.path).joined(separator: ", ") }

  /// The line for the service manager: how many stores are in which state, and the last event.
  var summary: String {
    let states = services.map { $0.state.state }
    let counts = Dictionary(grouping: states, by: \.self).mapValues(\.count)
      .sorted { $0.key < $1.key }.map { services.count == 1 ? $0.key : "\($0.value) \($0.key)" }
    let what = services.count == 1 ? paths : "\(services.count) stores"
    let last = events.last?["message"]?.string.map { "; \($0)" } ?? ""
    // The service manager would take a second line for another message.
    return "Serving \(what): \(counts.joined(separator: ", "))\(last)".escapingControls()
  }

  // MARK: - Reload

  /// Reads the configuration again. If any of it is wrong, nothing changes. `user` is nil if a
  /// signal asked for it.
  func reload(by user: UInt32?) async throws -> Reloaded {
    // A reload that is running may have read files before they were changed.
    while isReloading { try await reloads.subscribe().wait() }
    isReloading = true
    defer {
      (isReloading, lastReload) = (false, SystemClock.wall())
      reloads.ring()
    }
    do {
      let reloaded = try await take(try configuration.read(for: .service, by: engine))
      templates = configuration.templates()
      templatesChanged.ring()
      complaints = reloaded.failed.map { "\($0.store) keeps its old model: \($0.reason)" }
      report(reloaded, by: user)
      return reloaded
    } catch {
      complaints = (error as? ConfigurationError)?.complaints ?? ["\(error)"]
      events.tell(
        .error, .reloadFailed,
        "reload failed, nothing was changed: \(complaints.joined(separator: "; "))",
        [(.reason, "\(error)"), (.peerUser, user.map { String($0) } ?? "")])
      throw error
    }
  }

  func takeUp(_ configuration: StoreConfiguration) {
    services.append(service(configuration))
    told(.reloaded, configuration.path, "is served from now on", "")
    changed.ring()
  }

  func letGo(_ service: StoreService) async {
    await service.retire()
    services.removeAll { $0 === service }
    told(.reloaded, service.path, "is gone, and no longer served", "")
  }

  private func take(_ wanted: [StoreConfiguration]) async throws -> Reloaded {
    var reloaded = Reloaded()
    let paths = Set(wanted.map(\.path))
    for service in services where !paths.contains(service.path) {
      await service.retire()
      services.removeAll { $0 === service }
      reloaded.removed.append(service.path)
    }
    let known = Dictionary(services.map { ($0.path, $0) }, uniquingKeysWith: { one, _ in one })
    for configuration in wanted {
      if let service = known[configuration.path] {
        await take(configuration, service, &reloaded)
      } else {
        services.append(service(configuration))
        reloaded.added.append(configuration.path)
      }
    }
    changed.ring()
    return reloaded
  }

  private func take(
    _ configuration: StoreConfiguration, _ service: StoreService, _ reloaded: inout Reloaded
  ) async {
    let changes = configuration.model.changes(since: service.configuration.model)
    if configuration == service.configuration {
      return reloaded.unchanged.append(service.path)
    }
    do {
      try await service.take(configuration)
      reloaded.changed.append((service.path, changes))
    } catch {
      reloaded.failed.append((service.path, "\(error)"))
    }
  }

  private func report(_ reloaded: Reloaded, by user: UInt32?) {
    let number = user.map { String($0) } ?? ""
    for path in reloaded.added { told(.reloaded, path, "is served from now on", number) }
    for path in reloaded.removed { told(.reloaded, path, "is no longer served", number) }
    for (path, changes) in reloaded.changed {
      told(.reloaded, path, "has another model: \(changes.joined(separator: ", "))", number)
    }
    for (path, reason) in reloaded.failed {
      events.tell(
        .error, .reloadFailed, "\(path): keeps its old model: \(reason)",
        [(.store, path), (.reason, reason), (.peerUser, number)])
    }
  }

  private func told(_ id: LogMessageID, _ path: String, _ text: String, _ user: String) {
    let by = user.isEmpty ? "" : " (reloaded by uid \(user))"
    events.tell(.notice, id, "\(path) \(text)\(by)", [(.store, path), (.peerUser, user)])
  }
}

/// A store waits because others need all descriptors that the daemon may have.
struct OutOfDescriptors: Error, CustomStringConvertible {
  let description =
    "cascaded may have \(ProcessUse.mostDescriptors) descriptors (LimitNOFILE), and other stores need them"
}

/// The result of a reload.
struct Reloaded {
  var added: [String] = []
  var removed: [String] = []
  var changed: [(store: String, changes: [String])] = []
  /// Stores that could not be served with their new model and keep the old one.
  var failed: [(store: String, reason: String)] = []
  var unchanged: [String] = []
}
