internal import CascadeModel
package import CascadeSystem
package import CascadeVarlink
package import SystemdService

/// Answers Varlink calls. A slow, silent or hostile client does not affect other clients.
@EventLoopActor
package final class VarlinkServer {
  package struct Limits: Sendable {
    /// Further connections are closed at once. Each connection may need the memory of one message.
    package var connections = 256
    /// The limit for a call, in bytes.
    package var message = 1 << 20

    package init() {}
  }

  package struct Identity: Sendable {
    package var vendor: String
    package var product: String
    package var version: String
    package var url: String

    package init(vendor: String, product: String, version: String, url: String) {
      self.vendor = vendor
      self.product = product
      self.version = version
      self.url = url
    }
  }

  let limits: Limits
  private let interfaces: [String: Interface]
  private let failure: @Sendable (any Error) -> VarlinkError
  private var connectionCount = 0

  /// `failure` translates errors of handlers that are not a `VarlinkError`.
  package init(
    _ identity: Identity, _ interfaces: [Interface], limits: Limits = Limits(),
    failure: @escaping @Sendable (any Error) -> VarlinkError
  ) {
    let all = interfaces + [Self.serviceInterface(identity, describing: interfaces)]
    self.interfaces = Dictionary(uniqueKeysWithValues: all.map { ($0.description.name, $0) })
    self.limits = limits
    self.failure = failure
  }

  /// Serves until the task is cancelled. That also cancels the running calls.
  package func serve(_ listener: consuming FileDescriptor) async throws {
    let listener = try Channel(listener)
    try await withThrowingDiscardingTaskGroup { group in
      while true {
        let descriptor = try await listener.accept()
        // Otherwise a client that connects again and again would block the existing connections.
        await EventLoop.turn()
        // The descriptor is dropped, and thereby closed, if there are too many connections or the client
        // has already left.
        guard connectionCount < limits.connections,
          let connection = try? Connection(descriptor, self)
        else { continue }
        connectionCount += 1
        group.addTask(executorPreference: EventLoop.shared) { await self.run(connection) }
      }
    }
  }

  private func run(_ connection: Connection) async {
    await connection.run()
    connectionCount -= 1
  }

  /// The reply to a call. All errors become replies. Throws only if the call was cancelled.
  func outcome(of request: Request, _ call: Call) async throws -> Reply {
    do {
      // A reply without an error would confirm the upgrade.
      if request.upgrade { throw VarlinkError.methodNotImplemented(request.method) }
      return Reply(try await dispatch(call))
    } catch let error as VarlinkError {
      return Reply(error)
    } catch {
      try Task.checkCancellation()
      return Reply(failure(error))
    }
  }

  private func dispatch(_ call: Call) async throws -> JSON {
    guard let dot = call.method.lastIndex(of: ".") else {
      throw VarlinkError.interfaceNotFound(call.method)
    }
    let name = String(call.method[..<dot])
    guard let interface = interfaces[name] else { throw VarlinkError.interfaceNotFound(name) }
    return try await interface.answer(
      call, method: String(call.method[call.method.index(after: dot)...]))
  }
}
