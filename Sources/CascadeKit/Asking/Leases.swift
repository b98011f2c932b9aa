internal import CascadeModel
internal import CascadeSystem
internal import CascadeVarlink

extension Store {
  /// Runs `body` while nodes are held as an edge would hold them: what is being built is not
  /// referred to yet. The nodes need not exist. The lease ends with the block, and with the process.
  ///
  /// - Parameters:
  ///   - ids: The nodes to hold.
  ///   - owner: Who holds them, for `cascadectl why`.
  ///   - body: What to do meanwhile. It begins when the nodes are held.
  public func withLease<T, each M: Model>(
    on ids: repeat ID<each M>, owner: String? = nil,
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> T
  ) async throws -> T {
    var fields = [JSON.Field("nodes", .array(names(repeat each ids)))]
    if let owner { fields.append(JSON.Field("owner", .string(owner))) }
    let lease = Worker<ControlClient>("cascade-lease")
    try await lease.begin(.object(fields), connecting: { [self] in try connect() })
    do {
      let result = try await body()
      await lease.close()
      return result
    } catch {
      await lease.close()
      throw error
    }
  }
}

extension Worker<ControlClient> {
  /// Takes a lease, which lives as long as the connection. Its replies are not read: the daemon
  /// sends none after the first, unless it ends the lease.
  fileprivate func begin(
    _ parameters: JSON, connecting connect: @Sendable () throws -> ControlClient
  ) throws {
    do {
      try run(connect, { _ in true }) { client in
        try client.start("Lease", parameters, timeout: .seconds(30))
        guard try client.next(timeout: .seconds(30)) != nil else {
          throw VarlinkClientError.malformed
        }
      }
    } catch {
      throw AskError(any: error)
    }
  }
}
