internal import CascadeModel
internal import Spool
internal import Store
internal import CascadeSystem
/// A store's writing side on a thread of its own: nothing long ever keeps the event loop.
actor StoreWriter {
  private nonisolated let thread: WorkerThread
  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.executor }

  private let configuration: StoreConfiguration
  private var spool: SpoolDirectory?
  private var inbox: Inbox?
  /// Nil where the spool's is the same.
  private var databaseLock: FileLock?
  private var file: OpenFile?
  private var watch = Watching()
  /// Whose leases are still to end.
  private var endedConnections: Set<Int64> = []
  private nonisolated let isStopping = Flag()
  private nonisolated let progress: ProgressBoard
  private nonisolated let heldLeases: HeldLeases
  /// The file that is open has the leases of those who are connected, and of nobody else.
  private var hasHeldLeases = false

  init(
    _ configuration: StoreConfiguration, _ progress: ProgressBoard, _ leases: HeldLeases
  ) {
    thread = WorkerThread(name: "writer")
    self.configuration = configuration
    self.progress = progress
    heldLeases = leases
  }

  /// Opens the store; it is made if it is not there.
  func open(_ spool: SpoolDirectory) throws {
    self.spool = spool
    try open(creates: configuration.creates)
    // In a store that is locked just now, before anything is deleted.
    if let writer = inbox?.writer { try? takeHeldLeases(writer) }
  }

  private func open(creates: Bool) throws {
    let path = configuration.path
    let before = try FileStatus.of(path)
    if before != nil { try Ownership(of: path).refuseHarm() }
    let lock = try SpoolDirectory.lock(spool!.path)
    let databaseLock = try SpoolDirectory.lock(home: configuration.home, besides: spool!.path)
    let writer = try Writer(path: path, model: configuration.model, creates: creates)
    file = try OpenFile(path, opened: before)
    inbox = try Inbox(spool!, lock, writer: writer, now: SystemClock.wall)
    self.databaseLock = databaseLock
    watch = Watching()
    hasHeldLeases = false
  }

  /// Another spool is where the old one was. Its lock is another one, or the same. False if there is no
  /// store to go with it just now.
  func take(_ spool: SpoolDirectory) throws -> Bool {
    self.spool = spool
    guard let writer = inbox?.writer else { return false }
    inbox = nil
    inbox = try Inbox(
      spool, SpoolDirectory.lock(spool.path), writer: writer, now: SystemClock.wall)
    return true
  }

  /// One commit's worth of the queue, and how long to leave the lock to others afterwards.
  func step() throws -> (step: Inbox.Step, holds: [Duration], pause: Duration?) {
    let inbox = try opened()
    let writer = inbox.writer
    try takeHeldLeases(writer)
    writer.pace.look(foreignCommits: try writer.foreignCommits())
    // Before the step: what it applied must be told, whatever happens afterwards.
    try writer.tidy(atLeisure: false)
    _ = writer.takeHolds()
    let step = try inbox.step(budget: writer.pace.budget)
    return (step, writer.takeHolds(), writer.pace.pause)
  }

  /// What there is to do at once, and what may be tried again later.
  struct Outlook {
    var isNews = false
    var hasQueue = true
  }

  private var outlook: Outlook {
    get throws {
      let inbox = try opened()
      return Outlook(isNews: try watch.hasNews(of: inbox.writer), hasQueue: try inbox.hasQueue)
    }
  }

  /// When the queue is empty.
  func tidy() throws { try opened().writer.tidy(atLeisure: true) }

  /// Gives back what only makes the next use faster. What is in trouble is tried again by others.
  func rest() -> Outlook {
    defer { try? inbox?.writer.rest() }
    return (try? outlook) ?? Outlook()
  }

  /// Closes SQLite, so that nothing is left beside the database that need not be. Where the file is
  /// another one now, its log may be the other's too: then only what we know goes into the old file.
  func close() {
    if let writer = inbox?.writer {
      switch try? standing {
      case .there: try? writer.finish()
      case .logRemoved: writer.saveLog()
      case .logReplaced, .overwritten: writer.abandonLog()
      case .replaced, nil:
        if writer.pace.knows(try? writer.foreignCommits()) { try? writer.finish() }
      }
    }
    inbox = nil
    databaseLock = nil
  }

  private var standing: OpenFile.Standing {
    get throws {
      let standing = try file?.standing ?? .replaced
      let isOther = standing == .there && inbox?.writer.isOverwritten ?? false
      return isOther ? .overwritten : standing
    }
  }

  /// Takes up the file that is there now, and says what had become of the one that is open; nil if
  /// that is it. None is ever made.
  func reopen() throws -> OpenFile.Standing? {
    let standing = try self.standing
    if inbox != nil && standing == .there { return nil }
    if try FileStatus.of(configuration.path) == nil {
      throw StoreError("\(configuration.path) is not there any more")
    }
    if file != nil && standing != .there { waitForQuiet() }
    close()
    if standing == .replaced || standing == .overwritten { try file?.refuseItsLog() }
    try open(creates: false)
    if standing == .there { return nil }
    try inbox?.writer.owe()
    return standing
  }

  /// Whoever copies a backup has not come to its end as long as the file changes: half of it is no
  /// database, and what would be written into it now the other half would be written over.
  private func waitForQuiet() {
    for _ in 1...StoreWriter.mostWaits {
      guard let status = try? FileStatus.of(configuration.path),
        0..<StoreWriter.quiet ~= SystemClock.wall() - status.modifiedMilliseconds
      else { return }
      SystemClock.sleep(for: .milliseconds(20))
    }
  }

  private static let quiet: Int64 = 200
  private static let mostWaits = 500

  /// What it deleted may be news to kinds that it left alone.
  func sweep(_ kinds: [SweepKind]) throws -> SweepResult {
    defer { progress.set(nil) }
    let writer = try opened().writer
    try takeHeldLeases(writer)
    let result = try writer.sweep(kinds, at: SystemClock.wall(), manners: manners)
    let isRead = !configuration.model.immediateKinds.isEmpty
    if try !writer.hasJournal {
      watch.forgetAnswers()
    } else if isRead && result.batch != nil {
      watch.noteOwnNews()
    }
    return result
  }

  func sweepTimes(timed: [SweepKind]) throws -> [SweepKind: SweepTimes] {
    try opened().writer.sweepTimes(timed: timed, at: SystemClock.wall())
  }

  func remember(_ run: SweepRun, of kinds: [SweepKind]) throws {
    try opened().writer.remember(run, of: kinds)
  }

  /// Between two steps, who waits for the lock gets it; and whoever stops the daemon need not wait
  /// for the end of the sweep.
  private var manners: Manners {
    Manners { [isStopping] pause in
      if isStopping.isSet { throw CancellationError() }
      SystemClock.sleep(for: pause)
    } isOver: { [isStopping] in
      isStopping.isSet
    } tell: { [progress] in
      progress.set($0)
    }
  }

  /// The step at hand is the last one.
  nonisolated func stop() { isStopping.set() }

  func standingPause() throws -> Pause? { try opened().writer.pause }

  /// Sweeps may run again, or not: what was stopped is over.
  func set(_ pause: Pause?) throws {
    isStopping.clear()
    try opened().writer.set(pause)
  }

  func followSchema() throws { try current().writer.followSchema() }

  func heldSweeps() throws -> [SweepResult] { try opened().writer.heldSweeps }

  func isUnfinished() throws -> Bool { try current().writer.isUnfinished }

  func unfinishedSweep() throws -> [SweepKind]? { try opened().writer.unfinishedSweep }

  /// What others did since the last time, and the sweeps that it asked for.
  func look(sweeping kinds: [SweepKind]) throws -> Look {
    let writer = try opened().writer
    try takeHeldLeases(writer)
    try releaseEndedConnections()
    let tables = configuration.model.hasTables
    defer { progress.set(nil) }
    let sweeps = try watch.look(
      at: writer, tables: tables, sweeping: kinds,
      marks: configuration.model.schedule(of: .unreachable), manners: manners)
    return Look(
      problems: writer.bindingProblems, sweeps: sweeps, leaseEnd: watch.leaseEnd,
      isNews: watch.wasNews, hasMore: watch.hasOwnNews,
      unfinishedUndo: try writer.unfinishedUndo)
  }

  func lease(_ request: LeaseRequest) throws -> [Lease] {
    try lease(request, opened().writer)
  }

  private func lease(_ request: LeaseRequest, _ writer: Writer) throws -> [Lease] {
    try writer.lease(
      request.subjects, owner: request.owner, seconds: request.seconds,
      connection: request.connection, at: SystemClock.wall())
  }

  /// No connection outlives its daemon; those that are there hold what they hold in this file too.
  private func takeHeldLeases(_ writer: Writer) throws {
    if hasHeldLeases || writer.isDetached { return }
    try writer.releaseConnections()
    for request in heldLeases.requests {
      do {
        _ = try lease(request, writer)
      } catch is Rejection {
        // The model knows no such node any more: who renews it is told.
      }
    }
    hasHeldLeases = true
  }

  func release(_ subjects: [Lease.Subject], owner: String?) throws -> Int {
    let count = try opened().writer.release(subjects, owner: owner)
    watch.noteOwnNews()
    return count
  }

  /// Where the store is busy, the next look does it.
  func releaseConnection(_ connection: Int64) throws {
    endedConnections.insert(connection)
    try releaseEndedConnections()
  }

  private func releaseEndedConnections() throws {
    for connection in endedConnections {
      try opened().writer.releaseConnection(connection)
      endedConnections.remove(connection)
      watch.noteOwnNews()
    }
  }

  /// A part of what is to be done about files, and how long to leave the lock to others afterwards.
  func tendFiles(retrying: Bool) throws -> (work: FileWork, pause: Duration?) {
    let writer = try opened().writer
    if retrying { writer.retryFiles() }
    let budget = min(writer.pace.budget, .milliseconds(5))
    let work = try writer.tendFiles(
      configuration.surroundings, at: SystemClock.wall(), budget: budget)
    return (work, writer.pace.pause)
  }

  func acknowledge(upTo notice: Int64) throws -> Int {
    try opened().writer.acknowledge(upTo: notice)
  }

  func filesStillWanted(of batch: Int64) throws -> [Destination] {
    try opened().writer.filesStillWanted(of: batch)
  }

  func undo(_ batch: Int64, by author: String) throws -> UndoResult {
    defer { progress.set(nil) }
    return try opened().writer.undo(batch, by: author, at: SystemClock.wall(), manners: manners)
  }

  func resumeUndo() throws -> UndoResult? {
    defer { progress.set(nil) }
    // Somebody paused the store since this was asked.
    if try opened().writer.pause != nil { return nil }
    return try opened().writer.resumeUndo(at: SystemClock.wall(), manners: manners)
  }

  func approve(plan: Int64) throws -> Writer.Approved? {
    try opened().writer.approve(plan: plan)
  }

  func dropPlans(ofFile file: String) throws { try opened().writer.dropPlans(ofFile: file) }

  func attach(createIndexes: Bool) throws -> AttachReport {
    watch = Watching()
    return try current().writer.attach(createIndexes: createIndexes)
  }

  func detach() throws -> Detached {
    let inbox = try current()
    let removed = try inbox.writer.detach()
    inbox.restart()
    return removed
  }

  /// Everything into the database file, where nobody reads the log.
  func finish() throws { try current().writer.finish() }

  private func opened() throws -> Inbox {
    let inbox = try current()
    if inbox.writer.isDetached { throw StoreError.detached }
    return inbox
  }

  /// Also where it is detached.
  private func current() throws -> Inbox {
    if file == nil { throw StoreError("the store is not open") }
    guard let inbox, try standing == .there else { throw FileReplaced() }
    try inbox.writer.wakeUp()
    return inbox
  }
}

/// What others did to a store, and what was done about it.
struct Look: Sendable {
  let problems: [BindingProblem]
  let sweeps: [SweepResult]
  /// When the next lease ends, in milliseconds since 1970.
  let leaseEnd: Int64?
  /// Somebody committed, or a lease ended.
  let isNews: Bool
  /// What follows from these sweeps is to be looked at.
  let hasMore: Bool
  let unfinishedUndo: Int64?
}
