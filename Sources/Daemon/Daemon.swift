package import CascadeStore
internal import CascadeModel
internal import CascadeSystem
internal import CascadeVarlink
internal import Glibc
internal import SystemdService
internal import VarlinkServer

/// Connects the parts of the daemon: stores, control socket and signals.
package struct Daemon: Sendable {
  private let engine: any StoreEngine
  private let configuration: Configuration
  private let found: Configuration.ReadResult
  /// Nil if systemd passes the socket, or if the default is used.
  private let socketPath: String?

  /// Throws if the configuration is wrong, before anything is started.
  package init(
    _ engine: any StoreEngine, _ configuration: Configuration, socketPath: String?
  ) throws {
    self.engine = engine
    self.configuration = configuration
    found = try configuration.readValid(by: engine)
    self.socketPath = socketPath
  }

  private static let identity = VarlinkServer.Identity(
    vendor: "Cascade", product: "cascaded", version: Release.version, url: "man:cascaded(8)")

  /// Serves until SIGTERM or SIGINT. SIGHUP reads the configuration again.
  @EventLoopActor
  package func run() async throws {
    let signals = try Signals([SIGTERM, SIGINT, SIGHUP])
    let stores = Stores(engine, configuration, found)
    let server = VarlinkServer(
      Daemon.identity, [try Control(stores).interface()], failure: VarlinkError.unavailable)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask(executorPreference: EventLoop.shared) { await stores.run() }
      Supervisor.notify(Daemon.moreTime)
      try await stores.start()
      guard let (listener, own) = try await listen(stores, until: signals) else {
        return group.cancelAll()
      }
      defer { if let own { UnixSocket.remove(own) } }
      group.addTask(executorPreference: EventLoop.shared) {
        try await server.serve(FileDescriptor(owning: listener))
      }
      Log.write(.info, "cascaded \(Release.version) serves \(what(stores))", fields: [])
      group.addTask(executorPreference: EventLoop.shared) { try await announce(stores) }
      if Supervisor.isThere {
        group.addTask(executorPreference: EventLoop.shared) {
          try await updateServiceStatus(stores)
        }
      }
      while let signal = try? await signals.next(), signal == SIGHUP {
        // The log already says what is wrong.
        group.addTask(executorPreference: EventLoop.shared) {
          _ = try? await Reloading.reload(stores)
        }
      }
      Supervisor.notify("STOPPING=1")
      group.cancelAll()
      while await group.nextResult() != nil {}
    }
  }

  /// Returns the socket that systemd passed, or our own with its path, which is removed at the end.
  /// Waits while the disk has no room for the socket. Returns nil if a signal ended that.
  @EventLoopActor
  private func listen(
    _ stores: Stores, until signals: Signals
  ) async throws -> (descriptor: CInt, own: String?)? {
    var isTold = false
    while true {
      do {
        return try listen(stores)
      } catch let error as SystemError where error.isFull {
        if !isTold { Log.write(.warning, "cannot listen: \(error); trying again") }
        isTold = true
      }
      try await EventLoop.sleep(for: .seconds(1))
      while let signal = signals.takePending() {
        if signal != SIGHUP { return nil }
      }
    }
  }

  @EventLoopActor
  private func listen(_ stores: Stores) throws -> (descriptor: CInt, own: String?) {
    if let passed = try Supervisor.takeListener(named: "varlink") {
      stores.socket = passed.localPath
      return (passed.release(), nil)
    }
    let path = try socketPath ?? defaultSocketPath(stores)
    stores.socket = path
    return (try UnixSocket.listen(path).release(), path)
  }

  /// The default path. Its directory may be missing if the store has its spool elsewhere.
  @EventLoopActor
  private func defaultSocketPath(_ stores: Stores) throws -> String {
    guard let store = stores.services.first?.configuration else {
      throw ConfigurationError("--socket", [Daemon.noSocket])
    }
    _ = try store.safePaths().makeDirectory(store.directory)
    return store.socket
  }

  private static let noSocket = ModelProblem(
    path: "", message: "missing, and systemd passed no socket named varlink")

  @EventLoopActor
  private func what(_ stores: Stores) -> String {
    stores.services.isEmpty ? "no store" : stores.paths
  }

  /// Announces that the daemon is ready when all stores are, or wait for other programs. Until then
  /// it asks the service manager for more time.
  @EventLoopActor
  private func announce(_ stores: Stores) async throws {
    while try await !EventLoop.limit(.seconds(10), { await stores.settle() }) {
      Supervisor.notify(Daemon.moreTime, "STATUS=\(stores.summary)")
    }
    Supervisor.notify("READY=1", "STATUS=\(stores.summary)")
  }

  /// In microseconds, from each time that it is said.
  private static let moreTime = "EXTEND_TIMEOUT_USEC=60000000"

  /// Keeps the status line of `systemctl status` up to date, with a delay of a second.
  @EventLoopActor
  private func updateServiceStatus(_ stores: Stores) async throws {
    let bell = stores.events.watch()
    while true {
      try await bell.wait()
      try await EventLoop.sleep(for: .seconds(1), tolerance: .seconds(1))
      Supervisor.notify("STATUS=\(stores.summary)")
    }
  }
}

/// A reload, announced to the service manager.
enum Reloading {
  @EventLoopActor
  static func reload(_ stores: Stores, by user: UInt32? = nil) async throws -> Reloaded {
    Supervisor.notify(
      "RELOADING=1", "MONOTONIC_USEC=\(SystemClock.monotonicMicroseconds())")
    defer { Supervisor.notify("READY=1") }
    return try await stores.reload(by: user)
  }
}
