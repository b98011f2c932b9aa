internal import CascadeStore

/// What a store did since the daemon began to serve it, for the metrics.
struct StoreCounters {
  private(set) var locks = Histogram(Histogram.ofLocks)
  private(set) var delays = Histogram(Histogram.ofDelays)
  private(set) var recentHolds = LockHolds()
  /// By rule. A node that was deleted by name has no rule.
  private(set) var deletions: [String: Int] = [:]
  /// Files by outcome.
  private(set) var files: [String: Int] = [:]
  private(set) var sweeps: [String: Int] = [:]
  /// When the store was last found consistent or made so, in milliseconds since 1970.
  var lastConsistent: Int64?

  mutating func add(_ holds: [Duration]) {
    for hold in holds { add(milliseconds: hold / .milliseconds(1)) }
  }

  mutating func add(delays: [Duration]) {
    for delay in delays { self.delays.add(delay / .seconds(1)) }
  }

  mutating func add(_ receipt: Receipt) {
    files[receipt.outcome.rawValue, default: 0] += 1
    if receipt.outcome == .applied { add(receipt.byRule, of: receipt.deletedCount) }
  }

  mutating func add(_ result: SweepResult, at now: Int64) {
    sweeps[result.outcome.rawValue, default: 0] += 1
    for hold in result.lockMilliseconds { add(milliseconds: hold) }
    // If the whole sweep is held, the numbers are of what it would delete.
    if result.outcome != .held || result.batch != nil {
      add(result.byRule, of: result.deletedCount)
    }
    if result.isGood { lastConsistent = now }
  }

  /// The last times of the lock and of a sweep stay those of this one.
  mutating func add(_ other: StoreCounters) {
    locks.add(other.locks)
    delays.add(other.delays)
    deletions.merge(other.deletions, uniquingKeysWith: +)
    files.merge(other.files, uniquingKeysWith: +)
    sweeps.merge(other.sweeps, uniquingKeysWith: +)
  }

  private mutating func add(milliseconds: Double) {
    locks.add(milliseconds / 1_000)
    recentHolds.add(milliseconds)
  }

  private mutating func add(_ byRule: [String: Int], of count: Int) {
    var rest = count
    for (rule, count) in byRule {
      deletions[rule, default: 0] += count
      rest -= count
    }
    if rest > 0 { deletions["explicit", default: 0] += rest }
  }
}

/// How long the write lock was held, the last times.
struct LockHolds {
  private(set) var milliseconds: [Double] = []
  private var oldest = 0

  /// Enough for a 99th percentile.
  private static let most = 1_000

  mutating func add(_ hold: Double) {
    if milliseconds.count < LockHolds.most { return milliseconds.append(hold) }
    milliseconds[oldest] = hold
    oldest = (oldest + 1) % LockHolds.most
  }
}

/// A histogram of durations in seconds.
struct Histogram {
  /// They include the limits on the time of the lock.
  static let ofLocks = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

  /// From the wait of a commit between others (`CommitPortions`) to what an operator has to look at.
  static let ofDelays = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600]

  let bounds: [Double]
  /// The last count is of values beyond all bounds.
  private(set) var counts: [Int]
  private(set) var sum = 0.0

  init(_ bounds: [Double]) {
    self.bounds = bounds
    counts = Array(repeating: 0, count: bounds.count + 1)
  }

  mutating func add(_ seconds: Double) {
    counts[bounds.firstIndex { seconds <= $0 } ?? bounds.count] += 1
    sum += seconds
  }

  /// Adds one with the same bounds.
  mutating func add(_ other: Histogram) {
    for index in counts.indices { counts[index] += other.counts[index] }
    sum += other.sum
  }
}

extension SweepResult {
  var isGood: Bool { outcome == .done || outcome == .nothing }
}
