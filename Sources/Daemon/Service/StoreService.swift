internal import CascadeModel
internal import CascadeSystem
internal import Spool
internal import CascadeStore
internal import SystemdService

/// One store that is served. It works through the store's queue, and gives the receipts to the
/// callers that wait for them.
@EventLoopActor
final class StoreService {
  private(set) var configuration: StoreConfiguration
  private(set) var connections: Connections
  /// The spool's files, for questions and uploads. The writer alone takes files from the queue.
  private(set) var openSpool: SpoolDirectory?
  let events: Events
  unowned let stores: Stores

  var isStarted = false
  /// How many tasks use the writer now.
  var uses = 0
  var isWriterOpen = false { didSet { stores.noteOpen(from: oldValue, to: isWriterOpen) } }
  /// There is work that the daemon itself has a reason for.
  var hasOwnWork = true
  /// Since when others' commits may be there to be examined; nil while the daemon cannot examine any.
  var wokenAt: ContinuousClock.Instant?
  /// How long others' commits still wait to be examined; nil if none do.
  var delayOfReview: Duration?
  var condition = StoreCondition()
  /// Whether questions are answered and work is done. A store is served once it was looked through,
  /// or is paused.
  var isServed: Bool { !condition.isStarting }
  var hasLooked = false
  var hasAnnouncedJournal = false
  private(set) var isFileOpen = false
  let openings = Broadcast()
  private var queueWatch: DirectoryWatch?
  /// Why directories cannot be watched, by their paths.
  var unwatched: [String: String] = [:]
  var areReadersClosed = false
  /// A sweep was started but not finished.
  var hasUnfinishedSweep = true
  /// Other connections' work kept a sweep from finishing. It is not continued for a while.
  var isSweepPostponed = false
  /// The batch of the undo that was continued last.
  var resumedUndo: Int64?
  /// Whether waiting files are to be tried again.
  var retriesFiles = true
  var hasTooYoungFiles = false
  /// How many files waited to be moved, when that was last asked.
  var waitingFiles = 0
  var openTransactions = OpenTransactions()
  let filesMustWait = Bell()
  var fileBackoff = Backoff()
  var lastSweep: JSON = .null
  var hasRecalled = false
  var sweepCount: Int64 = 0
  var tally = StoreCounters()
  /// When the oldest row of the journal was first seen.
  var journalSince: (row: Int64, at: Int64)?
  let journalGauge = JournalGauge()
  /// As it was when the last work was done.
  var lastJournal: ClosedRange<Int64>?
  /// Sweeps that no caller waits for, and the users who asked for them.
  var requestedSweeps: [(kinds: [SweepKind], user: UInt32)] = []
  let sweepRequested = Bell()
  /// Jobs that run or wait for an approval, as of the last look.
  var openJobs: [DeletionJob] = []
  let jobsChanged = Broadcast()
  /// Since when the oldest plan of a sweep or a job waits; nil also if none does.
  var oldestHeldPlan: Int64?
  /// Rings when a node is protected.
  let protectionsBegan = Broadcast()
  var passes = ExpiryPassState()
  /// Whether something may be protected; unknown at first.
  var mayHaveProtections = true
  let progress = ProgressBoard()
  /// The status of the store's files when all work was done; nil if work is left.
  private var idleFileStatuses: [FileStatus?]?
  /// It had work when it was to be closed, and is left open until then.
  var closesFrom = ContinuousClock.now
  let wake = Bell()
  let leaseTimer = LeaseTimer()
  let heldLeases = HeldLeases()
  let sweepWasCutShort = Bell()
  var timetable: Timetable
  let scheduleTimer = WallTimer()
  let noticesCame = Broadcast()
  let nodesWent = Broadcast()
  var waiters: [FileName: [Promise<Receipt>]] = [:]
  /// The files in the queue that were submitted over the socket.
  var submitted: [FileName: (fingerprint: Fingerprint, user: UInt32)] = [:]

  /// Rings when the service must stop its work, to change its model or to end.
  private let interruption = Bell()
  private var change: (configuration: StoreConfiguration, done: Promise<Void>)?
  private var retirement: Promise<Void>?

