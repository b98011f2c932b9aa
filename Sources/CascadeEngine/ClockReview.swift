/// Whether the wall clock was set. The times for which things are kept go by one that is never set.
///
/// 1. While the daemon runs, both clocks are compared.
/// 2. For the time that it was away, there is only the wall clock. Of that time, at most a day counts.
package struct ClockReview: Sendable {
  /// What both showed at the last comparison, in milliseconds.
  private var last: (wall: Int64, elapsed: Int64)?
  /// The time that was saved last, for the next daemon.
  private var saved: Int64?

  package init() {}

  private static let day: Int64 = 86_400_000
  private static let hour: Int64 = 3_600_000
  /// A clock that is adjusted slowly does not jump.
  private static let leastJump: Int64 = 2_000

  package enum Finding: Equatable, Sendable {
    case nothing
    /// The time is to be saved again.
    case isOld
    /// By how much the wall clock jumped.
    case jump(Int64)
  }

  /// `saved` is the time that the last daemon saved.
  package mutating func compare(
    wall: Int64, elapsed: Int64, saved: () throws -> Int64?
  ) rethrows -> Finding {
    defer { last = (wall, elapsed) }
    let finding: Finding
    if let last {
      let jump = (wall - last.wall) - (elapsed - last.elapsed)
      let isOld = self.saved.map { abs(wall - $0) > ClockReview.hour } ?? true
      finding = abs(jump) >= ClockReview.leastJump ? .jump(jump) : isOld ? .isOld : .nothing
    } else {
      self.saved = try saved()
      let away = wall - (self.saved ?? wall)
      let jump = away - min(max(0, away), ClockReview.day)
      finding = jump != 0 ? .jump(jump) : self.saved == nil ? .isOld : .nothing
    }
    if finding != .nothing { self.saved = wall }
    return finding
  }
}
