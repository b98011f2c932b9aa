internal import CascadeModel
internal import CascadeStore
internal import CascadeSystem
internal import SystemdService

/// Rows that go because of their age. A pass over a collection is a job; to the outside it is a sweep of the
/// kind `expired`.
extension StoreService {
  /// Begins passes over what is overdue, and returns what became of them.
  func expire(
    because occasion: SweepRun.StartReason, by user: UInt32?
  ) async throws -> SweepResult {
    passes.begin(because: occasion, by: user)
    let before = await countOverdue()
    let begun = try await inTurn { try await onStore { try await writer.beginExpired() } }
    var result = SweepResult(kinds: [.expired], outcome: .nothing)
    for number in begun.jobs { result.add(SweepResult(pass: try await job(number, waits: true))) }
    result.blocked += begun.unfit
    if result.outcome == .nothing && !result.blocked.isEmpty { result.outcome = .blocked }
    if begun.jobs.isEmpty { keep(result, run(of: result)) }
    await remember(run(of: result), of: [.expired])
    await noteBacklog(before)
    return result
  }

  private func run(of result: SweepResult) -> SweepRun {
    SweepRun(at: SystemClock.wall(), outcome: result.outcome, occasion: passes.occasion)
  }

  /// A pass does not run any more.
  func noteEnd(of pass: DeletionJob) {
    let result = SweepResult(pass: pass)
    keep(result, run(of: result), by: passes.user)
  }

  // MARK: - What is overdue

  /// Counts again. Nil if no collection has rows that expire, or nothing can be read.
  @discardableResult
  func countOverdue() async -> OverdueCount? {
    if configuration.model.ages.isEmpty || condition.isAtRest { return nil }
    let start = ContinuousClock.now
    let count = try? await reader.read { try $0.countOverdue(at: SystemClock.wall()) }
    passes.count = count ?? passes.count
    passes.took = .now - start
    return count
  }

  /// Counts each minute what is overdue; where that takes long, it is no more than a part of the time.
  func followOverdue() async {
    while !Task.isCancelled {
      if isServed { await countOverdue() }
      let pause = configuration.model.ages.isEmpty ? .seconds(3_600) : passes.pause
      do { try await EventLoop.sleep(for: pause, tolerance: pause / 10) } catch { return }
    }
  }

  /// Tells once when the passes do not keep up.
  private func noteBacklog(_ before: OverdueCount?) async {
    guard let before, let after = await countOverdue() else { return }
    if passes.isFallingBehind(from: before.waiting, to: after.waiting) {
      let rows = after.waiting.counted("row is", "rows are")
      tell(
        .warning, .trouble,
        "\(rows) overdue after a sweep of the kind expired, more than before it, and so it was before: let it "
          + "run more often, or give it more time (limits.lock)", [])
    }
  }
}

/// The passes over what is overdue, as of the last one.
struct ExpiryPassState {
  private(set) var occasion = SweepRun.StartReason.resumed
  private(set) var user: UInt32?
  var count = OverdueCount()
  /// How long it took to count.
  var took = Duration.zero
  private var growths = 0

  var pause: Duration { max(.seconds(50), took * 20) }

  mutating func begin(because occasion: SweepRun.StartReason, by user: UInt32?) {
    (self.occasion, self.user) = (occasion, user)
  }

  /// Whether more is overdue at the end than at the beginning, for the second time in a row.
  mutating func isFallingBehind(from before: Int, to after: Int) -> Bool {
    growths = after > before ? growths + 1 : 0
    return growths == 2
  }

  /// The form that `status` shows.
  var json: JSON {
    [
      "waiting": .integer(Int64(count.waiting)),
      "oldest": count.oldest.map { .integer($0 / 1_000) } ?? .null,
    ]
  }
}

extension Reason {
  /// As a job has it.
  init(told json: JSON) {
    self.init(
      .denied, json["message"]?.string ?? "", node: json["node"].flatMap(Node.init(json:)),
      keepsNode: true)
  }
}

extension SweepResult {
  init(pass job: DeletionJob) {
    let isHeld = job.state == .held
    let outcome: Outcome = isHeld ? .held : job.deletedCount > 0 ? .done : .nothing
    self.init(kinds: [.expired], outcome: outcome)
    (deletedCount, byCollection, batch) = (job.deletedCount, job.byCollection, job.batch)
    blocked = job.blocked.map { Reason(told: $0) }
    if outcome == .nothing && !blocked.isEmpty { self.outcome = .blocked }
    if !isHeld { return }
    (plan, heldKinds, heldCount) = (job.plan, [.expired], (job.total ?? 0) - job.deletedCount)
    if batch == nil { deletedCount = heldCount }
  }
}
