internal import CascadeModel
internal import CascadeStore
internal import CascadeSystem
internal import Spool

/// The current measurements of a store.
struct Gauges {
  let store: String
  let state: String
  let counts: SpoolDirectory.Counts
  let journal: Int
  let heldPlans: Int
  /// Times are in milliseconds since 1970.
  let oldestHeld: Int64?
  let overdueSchedule: Int64?
  let waitingFiles: Int
  let overdue: OverdueCount
  let oldestChange: Int64?
  let longestReader: Duration
  /// In bytes; nil if the store has no file.
  let log: Int64?
  let freeSpace: Int64?
  let tally: StoreCounters
}

extension StoreService {
  /// Opens no store that is closed.
  func gauges() async -> Gauges {
    let counts = spoolCounts
    let journal = await journal()?.count ?? 0
    return Gauges(
      store: path, state: self.state.state, counts: counts,
      journal: journal, heldPlans: heldPlanCount + counts.held, oldestHeld: oldestHeld(counts),
      overdueSchedule: timetable.overdueSince(at: SystemClock.wall()),
      waitingFiles: waitingFiles, overdue: passes.count,
      oldestChange: [(try? spool.oldest()) ?? nil, journalSince?.at].compactMap(\.self).min(),
      longestReader: longestReader()?.time ?? .zero, log: logSize,
      freeSpace: configuration.isFile ? DiskSpace.free(at: path) : nil, tally: tally)
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

extension Metrics {
  private static let states = ["starting", "waiting", "ok", "degraded", "held", "paused"]

  private static let down: Set = ["starting", "waiting", "degraded"]

  init(of stores: [Gauges], _ daemon: DaemonGauges, in format: Format, at now: Int64) {
    self.init(in: format, of: daemon.socket)
    add(daemon, at: now)
    addStates(stores)
    addQueues(stores, now)
    addDisk(stores)
    addReaders(stores)
    addWork(stores, now)
    end()
  }

  private mutating func addStates(_ stores: [Gauges]) {
    add(
      "cascaded_stores", .gauge, "How many stores are in each state.",
      Metrics.states.map { state in
        Sample(labels: [("state", state)], value: Double(stores.count { $0.state == state }))
      })
    add(
      "cascaded_store_up", .gauge,
      "Whether the store is served: 0 while it is starting, waiting or degraded.",
      stores.map { Sample(store: $0.store, value: Metrics.down.contains($0.state) ? 0 : 1) })
    add(
      "cascaded_store_state", .stateSet, "The state of the store.",
      stores.flatMap { store in
        Metrics.states.map { state in
          Sample(
            store: store.store, labels: [("cascaded_store_state", state)],
            value: store.state == state ? 1 : 0)
        }
      })
  }

  private mutating func addQueues(_ stores: [Gauges], _ now: Int64) {
    add(
      "cascaded_spool_files", .gauge, "Change files in the spool.",
      stores.flatMap { store in
        [
          ("waiting", store.counts.waiting), ("held", store.counts.held),
          ("rejected", store.counts.rejected), ("stuck", store.counts.stuck),
        ].map { Sample(store: store.store, labels: [("state", $0)], value: Double($1)) }
      })
    gauge("cascaded_rejected_files", "Change files that were rejected.", stores) {
      Double($0.counts.rejected)
    }
    gauge("cascaded_held_plans", "Deletions that wait for approval.", stores) {
      Double($0.heldPlans)
    }
    gauge(
      "cascaded_oldest_held_plan_seconds", "How long the oldest of these has waited; 0 for none.",
      stores
    ) { Metrics.age($0.oldestHeld, now) }
    gauge(
      "cascaded_overdue_schedule_seconds",
      "How long ago a kind of sweep should have run that did not; 0 for none.", stores
    ) { Metrics.age($0.overdueSchedule, now) }
    gauge("cascaded_waiting_files", "Files that wait to be moved.", stores) {
      Double($0.waitingFiles)
    }
    gauge("cascaded_overdue_rows", "Rows that are to go because of their age.", stores) {
      Double($0.overdue.waiting)
    }
    gauge(
      "cascaded_overdue_seconds", "How long the first of these rows has been overdue; 0 for none.",
      stores
    ) { Double($0.overdue.oldest ?? 0) / 1_000 }
    gauge("cascaded_journal_entries", "Journal entries not yet swept.", stores) {
      Double($0.journal)
    }
    gauge(
      "cascaded_oldest_change_seconds", "The age of the oldest waiting change; 0 for none.",
      stores
    ) { Metrics.age($0.oldestChange, now) }
  }

  private mutating func addDisk(_ stores: [Gauges]) {
    gauge("cascaded_log_bytes", "The size of the write-ahead log.", stores) {
      $0.log.map { Double($0) }
    }
    gauge(
      "cascaded_disk_free_bytes", "The free space of the file system that has the store.", stores
    ) { $0.freeSpace.map { Double($0) } }
  }

  /// In seconds; 0 for none.
  private static func age(_ time: Int64?, _ now: Int64) -> Double {
    time.map { Double(max(0, now - $0)) / 1_000 } ?? 0
  }

  private mutating func addReaders(_ stores: [Gauges]) {
    gauge(
      "cascaded_longest_reader_seconds",
      "How long another process has been in a transaction; 0 for none.", stores
    ) { $0.longestReader / .seconds(1) }
  }

  private mutating func addWork(_ stores: [Gauges], _ now: Int64) {
    add(
      "cascaded_last_sweep_seconds", .gauge,
      "How long ago the store was last found or made consistent.",
      stores.compactMap { store in
        store.tally.lastConsistent.map {
          Sample(store: store.store, value: Double(max(0, now - $0)) / 1_000)
        }
      })
    counter("cascaded_deletions", "Nodes that were deleted, by rule.", "rule", stores) {
      $0.tally.deletions
    }
    counter("cascaded_sweeps", "Sweeps, by outcome.", "outcome", stores) { $0.tally.sweeps }
    counter("cascaded_files", "Change files, by outcome.", "outcome", stores) { $0.tally.files }
    add(
      histogram: "cascaded_lock_hold_seconds", "How long the write lock was held.",
      stores.map { ($0.store, $0.tally.locks) })
  }

  private mutating func gauge(
    _ name: String, _ help: String, _ stores: [Gauges], _ value: (Gauges) -> Double?
  ) {
    add(
      name, .gauge, help,
      stores.compactMap { store in value(store).map { Sample(store: store.store, value: $0) } })
  }

  private mutating func counter(
    _ name: String, _ help: String, _ label: String, _ stores: [Gauges],
    _ counts: (Gauges) -> [String: Int]
  ) {
    add(
      name, .counter, help,
      stores.flatMap { store in
        counts(store).sorted { $0.key < $1.key }.map {
          Sample(store: store.store, labels: [(label, $0.key)], value: Double($0.value))
        }
      })
  }
}