  init(_ configuration: StoreConfiguration, _ events: Events, of stores: Stores) {
    self.configuration = configuration
    self.events = events
    self.stores = stores
    timetable = Timetable(configuration)
    connections = Connections(stores.engine, configuration, progress, heldLeases)
  }

  var path: String { configuration.path }

  /// The counts of the spool; zero if it is not open.
  var spoolCounts: SpoolDirectory.Counts { (try? spool.counts()) ?? SpoolDirectory.Counts() }

  // MARK: - Opening

  /// Opens the store and its spool.
  func openFile() async throws {
    if try !configuration.creates && !configuration.isThere {
      throw StoreAway("\(path) does not exist")
    }
    let paths = try configuration.safePaths()
    try configuration.refuseUnsafeRoots(paths)
    let made = try [configuration.spoolPath, configuration.home].filter {
      try FileStatus.of($0) == nil
    }
    let spool = try SpoolDirectory(configuration.spoolPath, paths)
    openSpool = spool
    announceJournalMode()
    do {
      try await writer.open(spool)
    } catch let away as StoreAway where !configuration.isFile {
      // Files may be queued until the database can be served.
      throw away
    } catch {
      spool.rest()
      // If this is not a store, remove what we made beside it.
      if made.contains(configuration.spoolPath) { openSpool = nil }
      for path in made { SpoolDirectory.removeEmpty(path, paths) }
      throw error
    }
    if condition.pause == nil { condition.pause = try await writer.storedPause() }
    isFileOpen = true
    ringOpenings()
  }

  var spool: SpoolDirectory {
    get throws {
      guard let openSpool else { throw StoreError(condition.trouble ?? "\(path) is not open yet") }
      return openSpool
    }
  }

  // MARK: - Running

  /// Works until the task is cancelled or the store is removed from the configuration. The current
  /// commit is finished first.
  func run() async {
    while !Task.isCancelled && retirement == nil {
      await serve()
      await takeChange()
    }
    failWaiters(notServed)
    change?.done.resolve(.failure(notServed))
    await connections.close()
    isWriterOpen = false
    stores.gone.add(tally)
    tally = StoreCounters()
    retirement?.resolve(.success(()))
  }

  var notServed: StoreError { StoreError("\(path) is no longer served") }

  var isRetired: Bool { retirement != nil }

  private func serve() async {
    await withDiscardingTaskGroup { group in
      for work in [
        watchQueue, endLeases, retryPostponedSweeps, retryWaitingFiles, watchStore,
        watchServer, followTimetable, runRequestedSweeps, followOverdue,
        followProtections, work,
      ] {
        group.addTask(executorPreference: EventLoop.shared) { await work() }
      }
      try? await interruption.wait()
      writer.stop()
      group.cancelAll()
    }
  }

  private func endLeases() async {
    await leaseTimer.run { self.wakeUp() }
  }

  // MARK: - Changing the model, retiring

  /// Changes to another model. If that fails, continues with the old one.
  func take(_ configuration: StoreConfiguration) async throws {
    if condition.isDetached { throw StoreError.detached }
    let done = Promise<Void>()
    change = (configuration, done)
    interruption.ring()
    try await done.value()
  }

  func retire() async {
    let retirement = Promise<Void>()
    self.retirement = retirement
    heldLeases.ring()
    interruption.ring()
    try? await retirement.value()
  }

  private func takeChange() async {
    guard let (new, done) = change else { return }
    change = nil
    let old = configuration
    do {
      try refuseToLeaveFiles(for: new)
      try await restart(with: new)
      done.resolve(.success(()))
    } catch {
      // If it cannot be opened now, it is tried again.
      try? await restart(with: old)
      done.resolve(.failure(error))
    }
  }

  /// Refuses to change to another spool while files wait in the old one, because they would stay
  /// there for ever.
  private func refuseToLeaveFiles(for new: StoreConfiguration) throws {
    let path = configuration.spoolPath
    if new.spoolPath == path { return }
    let counts = try SpoolDirectory(path, configuration.safePaths()).counts()
    if counts.waiting + counts.held == 0 { return }
    throw StoreError(
      "files wait in its spool \(path) (\(counts.waiting), and \(counts.held) are held): apply, "
        + "approve or drop them before changing the spool")
  }

