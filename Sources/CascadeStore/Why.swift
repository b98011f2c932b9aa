package import CascadeModel

/// Why a node exists, or why it was deleted.
package enum Why: Sendable {
  /// The edges that hold the node: those that lead to it, and those of its own by which it may not
  /// be deleted alone.
  case alive(holders: [Edge], total: Int, leases: [Lease])
  case deleted(Deletion)
  /// Never seen, or no longer in the trash.
  case unknown

  package struct Deletion: Sendable {
    package let batch: Int64
    package let at: Int64
    package let id: String
    package let author: String?
    /// What the chain begins with.
    package let cause: Cause
    /// The batch in which the chain begins, if that is an earlier one.
    package let chainStart: LedgerCause?
    /// From the node back to the first cause.
    package let chain: [Plan.Step]

    package init(
      batch: Int64, at: Int64, id: String, author: String?, cause: Cause, chainStart: LedgerCause?,
      chain: [Plan.Step]
    ) {
      self.batch = batch
      self.at = at
      self.id = id
      self.author = author
      self.cause = cause
      self.chainStart = chainStart
      self.chain = chain
    }
  }

  package struct LedgerCause: Sendable {
    package let batch: Int64
    package let at: Int64
    package let id: String
    package let author: String?
    package let kind: Submission.Kind

    package init(batch: Int64, at: Int64, id: String, author: String?, kind: Submission.Kind) {
      self.batch = batch
      self.at = at
      self.id = id
      self.author = author
      self.kind = kind
    }
  }

  /// A change file; a job; an age; or a sweep, for what an application deleted by SQL, or for a node that
  /// the roots do not reach.
  package enum Cause: String, Sendable { case file, sweep, job, expired, unreachable }
}
