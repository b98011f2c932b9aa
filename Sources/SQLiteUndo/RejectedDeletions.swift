package import CascadeStore
internal import SQLiteSweeps
package import SQLiteTables

extension Writer {
  /// What the application had deleted comes back where it was kept, with all that still refers to it.
  package func reject(plan: Int64, at now: Int64) throws -> RejectedPlan? {
    let before = try countGivenUp()
    let (answer, batch) = try giveUp(plan: plan, at: now)
    guard let batch else { return answer }
    let undone = try undo(batch, by: "reject", at: now)
    let givenUp = try max(0, countGivenUp() - before)
    return try note(restored: undone.restored, givenUp: givenUp, ofRejected: plan)
  }
}
