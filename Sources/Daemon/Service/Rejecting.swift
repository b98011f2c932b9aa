internal import CascadeModel
internal import CascadeStore
internal import CascadeSystem
internal import Spool

/// The answer no to a held plan.
extension StoreService {
  /// Nil if there is no such plan. The same answer again changes nothing.
  func reject(plan: Int64, by user: UInt32) async throws -> RejectedPlan? {
    try await inTurn {
      let rejected = try await onStore { try await writer.reject(plan: plan) }
      guard let rejected else { return nil }
      var isNews = condition.heldPlans.contains(plan)
      if let file = rejected.file, try rejectHeld(FileName(file), plan, by: user) { isNews = true }
      condition.noteAnswered(plan)
      if isNews { reportRejected(rejected, by: user) }
      return rejected
    }
  }

  private func rejectHeld(_ file: FileName, _ plan: Int64, by user: UInt32) throws -> Bool {
    let reason = Reason(.overLimit, "plan \(plan) of this file was rejected by uid \(user)")
    let reasons: JSON = [
      "file": .string(file.description), "id": .string(try spool.id(ofHeld: file)), "author": .null,
      "at": .integer(SystemClock.wall()), "reasons": [reason.json],
    ]
    return try spool.rejectHeld(file, reasons: reasons.text + "\n") != nil
  }
}
