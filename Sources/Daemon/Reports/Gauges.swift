internal import CascadeModel
internal import CascadeStore
internal import Spool

/// The current measurements of a store.
struct Gauges {
  let store: String
  let state: String
  let counts: SpoolDirectory.Counts
  let journal: Int
  let heldPlans: Int
  let overdue: OverdueCount
  let oldestChange: Int64?
  let longestReader: Duration
  let tally: StoreCounters
}

extension StoreService {
  func gauges() async -> Gauges {
    let counts = spoolCounts
    let journal = await journal()?.count ?? 0
    let oldest = [(try? spool.oldest()) ?? nil, journalSince?.at].compactMap(\.self).min()
    return Gauges(
      store: path, state: self.state.state, counts: counts,
      journal: journal, heldPlans: heldPlanCount + counts.held, overdue: passes.count,
      oldestChange: oldest,
      longestReader: longestReader()?.time ?? .zero,
      tally: tally)
  }
}

extension StoreService {
  private var heldPlanCount: Int {
    condition.heldPlans.count + openJobs.count { $0.state == .held }
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
    ) { $0.oldestChange.map { Double(max(0, now - $0)) / 1_000 } ?? 0 }
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
    _ name: String, _ help: String, _ stores: [Gauges], _ value: (Gauges) -> Double
  ) {
    add(name, .gauge, help, stores.map { Sample(store: $0.store, value: value($0)) })
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
