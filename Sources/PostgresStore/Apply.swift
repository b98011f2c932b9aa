package import CascadeModel
internal import CascadePostgres
package import CascadeStore
internal import PostgresBinding
internal import PostgresChanges
internal import PostgresSweeps
internal import PostgresTables

/// Change files. Each is one transaction in the meaning of the rules: it is judged when its changes
/// are made, and takes effect as a whole.
extension PostgresWriter {
  package func group<T>(_ body: () throws -> T) throws -> T {
    defer { bindAgain() }
    return try store.transaction { try body() }
  }

  package func settle() throws { try settlement?.settle(upTo: Settlement.durable) }

  /// A table that a file made is gone, if the file was rejected.
  private func bindAgain() {
    if !isBindingStale { return }
    try? store.bind(numbering: false)
    isBindingStale = false
  }

  /// A savepoint for each; PostgreSQL slows beyond 64 of them in a transaction.
  package var mostFilesPerGroup: Int { 60 }

  package func apply(
    _ submission: Submission, changes next: () throws -> Change?,
    completing complete: (inout Submission) -> Void
  ) throws -> Receipt {
    if isBindingStale { try store.bind(numbering: false) }
    return try db.savepoint {
      try DeferredConstraints(store).postpone()
      let marks = try lastMark
      let begun = try db.runAgain(
        "SELECT nextval('cascade.batch'), \(HeldEdges.areAny), \(SparedCauses.exist)"
      ).rows[0]
      let (hasWaiting, spared) = (begun[1] == "t", SparedCauses(areAny: begun[2] == "t"))
      var file = try ChangeFile(
        store, batch: Int64(begun[0]!)!, submission, hasWaiting: hasWaiting, spared
      ) {
        try self.isApproved($0, ofFile: submission.id)
      }
      defer { if file.madeTable { isBindingStale = true } }
      var restored = RestoredThings(store, batch: file.batch)
      while let change = try next() {
        if case .restore(let thing) = change {
          try restored.load(thing)
        } else {
          try file.apply(change)
        }
      }
      file.skipped += restored.skipped
      try refuseDeniedMarks(behind: marks)
      var completed = submission
      complete(&completed)
      var receipt = try file.finish(completed)
      if restored.isAny { try beginRestoring(receipt.batch!) }
      receipt.isRestoring = restored.isAny
      // No trigger tells what the file has done, and it may be the end of a denial.
      if hasWaiting { try BlockedNodes(store).lookAgain() }
      return receipt
    }
  }

  /// The last row of `mark`; nil if no row can be marked.
  private var lastMark: Int64? {
    get throws {
      if store.binding.marked.isEmpty { return nil }
      return try db.run("SELECT coalesce(max(seq), 0) FROM cascade.mark").integer
    }
  }

  private func refuseDeniedMarks(behind last: Int64?) throws {
    guard let last, try lastMark != last else { return }
    let denied = try MarkClosure(store, job: 0).denied(behind: last)
    if !denied.isEmpty { throw Rejection(denied) }
  }

  private func beginRestoring(_ batch: Int64) throws {
    if let other = try unfinishedUndo {
      throw StoreError("what batch \(other) has of an archive is not back yet")
    }
    try store.set(PostgresWriter.restoring, batch)
  }

  package func ledgerEntry(_ id: String) throws -> LedgerEntry? { try Ledger(store).entry(id) }

  package func failure(ofFile error: any Error) -> String? {
    if let stopped = error as? StoppedPart { return stopped.description }
    guard let error = error as? PostgresError, !error.isAboutTheServer else { return nil }
    let missing = error.isNotAllowed ? (try? MissingGrants(store).statements()) ?? [] : []
    let remedy = missing.isEmpty ? "" : ": " + missing.joined(separator: " ")
    return "PostgreSQL error \(error.sqlState ?? ""): \(error.sentence)\(remedy)"
  }

  package func reason(refusing error: any Error) -> Reason? {
    guard let error = error as? PostgresError, error.isAboutTheValue else { return nil }
    return Reason(refusal: error)
  }
}
