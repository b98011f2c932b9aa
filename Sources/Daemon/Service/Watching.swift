internal import Model
internal import Store
internal import System

/// Looks at what other connections committed, and sweeps what that asks for (DESIGN 7).
///
/// 1. Nothing is looked at twice: without another commit a sweep would find what the last one did,
///    and be held or blocked like it.
/// 2. A failure leaves everything to be looked at again.
struct Watching {
  private var seen: Int64?
  /// What the application's own triggers wrote when the daemon did.
  private var heard: Int64?
  /// Whole tables were looked through for what is owed, and it waits for approval.
  private var hasLookedThrough = false

  mutating func look(at writer: Writer, sweeping kinds: [SweepKind]) throws -> [SweepResult] {
    let commits = try writer.foreignCommits()
    let answers = try writer.answersOfTriggers
    if commits == seen && answers == heard { return [] }
    try writer.followSchema()
    var results: [SweepResult] = []
    if writer.isHalfView {
      hasLookedThrough = false
    } else {
      results += try sweepJournal(of: writer, kinds)
      results += try payDebt(of: writer, kinds)
    }
    seen = commits
    heard = try writer.answersOfTriggers
    return results
  }

  private func sweepJournal(of writer: Writer, _ kinds: [SweepKind]) throws -> [SweepResult] {
    if try kinds.isEmpty || !writer.hasJournal { return [] }
    return [try writer.sweep(kinds, at: SystemClock.wall())]
  }

  private mutating func payDebt(of writer: Writer, _ kinds: [SweepKind]) throws -> [SweepResult] {
    let debt = try writer.debt
    // Where nothing sweeps by itself, what is dangling only waits for whoever does.
    if debt == nil || debt == .gap && kinds.isEmpty {
      hasLookedThrough = false
      return []
    }
    if hasLookedThrough { return [] }
    let result = try writer.sweep([.dangling], at: SystemClock.wall())
    hasLookedThrough = try writer.debt != nil
    return [result]
  }
}
