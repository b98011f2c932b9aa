package import CascadeStore
import Testing

/// An undo may be one transaction, or many; and these may have an end of the daemon between them.
package enum UndoWay {
  case atOnce, inSteps, stopped

  package static let all: [UndoWay] = [.atOnce, .inSteps, .stopped]
}

extension StoreUnderTest {
  @discardableResult
  package func undo(_ receipt: Receipt, _ way: UndoWay = .atOnce) throws -> UndoResult {
    try undo(receipt.batch!, way)
  }

  package func undo(_ batch: Int64, _ way: UndoWay) throws -> UndoResult {
    if way == .atOnce { return try writer.undo(batch, by: "me", at: 9) }
    return try withSteps(of: 2) {
      if way == .inSteps { return try writer.undo(batch, by: "me", at: 9) }
      return try undoAndStop(batch)
    }
  }

  /// Stops behind the second step, then a step later each time; what the next one knows is only in
  /// the store.
  private func undoAndStop(_ batch: Int64) throws -> UndoResult {
    var steps = 2
    do {
      return try writer.undo(batch, by: "me", at: 9, manners: .stopping(after: steps))
    } catch is Stopped {}
    while true {
      try reopen()
      steps += 1
      do {
        return try #require(try writer.resumeUndo(at: 9, manners: .stopping(after: steps)))
      } catch is Stopped {}
    }
  }
}
