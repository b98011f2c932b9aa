internal import CascadeModel
internal import Store
internal import CascadeSystem
/// Looks at what other connections committed, and sweeps what that asks for (DESIGN 7).
///
/// 1. Nothing is looked at twice: without another commit a sweep would find what the last one did,
///    and be held or blocked like it. Unless one of other kinds deleted something in between.
/// 2. A failure leaves everything to be looked at again.
struct Watching {
  private var seen: Int64?
  /// What the application's own triggers wrote when the daemon did.
  private var heard: Int64?
  /// Whole tables were looked through for what is owed, and it waits for approval.
  private var hasLookedThrough = false
  /// A lease ended, or a sweep left something to the kinds that are immediate, or wrote something
  /// that the application's triggers answer; and nobody has looked since then.
  private(set) var hasOwnNews = false
  /// When the next one ends, in milliseconds since 1970.
  private(set) var leaseEnd: Int64?
  /// The last look had something to look at.
  private(set) var wasNews = false

  mutating func noteOwnNews() { hasOwnNews = true }

  /// The journal is empty, and numbers its rows anew.
  mutating func forgetAnswers() { heard = nil }

  /// A store without `tables` of an application has only leases to look at.
  mutating func look(
    at writer: Writer, tables: Bool, sweeping kinds: [SweepKind], marks: Schedule,
    manners: Manners
  ) throws -> [SweepResult] {
    let commits = try writer.foreignCommits()
    try writer.followSchema()
    try endLeases(of: writer)
    wasNews = try hasNews(of: writer)
    if !wasNews { return [] }
    try writer.tieLooseRows()
    var results: [SweepResult] = []
    if writer.isHalfView {
      hasLookedThrough = false
    } else {
      results += try sweepJournal(of: writer, tables: tables, kinds, manners)
      results += try payDebt(of: writer, kinds, manners)
      results += try sweepUnleased(of: writer, marks, manners)
    }
    seen = commits
    hasOwnNews = try writer.mayHaveAnswers && results.contains(where: \.hasWritten)
    heard = try writer.answersOfTriggers
    return results
  }

  func hasNews(of writer: Writer) throws -> Bool {
    try hasOwnNews || writer.foreignCommits() != seen || writer.answersOfTriggers != heard
  }

  private mutating func endLeases(of writer: Writer) throws {
    let leases = try writer.forgetExpiredLeases(at: SystemClock.wall())
    leaseEnd = leases.next
    if leases.wereAny { hasOwnNews = true }
  }

  private func sweepJournal(
    of writer: Writer, tables: Bool, _ kinds: [SweepKind], _ manners: Manners
  ) throws -> [SweepResult] {
    if kinds.isEmpty { return [] }
    let now = SystemClock.wall()
    let isNews = try tables && writer.hasJournal
    if try !isNews && !writer.hasFreed(at: now) { return [] }
    return [try writer.sweep(kinds, at: now, manners: manners)]
  }

  /// What a sweep of the unreachable left to a lease that is over, unless another one looks for it
  /// after each commit anyway.
  private func sweepUnleased(
    of writer: Writer, _ schedule: Schedule, _ manners: Manners
  ) throws -> [SweepResult] {
    let now = SystemClock.wall()
    if try !schedule.isTimed || !writer.mayReachLess(at: now) { return [] }
    return [try writer.sweep([.unreachable], at: now, manners: manners)]
  }

  private mutating func payDebt(
    of writer: Writer, _ kinds: [SweepKind], _ manners: Manners
  ) throws -> [SweepResult] {
    if try writer.debt == nil {
      hasLookedThrough = false
      return []
    }
    if hasLookedThrough { return [] }
    // Where nothing sweeps by itself, what is dangling only waits for whoever does.
    if kinds.isEmpty {
      try writer.forgetDebtUnlessDangling()
      hasLookedThrough = true
      return []
    }
    let result = try writer.sweep([.dangling], at: SystemClock.wall(), manners: manners)
    hasLookedThrough = try writer.debt != nil
    return [result]
  }
}

extension SweepResult {
  fileprivate var hasWritten: Bool { deletedCount + edgesRemoved > 0 }
}
