internal import CascadeModel
internal import CascadeSystem
internal import Spool
internal import CascadeStore
internal import SystemdService

/// The work of a store: its queue, and what other connections committed.
extension StoreService {
  func work() async {
    var backoff = Backoff()
    while !Task.isCancelled {
      do {
        try await beginToServe()
        try await workUntilIdle()
        backoff = Backoff()
        try await waitForWork()
        wokenAt = wokenAt ?? .now
      } catch is CancellationError {
        return
      } catch {
        if stores.refuses(error, of: self) { return }
        await pause(after: error, &backoff)
      }
    }
  }

  private func waitForWork() async throws {
    let delays = await [connections.writer.retryDelay, delayOfReview]
    guard let delay = delays.compactMap(\.self).min() else { return try await wake.wait() }
    let timer = Task {
      try await EventLoop.sleep(for: delay, tolerance: delay / 4)
      wake.ring()
    }
    defer { timer.cancel() }
    try await wake.wait()
  }

  private func workUntilIdle() async throws {
    delayOfReview = nil
    let hasReason = hasReasonForTurn
    // A spool that was replaced is a reason.
    if condition.isAtRest || hasReason { try await followReplacedSpool() }
    if condition.isAtRest || !hasReason {
      wokenAt = nil
      return await closeIfAtRest()
    }
    hasOwnWork = false
    if !stores.areMany { return try await inTurn { try await workInTurn() } }
    try await stores.turns.inSlot {
      if isWriterOpen { return try await inTurn { try await workInTurn() } }
      try await stores.withDescriptors { try await inTurn { try await workInTurn() } }
    }
  }

  private func workInTurn() async throws {
    while !Task.isCancelled && !condition.isAtRest {
      try await continueUnfinishedSweep()
      try await reviewStore()
      let (step, holds, pause) = try await onStore { try await writer.step() }
      let isIdle = if case .idle = step { true } else { false }
      if try await !carryOutJob() && isIdle { break }
      recover()
      if isIdle { continue }
      tally.add(holds)
      publish(step)
      noteCommit()
      try await moveUnreferencedFiles()
      if let pause { try await EventLoop.sleep(for: pause) }
    }
    if condition.isAtRest { return }
    try await moveUnreferencedFiles()
    try await onStore { try await writer.tidy() }
    if stores.areMany { noteJournal(try await onStore { try await writer.journal() }) }
    recover()
  }

  func recover() {
    if condition.trouble == nil { return }
    let wasExpected = isWithApplication
    condition.trouble = nil
    condition.isAway = false
    if wasExpected { return }
    tell(.notice, .recovered, "works again")
  }

  /// Waits after a failure. Nothing is lost, because the files are still in the queue.
  private func pause(after error: any Error, _ backoff: inout Backoff) async {
    // Work that a detachment or a pause stopped is no failure.
    if condition.isAtRest {
      try? await EventLoop.sleep(for: backoff.next())
      return
    }
    let isShort = isOutOfDescriptors(error)
    if isShort { await giveUpDescriptors() }
    let isAwaited = isShort || !isServed || configuration.isExclusive || !configuration.isFile
    let wait = isAwaited ? reasonToWait(for: error) : nil
    let text = wait ?? (isFull(error) ? "the disk is full: \(error)" : "\(error)")
    condition.isAway = wait != nil
    if condition.isAway { wokenAt = nil }
    if condition.trouble != text {
      condition.trouble = text
      if !isWithApplication { report(trouble: text) }
      ringOpenings()
    }
    // A fault of the store itself may last for days, so callers do not wait for its end.
    if error is StoreError || error is UnsafePath || stores.engine.isDamage(error) {
      failWaiters(StoreError("\(text); submitted files stay in the spool"))
    }
    let longest = (error as? StoreAway)?.longestWait ?? .seconds(2)
    let time = condition.isAway || isFull(error) ? min(backoff.next(), longest) : backoff.next()
    await rest(time, untilWoken: isWithApplication)
  }

  /// Whether the application has a store now that it wants for itself. It gives the store back.
  private var isWithApplication: Bool {
    configuration.isExclusive && condition.isAway && isServed
  }

  /// A store that its application has is looked at again when something happened in its directory,
  /// and then was quiet for a while.
  private func rest(_ time: Duration, untilWoken: Bool) async {
    if !untilWoken {
      try? await EventLoop.sleep(for: time)
      return
    }
    _ = try? await EventLoop.limit(.seconds(60)) { try await self.wake.wait() }
    try? await EventLoop.sleep(for: .seconds(1), tolerance: .milliseconds(100))
  }

  private func report(trouble text: String) {
    tell(.warning, .trouble, "\(text); trying again", [(.reason, text)])
  }

