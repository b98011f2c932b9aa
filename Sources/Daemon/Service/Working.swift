internal import CascadeModel
internal import Spool
internal import Store
internal import CascadeSystem
/// The work of a store: its queue, and what others committed.
extension StoreService {
  func work() async {
    var backoff = Backoff()
    while !Task.isCancelled {
      do {
        try await beginToServe()
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
    try await keepSpool()
    while !Task.isCancelled && !condition.isAtRest {
      try await goOn()
      try await lookAtStore()
      let (step, holds, pause) = try await onStore { try await writer.step() }
      guard case .worked(let outcomes) = step else { break }
      recover()
      tally.add(holds)
      for outcome in outcomes { publish(outcome) }
      noteCommit()
      try await tendFiles()
      if let pause { try await EventLoop.sleep(for: pause) }
    }
    if condition.isAtRest { return try await keepWatching() }
    try await tendFiles()
    try await onStore { try await writer.tidy() }
    recover()
  }

  /// A pause is for migrations, too: what these took from our triggers is put back.
  private func keepWatching() async throws {
    if !condition.isDetached { try await onStore { try await writer.followSchema() } }
  }

  private func recover() {
    if condition.trouble == nil { return }
    condition.trouble = nil
    tell(.notice, .recovered, "works again")
  }

  /// Nothing was lost: the files are still in the queue.
  private func pause(after error: any Error, _ backoff: inout Backoff) async {
    // What was under way when it was detached or paused needs no second try.
    if condition.isAtRest { return }
    let text = "\(error)"
    if condition.trouble != text {
      condition.trouble = text
      tell(.warning, .trouble, "\(text); trying again", [(.reason, text)])
      tellOpening()
    }
    // What is wrong with the store itself may stay so for days.
    if error is StoreError || Writer.isDamage(error) {
      failWaiters(StoreError("\(text); what was sent waits in the spool"))
    }
    try? await EventLoop.sleep(for: backoff.next())
  }

  private func publish(_ outcome: Inbox.Outcome) {
    tally.add(outcome.receipt)
    report(outcome, submittedBy: submitted.removeValue(forKey: outcome.name)?.user)
    if outcome.receipt.notices > 0 { noticesCame.ring() }
    for waiter in waiters.removeValue(forKey: outcome.name) ?? [] {
      waiter.settle(.success(outcome.receipt))
    }
  }

  // MARK: - Submitting

  /// Waits for what becomes of a file that is put into the queue by `enqueue`.
  func settle(_ name: FileName, enqueue: () throws -> Void) async throws -> Receipt {
    try enqueue()
    let waiter = Promise<Receipt>()
    waiters[name, default: []].append(waiter)
    defer { waiters[name]?.removeAll { $0 === waiter } }
    wake.ring()
    return try await waiter.value()
  }

  /// Puts an upload into the queue, if it is not there since somebody sent the same before.
  func submit(_ upload: Uploads.Upload, as name: FileName) throws {
    if isSubmitted(name, upload.fingerprint) { return try spool.dropUpload(upload.name) }
    try spool.submit(upload.name, as: name, by: userName(upload.user))
    submitted[name] = (upload.fingerprint, upload.user)
  }

  func isSubmitted(_ name: FileName, _ fingerprint: Fingerprint) -> Bool {
    submitted[name]?.fingerprint == fingerprint
  }

  /// Nobody learns soon what becomes of the files that wait.
  func failWaiters(_ error: any Error) {
    for waiter in waiters.values.joined() { waiter.settle(.failure(error)) }
    waiters = [:]
  }

  func wakeUp() { wake.ring() }

  /// Rings for each notice that may have come, as long as the bell lives.
  func watchNotices() -> Bell { noticesCame.subscribe() }
}
