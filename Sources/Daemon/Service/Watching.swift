internal import CascadeModel
internal import Store
internal import CascadeSystem

/// Examines what other connections committed, and runs the sweeps that this requires (DESIGN 7).
///
/// 1. Nothing is examined twice. Without another commit, a sweep would find what the last one
///    found, and be held or blocked again. The exception: a sweep of other kinds deleted something
///    in between.
/// 2. After a failure, everything is examined again.
struct Watching {
  private var seen: Int64?
  /// The position of what the application's triggers wrote in response to the daemon's own writes.
  private var heard: Int64?
  /// Whole tables were already scanned for dangling references, and the result waits for approval.
  private var hasLookedThrough = false
  /// There is something new that the daemon itself caused, and it is not examined yet. A lease
  /// ended, or a sweep left work to the immediate kinds, or a sweep wrote something that the
  /// application's triggers react to.
  private(set) var hasOwnNews = false
  /// When the next lease ends, in milliseconds since 1970.
  private(set) var leaseEnd: Int64?
  /// Whether the last look found something new.
  private(set) var wasNews = false

  mutating func noteOwnNews() { hasOwnNews = true }

  /// The journal is empty and numbers its rows anew.
  mutating func forgetAnswers() { heard = nil }

  /// Examines the store. One without `tables` of the application has only leases to examine.
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

  /// Sweeps unreachable nodes that an ended lease had kept. This is needed only if that kind runs
  /// at certain times: an immediate one sweeps after each commit anyway.
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
    // If no kind runs automatically, dangling references only have to wait for a later sweep.
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
