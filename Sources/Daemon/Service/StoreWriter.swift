internal import CascadeModel
internal import Spool
internal import CascadeStore
internal import CascadeEngine
internal import CascadeSystem

/// The writing side of a store, on its own thread, so that long work never blocks the event loop.
actor StoreWriter {
  private nonisolated let thread: WorkerThread
  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.executor }

  private let engine: any StoreEngine
  let configuration: StoreConfiguration
  private var spool: SpoolDirectory?
  private var inbox: Inbox?
  /// Nil if the spool's lock is the database's too.
  private var databaseLock: FileLock?
  /// The spool's lock while the store is closed for a while.
  private var keptLock: FileLock?
  private var isClosedForNow = false
  private var isDetached = false
  private var opened: (any OpenedStore)?
  private var watch: CommitReviewer
  /// Connections that were closed and whose leases are still to be released.
  private var endedConnections: Set<Int64> = []
  private nonisolated let isStopping = Flag()
  /// Something else than the job that runs is to be done.
  nonisolated let hasOtherWork = Flag()
  nonisolated let progress: ProgressBoard
  private nonisolated let heldLeases: HeldLeases
  /// Whether the open file has exactly the leases of the connected clients.
  private var hasHeldLeases = false

  init(
    _ engine: any StoreEngine, _ configuration: StoreConfiguration, _ progress: ProgressBoard,
    _ leases: HeldLeases
  ) {
    thread = WorkerThread(in: StoreThreads.writers)
    self.engine = engine
    self.configuration = configuration
    watch = CommitReviewer(inPortions: configuration.isFile)
    self.progress = progress
    heldLeases = leases
  }

  /// Opens the store. It is created if it is missing and the configuration allows it.
  func open(_ spool: SpoolDirectory) throws {
    // The store may be open already, if what followed an earlier opening failed.
    close()
    self.spool = spool
    try open(creates: configuration.creates)
    // If the store is locked now, this is repeated before anything is deleted.
    if let writer = inbox?.writer { try? takeHeldLeases(writer) }
  }

  private func open(creates: Bool) throws {
    let path = configuration.path
    _ = try configuration.safePaths()
    try engine.refuseHarm(at: path)
    let lock = try keptLock.take() ?? spool!.lock()
    let other = try databaseLock.take() ?? spool!.lock(home: configuration.home)
    let writer: any StoreWriting
    do {
      writer = try engine.openForWriting(
        path, model: configuration.model, creates: creates, attaches: !isDetached,
        lockTimeout: .seconds(5))
    } catch {
      // A store that was not open before leaves nothing behind.
      if isClosedForNow {
        keptLock = .some(lock)
        databaseLock = other
      }
      throw error
    }
    opened = writer.opened
    inbox = try Inbox(spool!, lock, writer: writer, now: SystemClock.wall)
    databaseLock = other
    watch.forgetCommits()
    (hasHeldLeases, isClosedForNow) = (false, false)
  }

  /// Takes another spool in place of the old one. Its lock may be another one or the same. False if
  /// no store is open.
  func take(_ spool: SpoolDirectory) throws -> Bool {
    self.spool = spool
    if isClosedForNow {
      keptLock = nil
      keptLock = .some(try spool.lock())
      return true
    }
    guard let writer = inbox?.writer else { return false }
    inbox = nil
    inbox = try Inbox(spool, spool.lock(), writer: writer, now: SystemClock.wall)
    return true
  }

  /// Works on the queue for one commit. Also returns how long to leave the lock to other writers.
  func step() throws -> (step: Inbox.Step, holds: [Duration], pause: Duration?) {
    let inbox = try attached()
    let writer = inbox.writer
    try takeHeldLeases(writer)
    try writer.lookForWriters()
    // It is done before the step, because a failure here must not hide what the step applied.
    try writer.tidy(.urgent)
    try writer.followProtected()
    _ = writer.takeLockDurations()
    let step = try inbox.step(budget: writer.budget)
    return (step, writer.takeLockDurations(), writer.pause)
  }

  /// What the queue and the store have to do next.
  struct RemainingWork {
    var isNews = false
    var hasQueue = true
  }

  private var outlook: RemainingWork {
    get throws {
      let inbox = try attached()
      return RemainingWork(
        isNews: try watch.hasNews(of: inbox.writer), hasQueue: try inbox.hasQueue)
    }
  }

  /// When to try files again that could not leave the queue; nil if there are none.
  var retryDelay: Duration? { inbox?.retryDelay }

  /// Examines everything again.
  private var newWatch: CommitReviewer { CommitReviewer(inPortions: configuration.isFile) }

  /// Tidies up when the queue is empty.
  func tidy() throws { try attached().writer.tidy(.atLeisure) }

  /// Releases memory that only makes the next use faster. Errors are ignored, because the next use
  /// meets them again.
  func releaseMemory() -> RemainingWork {
    if isClosedForNow { return RemainingWork() }
    defer { try? inbox?.writer.releaseMemoryUntilWakeUp() }
    return (try? outlook) ?? RemainingWork()
  }

  /// Closes the store, so that it leaves no needless files. One that is closed for now may have a log, and
  /// without it the database alone is not complete.
  func close() {
    if isClosedForNow && hasLog { _ = try? current() }
    // The next daemon counts the time from then on.
    if (try? standing) == .sameFile { try? inbox?.writer.saveTime(wall: SystemClock.wall()) }
    inbox?.writer.close()
    inbox = nil
    databaseLock = nil
    keptLock = nil
    isClosedForNow = false
  }

  private var hasLog: Bool {
    engine.filesOfCommits(at: configuration.path).dropFirst().contains { log in
      (try? FileStatus.of(log)).map { $0.size > 0 } ?? false
    }
  }

  /// Closes the database, and keeps the spool. The next use opens it again.
  func closeForNow(copiesLog: Bool = true) {
    guard let inbox else { return }
    inbox.writer.close(copiesLog: copiesLog)
    keptLock = inbox.retire()
    opened = opened?.closed
    (self.inbox, isClosedForNow) = (nil, true)
  }

  /// The same, if nothing is to be done. Returns whether the store is closed.
  func closeIfQuiet() -> Bool {
    guard let rest = try? outlook else { return isClosedForNow }
    if !rest.isNews && !rest.hasQueue { closeForNow(copiesLog: false) }
    return isClosedForNow
  }

  func journal() throws -> ClosedRange<Int64>? { try attached().writer.journal() }

  private var standing: StoreStanding {
    get throws { try inbox?.writer.standing ?? opened?.standing ?? .replaced }
  }

  /// Opens the file that is there now. Returns what had happened to the open file, or nil if it is
  /// the same file. A missing file is never created.
  func reopen() throws -> StoreStanding? {
    let standing = try self.standing
    if inbox != nil && standing == .sameFile { return nil }
    if try !configuration.isThere {
      throw StoreError("\(configuration.path) no longer exists")
    }
    if standing != .sameFile {
      isDetached = false
      opened?.waitForQuiet()
    }
    close()
    if standing == .replaced || standing == .overwritten { try opened?.refuseLeftovers() }
    watch = newWatch
    try open(creates: false)
    if standing == .sameFile { return nil }
    try inbox?.writer.requestRescan()
    return standing
  }

  /// Sweeps. If it `waits`, it leaves other processes' transactions the time to end. What was
  /// deleted may concern the immediate kinds, so the store is examined again.
  func sweep(_ kinds: [SweepKind], waits: Bool) throws -> SweepResult {
    defer { progress.set(nil) }
    let writer = try attached().writer
    try noteTime(writer)
    try takeHeldLeases(writer)
    // A client that asks for a sweep is told at once where the tables do not fit the model.
    if !waits { _ = try writer.followSchema() }
    if kinds.contains(.trash) || kinds.contains(.all) { forgetRejected() }
    let result = try writer.sweep(kinds, at: SystemClock.wall(), manners: sweepPolicy(waits: waits))
    if kinds.contains(where: \.sweepsEdges) { watch.delays.noteSweep([result]) }
    let isRead = !configuration.model.immediateKinds.isEmpty
    if try !writer.hasJournal {
      watch.forgetTriggerWrites()
    } else if isRead && result.batch != nil {
      watch.noteOwnNews()
    }
    return result
  }

  /// Rejected files are kept as long as the ledger, which tells of the others. What cannot be removed now
  /// is tried again the next time.
  private func forgetRejected() {
    let age = Int64(configuration.model.retention.ledger / .milliseconds(1))
    _ = try? spool?.forgetRejected(before: SystemClock.wall() - age)
  }

  func noteTime(_ writer: any StoreWriting) throws {
    try writer.noteTime(wall: SystemClock.wall(), elapsed: SystemClock.elapsed())
  }

  func sweepTimes(timed: [SweepKind]) throws -> [SweepKind: SweepTimes] {
    try attached().writer.sweepTimes(timed: timed, at: SystemClock.wall())
  }

  func remember(_ run: SweepRun, of kinds: [SweepKind]) throws {
    try attached().writer.remember(run, of: kinds)
  }

  /// What the writer does between two steps. It yields the lock to waiting writers, and it ends the
  /// sweep early if the daemon is stopped.
  var stepPolicy: StepPolicy {
    StepPolicy { [isStopping] pause in
      if isStopping.isSet { throw CancellationError() }
      SystemClock.sleep(for: pause)
    } shouldStop: { [isStopping] in
      isStopping.isSet
    } reportProgress: { [progress] in
      progress.set($0)
    }
  }

  private func sweepPolicy(waits: Bool) -> StepPolicy {
    var policy = stepPolicy
    policy.waitsForTransactions = waits
    return policy
  }

  /// Ends the work after the current step.
  nonisolated func stop() { isStopping.set() }

  nonisolated func goOn() { isStopping.clear() }

  /// Whether whole tables have to be looked through.
  func owesLook() throws -> Bool { try attached().writer.rescanReason != nil }

  func storedPause() throws -> OperatorPause? { try attached().writer.operatorPause }

  /// Sets or ends a pause. The request to stop is cleared, because the stopped work has ended.
  func set(_ pause: OperatorPause?) throws {
    isStopping.clear()
    try attached().writer.set(pause)
  }

  /// Returns what of the model does not fit the tables.
  @discardableResult
  func followSchema() throws -> [ModelProblem] {
    let writer = try current().writer
    _ = try writer.followSchema()
    return writer.bindingProblems
  }

  func isUnfinished() throws -> Bool { try current().writer.isUnfinished }

  func unfinishedSweep() throws -> [SweepKind]? { try attached().writer.unfinishedSweep }

  /// Examines what other connections did since the last call, and runs the sweeps that this
  /// requires. They may have done it since `start`.
  func reviewCommits(
    sweeping kinds: [SweepKind], since start: ContinuousClock.Instant
  ) throws -> CommitReview {
    let writer = try attached().writer
    try noteTime(writer)
    try takeHeldLeases(writer)
    try releaseEndedConnections()
    let tables = configuration.model.hasTables
    defer { progress.set(nil) }
    let sweeps = try watch.review(
      at: writer, tables: tables, sweeping: kinds, since: start,
      marks: configuration.model.schedule(of: .unreachable), manners: sweepPolicy(waits: true))
    return CommitReview(
      problems: writer.bindingProblems, sweeps: sweeps, leaseEnd: watch.leaseEnd,
      isNews: watch.wasNews, wait: watch.wait, hasMore: watch.hasOwnNews,
      delays: watch.delays.take(),
      unfinishedUndo: try writer.unfinishedUndo)
  }

  func lease(_ request: LeaseRequest) throws -> [Lease] {
    try lease(request, attached().writer)
  }

  private func lease(_ request: LeaseRequest, _ writer: any StoreWriting) throws -> [Lease] {
    try writer.lease(
      request.subjects, owner: request.owner, seconds: request.seconds,
      connection: request.connection, at: SystemClock.wall())
  }

  /// Takes the held leases in the open file. Connections of an earlier daemon are gone, so their
  /// leases are released first.
  private func takeHeldLeases(_ writer: any StoreWriting) throws {
    if hasHeldLeases || writer.isDetached { return }
    try writer.releaseConnections()
    for request in heldLeases.requests {
      do {
        _ = try lease(request, writer)
      } catch is Rejection {
        // The model no longer has such a node. The client is told when it renews the lease.
      }
    }
    hasHeldLeases = true
  }

  func noteOwnNews() { watch.noteOwnNews() }

  func release(_ subjects: [Lease.Subject], owner: String?) throws -> Int {
    let count = try attached().writer.release(subjects, owner: owner)
    watch.noteOwnNews()
    return count
  }

  /// Ends the leases of a connection. If the store is busy, the next look does it.
  func releaseConnection(_ connection: Int64) throws {
    endedConnections.insert(connection)
    try releaseEndedConnections()
  }

  private func releaseEndedConnections() throws {
    for connection in endedConnections {
      try attached().writer.releaseConnection(connection)
      endedConnections.remove(connection)
      watch.noteOwnNews()
    }
  }

  func attach(_ options: AttachOptions) throws -> AttachReport {
    watch = newWatch
    let writer = try current().writer
    var report = try writer.attach(createIndexes: options.createIndexes)
    if options.createConstraints { report.constraints = try writer.createConstraints() }
    if options.createFunctions { report.functions = try writer.createFunctions() }
    isDetached = false
    return report
  }

  func detach() throws -> DetachReport {
    let inbox = try current()
    let removed = try inbox.writer.detach()
    inbox.restart()
    isDetached = true
    return removed
  }

  /// Tidies up until a copy of the store's main file alone is complete.
  func tidyCompletely() throws { try current().writer.tidy(.complete) }

  func attached() throws -> Inbox {
    let inbox = try current()
    if inbox.writer.isDetached { throw StoreError.detached }
    return inbox
  }

  /// The open store, even if it is detached.
  private func current() throws -> Inbox {
    if opened == nil { throw StoreError("the store is not open") }
    if isClosedForNow && (try? opened?.standing) == .sameFile { try open(creates: false) }
    guard let inbox, try standing == .sameFile else { throw FileReplaced() }
    try inbox.writer.wakeUp()
    return inbox
  }
}

/// The file at the store's path is not the one that was opened.
struct FileReplaced: Error, CustomStringConvertible {
  var description: String { "the store was replaced by another file; try again" }
}
