extension Store {
  /// Reads a value, changes it, and writes what changed if it is still stored as it was read; otherwise
  /// again, with fresh values. So of changes at the same time none is lost.
  ///
  /// - Parameters:
  ///   - id: The identity of the value.
  ///   - way: How the changes reach the daemon.
  ///   - timeout: For how long it is tried.
  ///   - mayDeleteItself: As for ``Transaction/put(_:mayDeleteItself:)``.
  ///   - body: Makes the changes. It is called again for each attempt.
  /// - Returns: The value as it is stored now.
  /// - Throws: ``WriteError``: ``WriteError/missing(_:)`` if there is no such value,
  ///   ``WriteError/changed(_:)`` if others changed it at each attempt until the timeout; or what `body`
  ///   throws.
  @discardableResult
  public func update<M: Model>(
    _ id: ID<M>, by way: Way = .socket, timeout: Duration = .seconds(30),
    mayDeleteItself: Bool = false, _ body: (inout Draft<M>) throws -> Void
  ) async throws -> M {
    let end = ContinuousClock.now + timeout
    while true {
      guard let model = try await read({ db in try db.get(id) }) else {
        throw WriteError.missing(NodeName(id))
      }
      do {
        var written = model
        let left = max(.zero, end - .now)
        try await write(by: way, timeout: left) { tx in
          written = try tx.edit(
            model, ifUnchanged: true, mayDeleteItself: mayDeleteItself, body)
        }
        return written
      } catch WriteError.changed where ContinuousClock.now < end {
        continue
      }
    }
  }
}
