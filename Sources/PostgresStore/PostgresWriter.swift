package import CascadeModel
internal import CascadeEngine
internal import CascadePostgres
package import CascadeStore
internal import PostgresBinding
internal import PostgresSweeps
internal import PostgresTables

/// The writing side of a store. By its connection, one daemon at most leads and writes (`Leadership`).
package final class PostgresWriter: StoreWriting {
  let store: StoreConnection
  package private(set) var isDetached = false
  /// How many rows a step begins with; nil: as many as fit into the time.
  package var rowsToAStep: Int?
  /// How long a sweep tries to do all at once.
  package var longestAtOnce: Duration = .milliseconds(50)
  var pace = StepPace()
  /// Whether the binding may name tables of edges that are not there.
  var isBindingStale = false
  private var holds: [Duration] = []
  /// The state of the schema to which the binding and the triggers were found to fit.
  var followedSchema: String?
  private let role: String
  /// Nil if the store is detached.
  private(set) var settlement: Settlement?
  let reviewQueries: ReviewQueries
  var lastTime: LastTime?
  var clock = ClockReview()
  /// Files up to this one wait until they are tried again.
  var lastTriedFile: Int64 = 0
  var areRootsRecorded = false
  /// Roots whose trash was searched for files that the database does not know.
  var rootsLookedThrough: Set<String> = []

  var db: Session { _read { yield store.db } }
  package var model: StoreModel { store.model }

  /// `attaches` is nil if the store is left as it is.
  package init(
    _ path: String, _ model: StoreModel, attaches: Bool?, lockTimeout: Duration
  ) throws {
    store = try StoreConnection(path, model, lockTimeout: lockTimeout, isWriter: true)
    reviewQueries = ReviewQueries(model)
    role = try store.db.run("SELECT session_user").text!
    if attaches == true {
      try refuseUnfitRole()
      try store.refuseOtherLayouts()
    }
    try Leadership(store).take(attaching: attaches == true)
    switch attaches {
    case true?: _ = try attach(createIndexes: false)
    case false?: if try store.isAttached { try detach() } else { isDetached = true }
    case nil: isDetached = try !store.isAttached
    }
  }

  private func prepareSettlement() throws {
    settlement = try Settlement(store)
    try settlement?.begin()
    try settlement?.record()
  }

  // MARK: - Attachment

  package func attach(createIndexes: Bool) throws -> AttachReport {
    try refuseUnfitRole()
    if isDetached { try Leadership(store).take(attaching: true) }
    let report = try store.transaction { try Attachment(store, role: role).attach() }
    isDetached = false
    try prepareSettlement()
    return report
  }

  private func refuseUnfitRole() throws {
    if try db.run("SELECT rolsuper FROM pg_roles WHERE rolname = session_user").bool {
      throw StoreError(
        "the role \"\(role)\" is a superuser: give the daemon a role of its own, with the rights "
          + "that the guide lists")
    }
    try MissingGrants(store).refuse()
  }

  @discardableResult
  package func detach() throws -> DetachReport {
    let report = try Leadership(store).leave { try Attachment(store, role: role).detach() }
    try giveUpRoots()
    isDetached = true
    settlement = nil
    return report
  }

  package func createConstraints() throws -> OwnerReport {
    try store.transaction { try DenialConstraints(store).create() }
  }

  package func createFunctions() throws -> OwnerReport {
    let report = try store.transaction { try OwnerFunctions(store).create() }
    if !report.made.isEmpty { try store.bind(numbering: false) }
    return report
  }

  package var bindingProblems: [ModelProblem] { store.binding.problems }
  /// What does not fit is stopped alone.
  package var isPartlyBound: Bool { false }

  /// A dropped table takes its triggers along, so they are looked for after each commit.
  @discardableResult
  package func followSchema() throws -> Int64 {
    if isDetached { return 0 }
    try settlement?.record()
    let commits = try news.commits
    let schema = try SchemaState.read(store)
    if schema != nil && schema == followedSchema { return commits }
    let report = try MissingGrants(store).naming {
      try store.transaction { try Attachment(store, role: role).follow() }
    }
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
  package var hasJournal: Bool { get throws { try db.runAgain(reviewQueries.journal(store)).bool } }

  package var rescanReason: RescanReason? {
    get throws {
      if try store[meta: "first_watch"] != nil { return .firstWatch }
      return try store[meta: "watch_gap"] == nil ? nil : .watchGap
    }
  }

  package func requestRescan() throws { try store.set("watch_gap", 1) }

  package func clearRescanUnlessDangling() throws {
    if try DanglingReferences(store).find(telling: true).isEmpty { try clearRescan() }
  }

  func clearRescan() throws {
    try db.run("DELETE FROM cascade.meta WHERE key IN ('first_watch', 'watch_gap')")
  }

  package func resolveReferencesBeforeSweep() {}

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
  package func close(copiesLog: Bool) {}

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
    let attachment = Attachment(store, role: role)
    try store.transaction {
      try store.set("paused", pause?.at)
      try store.set("paused.by", pause?.user)
      if pause?.isForMigration == true { try attachment.beginMigration() }
      if pause == nil { try attachment.endMigration() }
    }
    followedSchema = nil
  }
}
