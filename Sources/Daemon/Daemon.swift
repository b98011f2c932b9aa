internal import Model
internal import Store
internal import System
internal import Varlink

/// Wires the parts together: stores, control socket, signals.
package struct Daemon: Sendable {
  package let stores: [StoreConfiguration]
  package let socketPath: String

  package init(stores: [StoreConfiguration], socketPath: String) {
    self.stores = stores
    self.socketPath = socketPath
  }

  private static let identity = VarlinkServer.Identity(
    vendor: "Cascade", product: "cascaded", version: Release.version, url: "man:cascaded(8)")

  /// Serves until a signal ends it. Returns the exit status.
  @EventLoopActor
  package func run(until signals: [CInt]) async throws {
    let signals = try Signals(signals)
    let services = try stores.map { try StoreService($0) }
    for service in services { try await service.open() }
    let server = VarlinkServer(
      Daemon.identity, [try Control(services).interface()], failure: VarlinkError.unavailable)
    let (listener, isOurs) = try listen()
    announce()
    await withThrowingTaskGroup(of: Void.self) { group in
      for service in services {
        group.addTask(executorPreference: EventLoop.shared) { await service.run() }
      }
      group.addTask(executorPreference: EventLoop.shared) {
        try await server.serve(FileDescriptor(owning: listener))
      }
      _ = try? await signals.next()
      Supervisor.notify("STOPPING=1")
      group.cancelAll()
    }
    if isOurs { UnixSocket.remove(socketPath) }
  }

  /// The socket that systemd passed, or one of our own.
  private func listen() throws -> (descriptor: CInt, isOurs: Bool) {
    if let passed = try Supervisor.takeListener(named: "varlink") {
      return (passed.release(), false)
    }
    return (try UnixSocket.listen(socketPath).release(), true)
  }

  private func announce() {
    let names = stores.map(\.path).joined(separator: ", ")
    Supervisor.notify("READY=1", "STATUS=Serving \(names)")
    Log.write(.info, "cascaded \(Release.version) serves \(names)", fields: [])
  }
}