  private func restart(with configuration: StoreConfiguration) async throws {
    await connections.close()
    isFileOpen = false
    self.configuration = configuration
    timetable = Timetable(configuration)
    connections = Connections(stores.engine, configuration, progress, heldLeases)
    hasUnfinishedSweep = true
    unwatched = [:]
    condition.clearFindings()
    try await openFile()
    await followRest()
  }

  // MARK: - The slow poll

  /// Wakes the worker if the files changed. If nothing used or changed the store, no connection is
  /// opened to find that out.
  func poll() {
    retriesFiles = true
    refreshTimetable()
    if isWriterOpen { _ = longestReader() }
    if condition.isAtRest { return }
    let isLeftAlone = lastUse == nil
    if isLeftAlone && areFilesChanged || mustRetryFiles { wake.ring() }
  }

  var mustRetryFiles: Bool { !condition.filesWait.isEmpty || hasTooYoungFiles }

  var areFilesChanged: Bool { idleFileStatuses != currentFileStatuses }

  /// The connections are closed, and all work was done when the files were so.
  func noteClosed(_ statuses: [FileStatus?]) {
    _ = connections.takeUsed()
    idleFileStatuses = statuses
  }

  var currentFileStatuses: [FileStatus?] {
    let paths =
      stores.engine.filesOfCommits(at: path) + [openSpool?.incomingPath ?? configuration.spoolPath]
    // An empty log is as good as none, whenever it was emptied.
    return paths.map { path in
      (try? FileStatus.of(path)).flatMap { $0.kind == .file && $0.size == 0 ? nil : $0 }
    }
  }

  // MARK: - Connections

  var writer: StoreWriter { use(.writer, connections.writer) }
  var reader: StoreReader { use(.reader, connections.reader) }
  var gauge: StoreReader? { use(.statusReader, connections.statusReader) }

  var fetcher: StoreReader { use(.queryReader, connections.queryReader) }

  private func use<C>(_ role: Connections.Role, _ connection: C) -> C {
    connections.note(role)
    stores.inUse.ring()
    return connection
  }

  var lastUse: ContinuousClock.Instant? { connections.areUnused ? nil : connections.lastUse }

  /// Releases memory. The files' status is read first: a commit after that changes it, and the
  /// writer's outlook reports a commit before it.
  func releaseMemory() async {
    if stores.areMany, await closeWhileIdle() { return }
    let now = currentFileStatuses
    await closeIfAtRest()
    guard let outlook = await connections.releaseMemory(connections.takeUsed()) else { return }
    idleFileStatuses = outlook.hasQueue ? nil : now
    if outlook.isNews { wake.ring() }
  }

  /// Whether this store has the given path, or another path to the same file. If the file cannot be
  /// examined, it is not, so that the search continues.
  func isStore(_ path: String) -> Bool { (try? FileStatus.areSame(path, self.path)) ?? false }
}

extension StoreService {
  /// If the spool's directories were moved away or replaced, serves the ones that are there now.
  func followReplacedSpool() async throws {
    guard let old = openSpool, try old.isReplaced else { return }
    // Leave time to create the new directories.
    try await EventLoop.sleep(for: .seconds(1))
    let new = try SpoolDirectory(configuration.spoolPath, configuration.safePaths())
    let isTaken = try await writer.take(new)
    openSpool = new
    failWaiters(StoreError("the spool was replaced: check it, and try again"))
    if isTaken {
      tell(.warning, .trouble, "the spool's directories were replaced; the new ones are served")
    }
    let watch = queueWatch
    queueWatch = nil
    watch?.ring()
  }

  /// Wakes the worker when files arrive. inotify may miss events; the slow poll finds those.
  private func watchQueue() async {
    await orPoll {
      while true {
        let watch = try self.watch(self.spool.incomingPath, .arrivals)
        self.queueWatch = watch
        // Files may have come between the first look at the queue and the watch.
        self.wake.ring()
        while self.queueWatch === watch {
          try await watch.next()
          self.wake.ring()
        }
      }
    }
  }
}
