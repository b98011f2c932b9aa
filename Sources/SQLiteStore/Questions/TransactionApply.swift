package import CascadeModel
internal import CascadeSQLite
package import CascadeStore
package import SQLiteTables
internal import SQLiteJournal
internal import SQLiteRules
internal import SQLiteDeletion
internal import SQLiteSweeps

extension Writer {
  /// Applies one transaction within the current group: all of its changes, or none.
  ///
  /// Throws `Rejection` with every reason, or the error of the source of the changes. `complete`
  /// adds to the ledger's entry what is known only after the last change.
  package func apply(
    _ submission: Submission, changes next: () throws -> Change?,
    completing complete: (inout Submission) -> Void = { _ in }
  ) throws -> Receipt {
    var submission = submission
    clock.now = submission.at
    return try transaction {
      current.hold.id = submission.id
      try applyAll(next)
      try flush()
      try rejectViolatedForeignKeys()
      try validate()
      complete(&submission)
      try record(submission)
      return receipt(submission)
    }
  }

  func applyAll(_ next: () throws -> Change?) throws {
    var count = 0
    while let change = try next() {
      do {
        try apply(change)
      } catch let rejection as Rejection {
        throw rejection.placed("changes[\(count)]")
      } catch let error as RejectionWithRollback {
        throw RejectionWithRollback(rejection: error.rejection.placed("changes[\(count)]"))
      }
      count += 1
    }
  }
}
