internal import Model
internal import Spool
internal import Store
internal import System

/// One store, served: its queue is worked off, its receipts reach those who wait for them.
@EventLoopActor
final class StoreService {
  let configuration: StoreConfiguration
  let writer: StoreWriter
  let reader: StoreReader
  /// The spool's files, for questions and uploads; the queue itself is the writer's.
  let spool: SpoolDirectory
  /// For `status` alone: it is answered while the other one is busy.
  let gauge: StoreReader?
  var condition = Condition()
  var areReadersClosed = false
  /// Files that wait are looked at again.
  var retriesFiles = true
  /// Why files wait, as it was last told.
  var filesWait: Set<String> = []
  var lastSweep: JSON = .null
  var sweepCount: Int64 = 0
  private enum MemoryUse { case none, fresh, old }
  private var memoryUse = MemoryUse.none
  let wake = Bell()
  let leaseTimer = LeaseTimer()
  let noticesCame = Broadcast()
  private var waiters: [FileName: [ReceiptWaiter]] = [:]
  /// What came over the socket and is in the queue.
  private var submitted: [FileName: Fingerprint] = [:]

  init(_ configuration: StoreConfiguration) throws {
    self.configuration = configuration
    writer = try StoreWriter(configuration)
    reader = try StoreReader(configuration)
    gauge = configuration.model.hasTables ? try StoreReader(configuration) : nil
    spool = try SpoolDirectory(configuration.spoolPath)
  }

  /// Opens the store. A failure here is the operator's to mend.
  ///
  /// What dangled before anybody watched is looked for before anybody is answered: what an
  /// application deletes from then on is not mistaken for it.
  func open() async throws {
    try await writer.open()
    try? await resumeSweep()
    try? await lookAtStore()
  }

  /// Works until the task is cancelled; the commit at hand is finished.
  func run() async {
    await withTaskCancellationHandler {
      await serve()
    } onCancel: {
      writer.stop()
    }
    await reader.close()
    await gauge?.close()
    await writer.close()
  }

  private func serve() async {
    await withDiscardingTaskGroup { group in
      group.addTask(executorPreference: EventLoop.shared) { await self.watchQueue() }
      group.addTask(executorPreference: EventLoop.shared) { await self.poll() }
      group.addTask(executorPreference: EventLoop.shared) {
        await self.leaseTimer.run(ringing: self.wake)
      }
      if configuration.model.hasTables {
        group.addTask(executorPreference: EventLoop.shared) { await self.watchStore() }
      }
      await work()
      group.cancelAll()
    }
  }

  // MARK: - The queue

  /// inotify is a hint; the slow poll is the net under it.
  private func watchQueue() async {
    do {
      let watch = try DirectoryWatch(spool.incomingPath, .arrivals, rate: nil)
      // For what came after the first look at the queue, and before the watch.
      wake.ring()
      while true {
        try await watch.next()
        wake.ring()
      }
    } catch {
      if !Task.isCancelled {
        Log.write(.warning, "the spool is not watched, only polled: \(error)", fields: fields)
      }
    }
  }

  private func poll() async {
    while (try? await EventLoop.sleep(for: .seconds(60), tolerance: .seconds(30))) != nil {
      if memoryUse == .old { await rest() }
      memoryUse = memoryUse == .fresh ? .old : memoryUse
      retriesFiles = true
      wake.ring()
    }
  }

  /// Something was kept for the next question, which a later minute may forget.
  func remembers() { memoryUse = .fresh }

  /// Caches that nobody used for a minute go back to the system.
  private func rest() async {
    await writer.rest()
    await reader.rest()
    await gauge?.rest()
    Process.trimMemory()
    memoryUse = .none
  }

  private func work() async {
    var backoff = Backoff()
    while !Task.isCancelled {
      do {
        try await workUntilIdle()
        backoff = Backoff()
        try await wake.wait()
      } catch is CancellationError {
        return
      } catch {
        await pause(after: error, &backoff)
      }
    }
  }

  private func workUntilIdle() async throws {
    while !Task.isCancelled && !condition.isDetached {
      try await lookAtStore()
      let (step, pause) = try await onStore { try await writer.step() }
      guard case .worked(let outcomes) = step else { break }
      memoryUse = .fresh
      recover()
      for outcome in outcomes { publish(outcome) }
      try await tendFiles()
      if let pause { try await EventLoop.sleep(for: pause) }
    }
    if condition.isDetached { return }
    try await tendFiles()
    try await onStore { try await writer.tidy() }
    recover()
  }

  private func recover() {
    if condition.trouble == nil { return }
    condition.trouble = nil
    Log.write(.notice, "\(configuration.path) works again", fields: fields, messageID: .recovered)
  }

  /// Nothing was lost: the files are still in the queue.
  private func pause(after error: any Error, _ backoff: inout Backoff) async {
    // What was under way when it was detached needs no second try.
    if condition.isDetached { return }
    let text = "\(error)"
    if condition.trouble != text {
      Log.write(
        .warning, "\(configuration.path): \(text); trying again", fields: fields,
        messageID: .trouble)
    }
    condition.trouble = text
    try? await EventLoop.sleep(for: backoff.next())
  }

  private func publish(_ outcome: Inbox.Outcome) {
    report(outcome)
    if outcome.receipt.notices > 0 { noticesCame.ring() }
    submitted[outcome.name] = nil
    for waiter in waiters.removeValue(forKey: outcome.name) ?? [] {
      waiter.settle(.success(outcome.receipt))
    }
  }

  // MARK: - Submitting

  /// Waits for what becomes of a file that is put into the queue by `enqueue`.
  func settle(_ name: FileName, enqueue: () throws -> Void) async throws -> Receipt {
    try enqueue()
    let waiter = ReceiptWaiter()
    waiters[name, default: []].append(waiter)
    defer { waiters[name]?.removeAll { $0 === waiter } }
    wake.ring()
    return try await waiter.receipt()
  }

  /// Puts an upload into the queue, if it is not there since somebody sent the same before.
  func submit(_ upload: Uploads.Upload, as name: FileName) throws {
    if isSubmitted(name, upload.fingerprint) { return try spool.dropUpload(upload.name) }
    try spool.submit(upload.name, as: name)
    submitted[name] = upload.fingerprint
  }

  func isSubmitted(_ name: FileName, _ fingerprint: Fingerprint) -> Bool {
    submitted[name] == fingerprint
  }

  func wakeUp() { wake.ring() }

  /// Rings for each notice that may have come, as long as the bell lives.
  func watchNotices() -> Bell { noticesCame.subscribe() }

  /// Nobody learns soon what becomes of the files that wait.
  func failWaiters(_ error: any Error) {
    for waiter in waiters.values.joined() { waiter.settle(.failure(error)) }
    waiters = [:]
  }

  /// Whether this is its store, by whatever path.
  func isStore(_ path: String) throws -> Bool {
    if path == configuration.path { return true }
    guard let one = try FileStatus.of(path), let own = try FileStatus.of(configuration.path)
    else { return false }
    return one.isSame(as: own)
  }

  var fields: [(LogField, String)] { [(.store, configuration.path)] }
}
