internal import CascadeModel
internal import CascadeStore
internal import CascadeSystem
internal import Spool

/// The current measurements of a store. Ages are in seconds; 0 for none.
struct Gauges {
  let store: String
  let state: String
  let isPolled: Bool
  let counts: SpoolDirectory.Counts
  let journal: Int
  let oldestChange: Double
  let heldPlans: Int
  let oldestHeld: Double
  let overdueSchedule: Double
  let overdue: OverdueCount
  let waitingFiles: Int
  let longestReader: Duration
  /// In bytes; nil if the store has no file.
  let log: Int64?
  let freeSpace: Int64?
  /// Nil if it never was.
  let lastConsistent: Double?
  let tally: StoreCounters

  /// The files in the spool.
  var files: [String: Int] {
    [
      "waiting": counts.waiting, "held": counts.held, "rejected": counts.rejected,
      "stuck": counts.stuck,
    ]
  }
}

extension StoreService {
  /// Opens no store that is closed.
  func gauges() async -> Gauges {
    let journal = await journal()?.count ?? 0
    let (counts, now) = (spoolCounts, SystemClock.wall())
    func age(_ time: Int64?) -> Double { time.map { Double(max(0, now - $0)) / 1_000 } ?? 0 }
    return Gauges(
      store: path, state: self.state.state, isPolled: polledText != nil, counts: counts,
      journal: journal,
      oldestChange: age(oldestChange(counts)), heldPlans: heldPlanCount + counts.held,
      oldestHeld: age(oldestHeld(counts)), overdueSchedule: age(timetable.overdueSince(at: now)),
      overdue: passes.count, waitingFiles: waitingFiles,
      longestReader: longestReader()?.time ?? .zero, log: logSize,
      freeSpace: configuration.isFile ? DiskSpace.free(at: path) : nil,
      lastConsistent: tally.lastConsistent.map(age), tally: tally)
  }

  private func oldestChange(_ counts: SpoolDirectory.Counts) -> Int64? {
    let file = counts.waiting > 0 ? (try? spool.oldest()) ?? nil : nil
    return [file, journalSince?.at].compactMap(\.self).min()
  }

  private var heldPlanCount: Int {
    condition.heldPlans.count + openJobs.count { $0.state == .held }
  }

  private func oldestHeld(_ counts: SpoolDirectory.Counts) -> Int64? {
    let file = counts.held > 0 ? (try? spool.oldestHeld()) ?? nil : nil
    return [file, heldPlanCount > 0 ? oldestHeldPlan : nil].compactMap(\.self).min()
  }

  private var logSize: Int64? {
    guard let log = stores.engine.filesOfCommits(at: path).dropFirst().first else { return nil }
    return ((try? FileStatus.of(log)) ?? nil)?.size ?? 0
  }
}
