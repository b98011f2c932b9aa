import Store

/// An undo may be one transaction, or many; and these may have an end of the daemon between them.
enum UndoWay {
  case atOnce, inSteps, stopped

  static let all: [UndoWay] = [.atOnce, .inSteps, .stopped]
}

extension TestStore {
  private struct Stopped: Error {}

  @discardableResult
  func undo(_ receipt: Receipt, _ way: UndoWay = .atOnce) throws -> UndoResult {
    let batch = receipt.batch!
    if way == .atOnce { return try writer.undo(batch, by: "me", at: 9) }
    sweepsInSteps(of: 2)
    defer { sweepsAsUsual() }
    if way == .inSteps { return try writer.undo(batch, by: "me", at: 9) }
    return try undoAndStop(batch)
  }

  /// Stops behind the second step, then a step later each time; what the next one knows is only in
  /// the store.
  private func undoAndStop(_ batch: Int64) throws -> UndoResult {
    var (pauses, most, isBegun) = (0, 1, false)
    let manners = Manners { _ in
      pauses += 1
      if pauses > most { throw Stopped() }
    }
    while true {
      do {
        if isBegun, let result = try writer.resumeUndo(at: 9, manners: manners) { return result }
        isBegun = true
        return try writer.undo(batch, by: "me", at: 9, manners: manners)
      } catch is Stopped {
        (pauses, most) = (0, most + 1)
        try reopen()
        sweepsInSteps(of: 2)
      }
    }
  }
}