  /// Why the store has to be waited for: another program has it, or it is not there. Nil for any
  /// other error.
  func reasonToWait(for error: any Error) -> String? {
    if stores.engine.isLocked(error) {
      if !configuration.isFile { return "other sessions hold locks in \(path): \(error)" }
      let hint = configuration.isExclusive ? "" : "; `exclusive: true` is for this"
      return "\(path) is locked by another program, or a transaction is open in it\(hint)"
    }
    if !configuration.isFile && stores.engine.endsByReopening(error) { return "\(error)" }
    if isOutOfDescriptors(error) { return "\(OutOfDescriptors())" }
    if let away = error as? StoreAway { return away.description }
    return (error as? SystemError)?.isAbsence == true ? "\(error)" : nil
  }

  /// Whether the store can be served later without anybody's help to the daemon.
  func isPassing(_ error: any Error) -> Bool { reasonToWait(for: error) != nil || isFull(error) }

  /// What it has may be enough for another store.
  private func giveUpDescriptors() async {
    hasOwnWork = true
    await stores.keepFewerOpen()
    openSpool?.rest()
    for reader in connections.readers { await reader.rest() }
    if uses > 0 || !configuration.isFile { return }
    await connections.writer.closeForNow()
    isWriterOpen = false
  }

  private func isOutOfDescriptors(_ error: any Error) -> Bool {
    error is OutOfDescriptors || (error as? SystemError)?.isOutOfDescriptors == true
      || stores.engine.isOutOfDescriptors(error)
  }

  /// Whether the disk is full. There may be room at any moment.
  func isFull(_ error: any Error) -> Bool {
    (error as? SystemError)?.isFull ?? stores.engine.isFull(error)
  }

  private func publish(_ step: Inbox.Step) {
    switch step {
    case .idle: break
    case .worked(let outcomes): for outcome in outcomes { publish(outcome) }
    case .setAside(let name, let reason): publish(setAside: name, because: reason)
    }
  }

  /// Calls that wait for the receipt are told that there will be none soon.
  private func publish(setAside name: FileName, because reason: String) {
    let text = "\(name) fails again and again, and is set aside: \(reason)"
    let user = submitted.removeValue(forKey: name)?.user
    reportSetAside(name, text, because: reason, submittedBy: user)
    for waiter in waiters.removeValue(forKey: name) ?? [] {
      waiter.resolve(.failure(StoreError(text)))
    }
  }

  private func publish(_ outcome: Inbox.Outcome) {
    tally.add(outcome.receipt)
    let sender = submitted.removeValue(forKey: outcome.name)?.user
    report(outcome, submittedBy: sender)
    if outcome.receipt.notices > 0 { noticesCame.ring() }
    if outcome.receipt.deletedCount > 0 { nodesWent.ring() }
    let waiting = waiters.removeValue(forKey: outcome.name) ?? []
    for waiter in waiting { waiter.resolve(.success(outcome.receipt)) }
    // The client that submitted it has the file and the reasons.
    if sender != nil, !waiting.isEmpty, let name = outcome.rejectedAs {
      _ = try? spool.dropRejected(name)
    }
  }

  // MARK: - Submitting

  /// Puts a file into the queue by `enqueue`, and waits for its receipt.
  func enqueueAndWait(_ name: FileName, enqueue: () throws -> Void) async throws -> Receipt {
    try enqueue()
    let waiter = Promise<Receipt>()
    waiters[name, default: []].append(waiter)
    defer { waiters[name]?.removeAll { $0 === waiter } }
    wake.ring()
    return try await waiter.value()
  }

  /// Puts an upload into the queue. If the same content is already there, drops the upload.
  func submit(_ upload: Uploads.Upload, as name: FileName) throws {
    if isSubmitted(name, upload.fingerprint) { return try spool.dropUpload(upload.name) }
    try spool.submit(upload.name, as: name, by: userName(upload.user))
    submitted[name] = (upload.fingerprint, upload.user)
  }

  func isSubmitted(_ name: FileName, _ fingerprint: Fingerprint) -> Bool {
    submitted[name]?.fingerprint == fingerprint
  }

  /// Fails the callers that wait for receipts, because there will be none soon.
  func failWaiters(_ error: any Error) {
    for waiter in waiters.values.joined() { waiter.resolve(.failure(error)) }
    waiters = [:]
  }

  func wakeUp() {
    hasOwnWork = true
    connections.writer.hasOtherWork.set()
    wake.ring()
  }

  /// A bell that rings when notices may have come. It rings until it is released.
  func watchNotices() -> Bell { noticesCame.subscribe() }

  /// The same for nodes that went.
  func watchDeleted() -> Bell { nodesWent.subscribe() }
}
