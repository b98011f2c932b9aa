internal import CascadeModel

/// What waits for an approval.
extension Store {
  /// Approves a plan: a held write, sweep or job. Its receipt says what became of it.
  @discardableResult
  public func approve(_ plan: Int) async throws(AskError) -> Receipt {
    let reply = try await ask("Approve", ["plan": .integer(Int64(plan))])
    guard let receipt = Receipt(reply["receipt"]) else {
      throw .unreadable("an approval without a receipt")
    }
    return receipt
  }

  /// Rejects a plan: what it would have deleted stays.
  public func reject(_ plan: Int) async throws(AskError) {
    _ = try await ask("Reject", ["plan": .integer(Int64(plan))])
  }
}
