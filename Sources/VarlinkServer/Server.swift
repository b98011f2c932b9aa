internal import CascadeModel
package import CascadeSystem
package import CascadeVarlink
package import SystemdService

/// Answers Varlink calls. One slow, silent or hostile client costs the others nothing.
@EventLoopActor
package final class VarlinkServer {
  package struct Limits: Sendable {
    /// More are closed at once; each may cost a message's memory.
    package var connections = 256
    /// Bytes of a call.
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

  /// `failure` translates what a handler throws that is no `VarlinkError`.
  package init(
    _ identity: Identity, _ interfaces: [Interface], limits: Limits = Limits(),
    failure: @escaping @Sendable (any Error) -> VarlinkError
  ) {
    let all = interfaces + [Self.serviceInterface(identity, describing: interfaces)]
    self.interfaces = Dictionary(uniqueKeysWithValues: all.map { ($0.description.name, $0) })
    self.limits = limits
    self.failure = failure
  }

  /// Serves until the task is cancelled; calls that run then are cancelled too.
  package func serve(_ listener: consuming FileDescriptor) async throws {
    let listener = try Channel(listener)
    try await withThrowingDiscardingTaskGroup { group in
      while true {
        let descriptor = try await listener.accept()
        // Who connects without end would keep those that are there from being answered.
        await EventLoop.turn()
        // Dropped, and thereby closed: too many, or gone already.
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

  /// The reply to a call. Errors of any kind are replies too; throws when the call was cancelled.
  func outcome(of request: Request, _ call: Call) async throws -> Reply {
    do {
      // A reply without error would confirm the upgrade.
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
