internal import CascadeModel
internal import CascadeStore
internal import Spool

/// Writes the metrics of the stores.
///
/// Of many stores, each has a few series of its own: those that say which store an operator has to look at. The
/// others are of all stores together, as they would be many thousands.
struct StoreMetrics {
  private(set) var metrics: Metrics
  private let stores: [Gauges]
  private let isBrief: Bool
  /// What all stores did, also those that are not served any more: a counter never goes back.
  private let total: StoreCounters

  /// More stores than these are many.
  static let mostInFull = 100

  private typealias Sample = Metrics.Sample

  init(
    _ stores: [Gauges], and gone: StoreCounters, isBrief: Bool, behind metrics: Metrics
  ) {
    (self.stores, self.isBrief, self.metrics) = (stores, isBrief, metrics)
    total = stores.reduce(into: gone) { $0.add($1.tally) }
    addStates()
    addQueues()
    addOverdue()
    addDisk()
    addWork()
  }

  // MARK: - What is told

  private static let states = ["starting", "waiting", "ok", "degraded", "held", "paused"]

  private static let down: Set = ["starting", "waiting", "degraded"]

  private mutating func addStates() {
    metrics.add(
      "cascaded_stores", .gauge, "How many stores are in each state.",
      StoreMetrics.states.map { state in
        Sample(labels: [("state", state)], value: Double(stores.count { $0.state == state }))
      })
    metrics.add(
      "cascaded_polled_stores", .gauge,
      "How many stores are polled, because they cannot be watched.",
      [Sample(value: Double(stores.count(where: \.isPolled)))])
    gauge(
      "cascaded_store_up",
      "Whether the store is served: 0 while it is starting, waiting or degraded."
    ) { StoreMetrics.down.contains($0.state) ? 0 : 1 }
    if isBrief { return }
    metrics.add(
      "cascaded_store_state", .stateSet, "The state of the store.",
      stores.flatMap { store in
        StoreMetrics.states.map { state in
          Sample(
            store: store.store, labels: [("cascaded_store_state", state)],
            value: store.state == state ? 1 : 0)
        }
      })
  }

  private mutating func addQueues() {
    let files = stores.reduce(into: [:]) { $0.merge($1.files, uniquingKeysWith: +) }
    add("cascaded_spool_files", .gauge, "Change files in the spool.", by: "state", files, \.files)
    gauge("cascaded_rejected_files", "Change files that were rejected.") {
      Double($0.counts.rejected)
    }
    gauge("cascaded_journal_entries", "Journal entries not yet swept.", together: +) {
      Double($0.journal)
    }
    gauge("cascaded_oldest_change_seconds", "The age of the oldest waiting change; 0 for none.") {
      $0.oldestChange
    }
    gauge("cascaded_waiting_files", "Files that wait to be moved.") { Double($0.waitingFiles) }
  }

  private mutating func addOverdue() {
    gauge("cascaded_held_plans", "Deletions that wait for approval.", together: +) {
      Double($0.heldPlans)
    }
    gauge(
      "cascaded_oldest_held_plan_seconds", "How long the oldest of these has waited; 0 for none."
    ) { $0.oldestHeld }
    gauge(
      "cascaded_overdue_schedule_seconds",
      "How long ago a kind of sweep should have run that did not; 0 for none."
    ) { $0.overdueSchedule }
    gauge("cascaded_overdue_rows", "Rows that are to go because of their age.", together: +) {
      Double($0.overdue.waiting)
    }
    gauge(
      "cascaded_overdue_seconds", "How long the first of these rows has been overdue; 0 for none."
    ) { Double($0.overdue.oldest ?? 0) / 1_000 }
  }

  private mutating func addDisk() {
    gauge("cascaded_log_bytes", "The size of the write-ahead log.") { $0.log.map { Double($0) } }
    gauge(
      "cascaded_disk_free_bytes", "The free space of the file system that has the store.",
      together: min
    ) { $0.freeSpace.map { Double($0) } }
    gauge(
      "cascaded_longest_reader_seconds",
      "How long another process has been in a transaction; 0 for none.", together: max
    ) { $0.longestReader / .seconds(1) }
  }

  private mutating func addWork() {
    gauge(
      "cascaded_last_sweep_seconds", "How long ago the store was last found or made consistent."
    ) { $0.lastConsistent }
    add(
      "cascaded_deletions", .counter, "Nodes that were deleted, by rule.", by: "rule",
      total.deletions, \.tally.deletions)
    add(
      "cascaded_sweeps", .counter, "Sweeps, by outcome.", by: "outcome", total.sweeps,
      \.tally.sweeps)
    add(
      "cascaded_files", .counter, "Change files, by outcome.", by: "outcome", total.files,
      \.tally.files)
    metrics.add(
      histogram: "cascaded_sweep_delay_seconds",
      "How long commits of others waited for their sweep, from when they were first seen.",
      [(nil, total.delays)])
    metrics.add(
      histogram: "cascaded_lock_hold_seconds", "How long the write lock was held.",
      isBrief ? [(nil, total.locks)] : stores.map { ($0.store, $0.tally.locks) })
  }

  // MARK: - In which form

  /// A series of each store. Of many stores it is one of all, if it is said how two come `together`.
  private mutating func gauge(
    _ name: String, _ help: String, together: ((Double, Double) -> Double)? = nil,
    _ value: (Gauges) -> Double?
  ) {
    var samples = stores.compactMap { store in
      value(store).map { Sample(store: store.store, value: $0) }
    }
    if isBrief, let together, let first = samples.first {
      let all = samples.dropFirst().reduce(first.value) { together($0, $1.value) }
      samples = [Sample(value: all)]
    }
    metrics.add(name, .gauge, help, samples)
  }

  /// A series of each store and value of the label; of many stores, `total`.
  private mutating func add(
    _ name: String, _ kind: Metrics.Kind, _ help: String, by label: String, _ total: [String: Int],
    _ counts: (Gauges) -> [String: Int]
  ) {
    let all = isBrief ? [(store: nil, counts: total)] : stores.map { ($0.store, counts($0)) }
    metrics.add(
      name, kind, help,
      all.flatMap { store, counts in
        counts.sorted { $0.key < $1.key }.map {
          Sample(store: store, labels: [(label, $0.key)], value: Double($0.value))
        }
      })
  }
}
