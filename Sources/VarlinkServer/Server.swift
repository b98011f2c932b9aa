internal import CascadeModel
package import CascadeSystem
package import CascadeVarlink
package import SystemdService

/// Answers Varlink calls. A slow, silent or hostile client does not affect other clients.
@EventLoopActor
package final class VarlinkServer {
  package struct Limits: Sendable {
    /// The connections that one user may have. All users share twice as many.
    package var connections = 256
    /// The limit for a call, in bytes.
    package var message = 1 << 20
    /// The limit for a reply, in bytes. A longer one is refused.
    package var reply = 64 << 20
    /// The bytes of unfinished calls and of replies that were not taken, of one user. All users
    /// share twice as many.
    package var memory = 128 << 20
    /// Users who always get a connection: root and the user of this process.
    package var alwaysServed: Set<UInt32> = [0, Process.userIdentifier]

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
  let failure: @Sendable (any Error) -> VarlinkError
  let clients: Clients

  /// `failure` translates errors of handlers that are not a `VarlinkError`.
  package init(
    _ identity: Identity, _ interfaces: [Interface], limits: Limits = Limits(),
    failure: @escaping @Sendable (any Error) -> VarlinkError
  ) {
    let all = interfaces + [Self.serviceInterface(identity, describing: interfaces)]
    self.interfaces = Dictionary(uniqueKeysWithValues: all.map { ($0.description.name, $0) })
    self.limits = limits
    clients = Clients(limits)
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
        // The descriptor is dropped, and thereby closed, if there is no room or the client has
        // already left.
        guard let connection = try? Connection(descriptor, self), clients.admit(connection) else {
          continue
        }
        group.addTask(executorPreference: EventLoop.shared) { await self.run(connection) }
      }
    }
  }

  private func run(_ connection: Connection) async {
    await connection.run()
    clients.remove(connection)
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
