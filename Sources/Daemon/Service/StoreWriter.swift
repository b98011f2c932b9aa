internal import Model
internal import Spool
internal import Store
internal import System

/// A store's writing side on a thread of its own: nothing long ever keeps the event loop.
actor StoreWriter {
  private nonisolated let thread: WorkerThread
  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.executor }

  private let configuration: StoreConfiguration
  private var inbox: Inbox?
  private var pace: Pace

  init(_ configuration: StoreConfiguration) throws {
    thread = try WorkerThread(name: "writer")
    self.configuration = configuration
    pace = Pace(configuration.model.limits)
  }

  /// Opens the store and its spool; they are made if they are not there.
  func open() throws {
    let writer = try Writer(path: configuration.path, model: configuration.model)
    inbox = try Inbox(configuration.spoolPath, writer: writer, now: SystemClock.wall)
  }

  /// One commit's worth of the queue, and how long to leave the lock to others afterwards.
  func step() throws -> (step: Inbox.Step, pause: Duration?) {
    let inbox = try opened()
    pace.look(foreignCommits: try inbox.writer.foreignCommits())
    // Before the step: what it applied must be told, whatever happens afterwards.
    try inbox.writer.tidy(atLeisure: false)
    return (try inbox.step(budget: pace.budget), pace.pause)
  }

  /// When the queue is empty: a short log, unless somebody else writes.
  func tidy() throws {
    let writer = try opened().writer
    pace.look(foreignCommits: try writer.foreignCommits())
    try writer.tidy(atLeisure: pace.isAlone)
  }

  func rest() { inbox?.writer.releaseMemory() }

  /// Closes SQLite, so that nothing is left beside the database that need not be.
  func close() {
    try? inbox?.writer.finish()
    inbox = nil
  }

  func sweep(_ kinds: [SweepKind]) throws -> SweepResult {
    try opened().writer.sweep(kinds, at: SystemClock.wall())
  }

  func acknowledge(upTo notice: Int64) throws -> Int {
    try opened().writer.acknowledge(upTo: notice)
  }

  func approve(plan: Int64) throws -> Writer.Approved? {
    try opened().writer.approve(plan: plan)
  }

  private func opened() throws -> Inbox {
    guard let inbox else { throw StoreError("the store is not open") }
    return inbox
  }
}

/// How long a commit may take, by whether others write too (DESIGN 8.3).
struct Pace {
  private let limits: StoreModel.Limits
  private var foreignCommits: Int64?
  private var lastForeign: ContinuousClock.Instant?

  init(_ limits: StoreModel.Limits) { self.limits = limits }

  mutating func look(foreignCommits count: Int64) {
    if let foreignCommits, foreignCommits != count { lastForeign = .now }
    foreignCommits = count
  }

  var isAlone: Bool {
    lastForeign.map { ContinuousClock.now - $0 > .seconds(1) } ?? true
  }

  /// Without a limit a group ends by the number of its files.
  var budget: Duration {
    guard let lock = limits.lock else { return .seconds(1) }
    return isAlone ? max(lock, limits.alone) : lock
  }

  /// SQLite's busy handler sleeps up to 25 ms: a shorter pause would be missed by who waits.
  var pause: Duration? { isAlone || limits.lock == nil ? nil : .milliseconds(25) }
}
