internal import CascadeModel
internal import CascadeEngine
internal import CascadeStore
internal import CascadeSystem

/// Examines what other connections committed, and runs the sweeps that this requires.
///
/// 1. Nothing is examined twice. Without another commit, a sweep would find what the last one
///    found, and be held or blocked again. The exception: a sweep of other kinds deleted something
///    in between.
/// 2. In a file, commits that come shortly after each other are examined together.
/// 3. After a failure, everything is examined again.
struct CommitReviewer {
  private var seenCommits: Int64?
  /// The position of what the application's triggers wrote in response to the daemon's own writes.
  private var seenResponses: Int64?
  /// Whole tables were already scanned for dangling references, and the result waits for approval.
  private var hasRescanned = false
  /// There is something new that the daemon itself caused, and it is not examined yet. A lease
  /// ended, or a sweep left work to the immediate kinds, or a sweep wrote something that the
  /// application's triggers react to.
  private(set) var hasOwnNews = false
  /// When the next lease ends, in milliseconds since 1970.
  private(set) var leaseEnd: Int64?
  /// Whether the last look found something new.
  private(set) var wasNews = false
  /// How long what is new waits for a pause between commits; nil if nothing does.
  private(set) var wait: Duration?
  private var portions: CommitPortions?
  var delays = SweepDelays()

  init(inPortions isInPortions: Bool) { portions = isInPortions ? CommitPortions() : nil }

  /// The store was opened again, and numbers commits anew.
  mutating func forgetCommits() {
    (seenCommits, seenResponses) = (nil, nil)
    if portions != nil { portions = CommitPortions() }
  }

  mutating func noteOwnNews() { hasOwnNews = true }

  /// The journal is empty and numbers its rows anew.
  mutating func forgetTriggerWrites() { seenResponses = nil }

  /// Examines the store. One without `tables` of the application has only leases to examine. What is new may be
  /// there since `start`.
  mutating func review(
    at writer: any StoreWriting, tables: Bool, sweeping kinds: [SweepKind],
    since start: ContinuousClock.Instant, marks: Schedule, manners: StepPolicy
  ) throws -> [SweepResult] {
    let commits = try writer.followSchema()
    if commits != seenCommits { delays.noteCommit(seen: start) }
    wasNews = false
    wait = portions?.wait(with: commits)
    if wait != nil { return [] }
    try endLeases(of: writer)
    wasNews = try commits != seenCommits || hasNews(of: writer)
    if !wasNews { return [] }
    try writer.resolveReferencesBeforeSweep()
    var results: [SweepResult] = []
    if writer.isPartlyBound {
      hasRescanned = false
    } else {
      results += try sweepJournal(of: writer, tables: tables, kinds, manners)
      results += try rescanIfNeeded(of: writer, kinds, manners)
      results += try sweepAfterLeases(of: writer, marks, manners)
      delays.noteReview(results)
    }
    seenCommits = commits
    // A comparison of responses is not enough: if the journal was empty meanwhile, new ones may
    // have the same position.
    seenResponses = try writer.news.responses
    hasOwnNews = seenResponses != nil && results.contains(where: \.hasWritten)
    return results
  }

  func hasNews(of writer: any StoreWriting) throws -> Bool {
    if hasOwnNews { return true }
    let news = try writer.news
    return news.commits != seenCommits || news.responses != seenResponses
  }

  private mutating func endLeases(of writer: any StoreWriting) throws {
    let leases = try writer.deleteExpiredLeases(at: SystemClock.wall())
    leaseEnd = leases.next
    if leases.wereAny { hasOwnNews = true }
  }

  private func sweepJournal(
    of writer: any StoreWriting, tables: Bool, _ kinds: [SweepKind], _ manners: StepPolicy
  ) throws -> [SweepResult] {
    if kinds.isEmpty { return [] }
    let now = SystemClock.wall()
    let isNews = try tables && writer.hasJournal
    if try !isNews && !writer.hasReleasedCandidate(at: now) { return [] }
    return [try writer.sweep(kinds, at: now, manners: manners)]
  }

  /// Sweeps unreachable nodes that an ended lease had kept. This is needed only if that kind runs
  /// at certain times: an immediate one sweeps after each commit anyway.
  private func sweepAfterLeases(
    of writer: any StoreWriting, _ schedule: Schedule, _ manners: StepPolicy
  ) throws -> [SweepResult] {
    let now = SystemClock.wall()
    if try !schedule.isTimed || !writer.hasReachingLeaseEnded(at: now) { return [] }
    return [try writer.sweep([.unreachable], at: now, manners: manners)]
  }

  private mutating func rescanIfNeeded(
    of writer: any StoreWriting, _ kinds: [SweepKind], _ manners: StepPolicy
  ) throws -> [SweepResult] {
    if try writer.rescanReason == nil {
      hasRescanned = false
      return []
    }
    if hasRescanned { return [] }
    // If no kind runs automatically, dangling references only have to wait for a later sweep.
    if kinds.isEmpty {
      try writer.clearRescanUnlessDangling()
      hasRescanned = true
      return []
    }
    let result = try writer.sweep([.dangling], at: SystemClock.wall(), manners: manners)
    hasRescanned = try writer.rescanReason != nil
    return [result]
  }
}

extension SweepResult {
  fileprivate var hasWritten: Bool { deletedCount + edgesRemoved > 0 }
}

/// What other connections did to a store, and what was done about it.
struct CommitReview: Sendable {
  let problems: [ModelProblem]
  let sweeps: [SweepResult]
  /// When the next lease ends, in milliseconds since 1970.
  let leaseEnd: Int64?
  /// Another connection committed, or a lease ended.
  let isNews: Bool
  /// How long what is new waits to be examined; nil if nothing waits.
  let wait: Duration?
  /// The consequences of these sweeps are still to be examined.
  let hasMore: Bool
  /// How long commits have waited that were swept by now.
  let delays: [Duration]
  let unfinishedUndo: Int64?
}
