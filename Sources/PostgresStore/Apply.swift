package import CascadeModel
internal import CascadePostgres
package import CascadeStore
internal import PostgresChanges
internal import PostgresTables

/// Change files. Each is one transaction in the meaning of the rules: it is judged when its changes
/// are made, and takes effect as a whole.
extension PostgresWriter {
  package func group<T>(_ body: () throws -> T) throws -> T {
    defer { bindAgain() }
    let standbys = try Standbys(store)
    let result = try store.transaction { try body() }
    try standbys.awaitFlush()
    return result
  }

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
      let batch = try db.run("SELECT nextval('cascade.batch')").integer!
      var file = ChangeFile(store, batch: batch, submission) {
        try self.isApproved($0, ofFile: submission.id)
      }
      defer { if file.madeTable { isBindingStale = true } }
      while let change = try next() { try file.apply(change) }
      var completed = submission
      complete(&completed)
      return try file.finish(completed)
    }
  }

  package func ledgerEntry(_ id: String) throws -> LedgerEntry? { try Ledger(store).entry(id) }

  package func reason(refusing error: any Error) -> Reason? {
    guard let error = error as? PostgresError, error.isAboutTheValue else { return nil }
    return Reason(.invalid, error.message)
  }
}
