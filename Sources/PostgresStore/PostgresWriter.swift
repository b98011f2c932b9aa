package import CascadeModel
internal import CascadePlanning
internal import CascadePostgres
package import CascadeStore
internal import PostgresSweeps
internal import PostgresTables

/// The writing side of a store. By its connection, one daemon at most leads and writes (`Leadership`).
package final class PostgresWriter: StoreWriting {
  let store: StoreConnection
  package private(set) var isDetached = false
  /// How many rows a step begins with; nil: as many as fit into the time.
  package var rowsToAStep: Int?
  var pace = StepPace()
  /// Whether the binding may name tables of edges that are not there.
  var isBindingStale = false
  private var holds: [Duration] = []
  /// The state of the schema to which the binding and the triggers were found to fit.
  private var followedSchema: String?
  private let role: String
  var lastTime: LastTime?
  /// Files up to this one wait until they are tried again.
  var lastTriedFile: Int64 = 0
  var areRootsRecorded = false

  var db: Session { _read { yield store.db } }
  package var model: StoreModel { store.model }

  /// `attaches` is nil if the store is left as it is.
  package init(
    _ path: String, _ model: StoreModel, attaches: Bool?, lockTimeout: Duration
  ) throws {
    store = try StoreConnection(path, model, lockTimeout: lockTimeout)
    role = try store.db.run("SELECT session_user").text!
    if attaches == true { try refuseUnsafeRole() }
    try Leadership(store).take(attaching: attaches == true)
    switch attaches {
    case true?: _ = try attach(createIndexes: false)
    case false?: if try store.isAttached { try detach() } else { isDetached = true }
    case nil: isDetached = try !store.isAttached
    }
  }

  // MARK: - Attachment

  package func attach(createIndexes: Bool) throws -> AttachReport {
    try refuseUnsafeRole()
    if isDetached { try Leadership(store).take(attaching: true) }
    let report = try store.transaction { try Attachment(store, role: role).attach() }
    isDetached = false
    return report
  }

  private func refuseUnsafeRole() throws {
    if try db.run("SELECT rolsuper FROM pg_roles WHERE rolname = session_user").bool {
      throw StoreError(
        "the role \"\(role)\" is a superuser: give the daemon a role of its own, with the rights "
          + "that the guide lists")
    }
  }

  @discardableResult
  package func detach() throws -> DetachReport {
    let report = try Leadership(store).leave { try Attachment(store, role: role).detach() }
    isDetached = true
    return report
  }

  package var bindingProblems: [ModelProblem] { store.binding.problems }
  package var isPartlyBound: Bool { !store.binding.problems.isEmpty }

  /// A dropped table takes its triggers along, so they are looked for after each commit.
  @discardableResult
  package func followSchema() throws -> Int64 {
    if isDetached { return 0 }
    let commits = try news.commits
    let schema = try SchemaState.read(store)
    if schema != nil && schema == followedSchema { return commits }
    let report = try store.transaction { try Attachment(store, role: role).follow() }
    // Another session may have changed something meanwhile.
    let isSame = try report.triggersMade.isEmpty && SchemaState.read(store) == schema
    followedSchema = isSame ? schema : nil
    return commits
  }

  // MARK: - News

  package var news: StoreNews {
    get throws {
      let now = try JournalNews.read(db)
      let text = now.map { $0 ?? "" }.joined(separator: " ")
      return StoreNews(commits: Fingerprint(text).signed, responses: nil)
    }
  }

  /// For a sweep that runs by itself, if any does.
  package var hasJournal: Bool {
    get throws {
      let immediate = [SweepKind.cascade, .refcount].filter { model.schedule(of: $0) == .immediate }
      return try db.runAgain(
        """
        SELECT EXISTS (SELECT FROM cascade.journal WHERE \(JournalRows.isMeant(for: immediate)))
          OR EXISTS (SELECT FROM cascade.meta WHERE key = 'sweep.batch')
          OR \(BlockedNodes.isDue) OR \(FileRows.areNew)
          OR EXISTS (SELECT FROM cascade.recheck WHERE \(LateReferences.isDue))
        """
      ).bool
    }
  }

  package var rescanReason: RescanReason? {
    get throws {
      if try store[meta: "first_watch"] != nil { return .firstWatch }
      return try store[meta: "watch_gap"] == nil ? nil : .watchGap
    }
  }

  package func requestRescan() throws { try store.set("watch_gap", 1) }

  package func clearRescanUnlessDangling() throws {
    if try DanglingReferences(store).find().isEmpty { try clearRescan() }
  }

  func clearRescan() throws {
    try db.run("DELETE FROM cascade.meta WHERE key IN ('first_watch', 'watch_gap')")
  }

  package func resolveReferencesBeforeSweep(_ manners: StepPolicy) {}

  // MARK: - Time

  package func lookForWriters() {}
  package var budget: Duration { pace.budget(model.limits) }
  package var pause: Duration? { nil }

  func noteHold(_ time: Duration) { holds.append(time) }

  package func takeLockDurations() -> [Duration] {
    defer { holds = [] }
    return holds
  }

  // MARK: - Tidying and closing

  package func tidy(_ extent: Tidying) {}
  package func releaseMemoryUntilWakeUp() {}
  package func wakeUp() {}
  package var opened: any OpenedStore { OpenDatabase() }
  package var standing: StoreStanding { .sameFile }
  package func close() {}

  // MARK: - Pause

  package var operatorPause: OperatorPause? {
    get throws {
      guard !isDetached, let at = try store[meta: "paused"] else { return nil }
      return OperatorPause(
        at: at, user: try store[meta: "paused.by"] ?? 0,
        isForMigration: try store[meta: "migrating"] != nil)
    }
  }

  package func set(_ pause: OperatorPause?) throws {
    if pause?.isForMigration == true {
      throw StoreError(
        "migrations need no pause on PostgreSQL: change the tables in a transaction")
    }
    try store.transaction {
      try store.set("paused", pause?.at)
      try store.set("paused.by", pause?.user)
    }
  }
}

/// How many rows a step takes, so that it ends in time.
struct StepPace {
  private var rows = StepPace.first
  private static let first = 500.0
  private static let most = 20_000.0
  /// How much of its time a step uses on average. What takes more than all of it, and half as much
  /// again, is cancelled.
  private static let share = 0.6
  private static let longest = Duration.seconds(1)

  /// How long a step may take. Others do not wait for it, except for the same rows; so it may take
  /// what a SQLite store allows while no other connection writes.
  func budget(_ limits: StoreModel.Limits) -> Duration {
    limits.lock.map { max($0, limits.uncontendedLock) } ?? .seconds(60)
  }

  var limit: Int { Int(rows) }

  /// Of a statement in a step that does not know how many rows it will meet. Others may have to wait
  /// so long for some of them, and what the server remembers of them stays small.
  func longestStatement(_ limits: StoreModel.Limits) -> Duration {
    max(min(budget(limits), StepPace.longest) * 1.5, .milliseconds(50))
  }

  /// After a step that took far too long.
  mutating func slowDown() { rows = max(10, rows / 4) }

  mutating func note(_ time: Duration, _ limits: StoreModel.Limits) {
    let ratio = min(budget(limits), StepPace.longest) / max(time, .microseconds(1))
    rows = min(StepPace.most, max(10, rows * min(2, max(0.5, StepPace.share * ratio))))
  }
}

extension PostgresWriter {
  package func createConstraints() throws -> ConstraintReport {
    try store.transaction { try DenialConstraints(store).create() }
  }
}
