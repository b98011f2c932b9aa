package import CascadeModel

/// Thrown when more would be deleted than the hold limit allows. Nothing is deleted until an
/// operator approves.
package struct HeldPlan: Error, CustomStringConvertible {
  package let id: String
  package let deletedCount: Int
  package let byCollection: [String: Int]
  /// The number of references that would be removed although no watch saw their destinations go.
  package let lostCount: Int
  /// Covers everything that would go. An approval is valid for this checksum only.
  package let checksum: Int64

  package init(
    id: String, deletedCount: Int, byCollection: [String: Int], lostCount: Int, checksum: Int64
  ) {
    self.id = id
    self.deletedCount = deletedCount
    self.byCollection = byCollection
    self.lostCount = lostCount
    self.checksum = checksum
  }

  package var description: String { Reason(self).message }

  /// The id that all sweeps share.
  package static let sweep = ""
}

/// What an approved plan is for.
package enum ApprovedPlan: Hashable, Sendable {
  /// The file in the spool that the plan belongs to.
  case file(String)
  case sweep([SweepKind])
  case job(Int64)
}

/// A plan that was answered with no. Its causes are given up.
package struct RejectedPlan: Hashable, Sendable {
  package let plan: Int64
  /// The file in the spool that the plan belongs to; nil for a plan of a sweep.
  package let file: String?
  /// What the application had deleted, and that is back.
  package var restored = 0
  /// What stays although what it needs has gone, and that no sweep takes without another approval.
  package var givenUp = 0

  package init(plan: Int64, file: String? = nil, restored: Int = 0, givenUp: Int = 0) {
    (self.plan, self.file) = (plan, file)
    (self.restored, self.givenUp) = (restored, givenUp)
  }
}

/// A plan of a file that waits for approval.
package struct FilePlan: Sendable {
  package let plan: Int64
  package let deletedCount: Int

  package init(plan: Int64, deletedCount: Int) {
    self.plan = plan
    self.deletedCount = deletedCount
  }
}
