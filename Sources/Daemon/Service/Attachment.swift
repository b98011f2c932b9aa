internal import CascadeModel
internal import Store
internal import CascadeSystem
/// Which file is served, and whether it is.
extension StoreService {
  /// Does something with the store, on the file that is there now.
  func onStore<T: Sendable>(_ body: () async throws -> T) async throws -> T {
    do {
      let result = try await body()
      // One that was away for a while is back.
      if areReadersClosed && !condition.isDetached { await openReaders() }
      return result
    } catch let error where error is FileReplaced || Writer.mayOnlyRead(error) {
      try await takeUpFile(closing: !(error is FileReplaced))
      return try await body()
    } catch is CancellationError where !Task.isCancelled {
      throw condition.pause?.error ?? StoreError("stopped by a reload; it goes on by itself")
    }
  }

  /// The readers first: closing a file drops the locks that this process has on it, whoever took
  /// them, and what SQLite keeps beside the old one may have the names of the new one's.
  private func takeUpFile(closing isClosing: Bool) async throws {
    await closeReaders(StoreError("\(configuration.path) is another file now: try again"))
    if isClosing { await writer.close() }
    if let standing = try await writer.reopen() {
      condition.forget()
      try await keepPause()
      lookAtTimetable(forgetting: true)
      reportReplaced(standing)
      // A backup may be of the midst of a sweep.
      hasUnfinishedSweep = true
      wakeUp()
    }
    await openReaders()
  }

  /// Whoever paused the store to put another file in its place wants that one to be left alone too.
  private func keepPause() async throws {
    guard let pause = condition.pause else {
      condition.pause = try await writer.standingPause()
      return
    }
    try await writer.set(pause)
  }

  private func closeReaders(_ reason: StoreError) async {
    areReadersClosed = true
    for reader in connections.readers { await reader.close(because: reason) }
    connections.closeFetcher(because: reason)
  }

  private func openReaders() async {
    areReadersClosed = false
    for reader in connections.readers { await reader.allow() }
    let fetcher = connections.fetcher
    Task { await fetcher.allow() }
  }

  /// Where what dangles has never been looked for, it is now.
  func attach(createIndexes: Bool, by user: UInt32) async throws -> AttachReport {
    let report = try await onStore { try await writer.attach(createIndexes: createIndexes) }
    condition.isDetached = false
    await openReaders()
    lookAtTimetable(forgetting: true)
    reportAttached(report, by: user)
    try await lookAtStore()
    wakeUp()
    return report
  }

  /// Nothing of ours is left, in the log neither.
  func detach(by user: UInt32) async throws -> Detached {
    let wasDetached = condition.isDetached
    condition.isDetached = true
    // Nobody reads tables that are going.
    await closeReaders(.detached)
    await letFilesGo()
    do {
      let removed = try await onStore { try await writer.detach() }
      if !wasDetached { await becomeDetached(by: user) }
      return removed
    } catch {
      condition.isDetached = wasDetached
      if !wasDetached { await openReaders() }
      throw error
    }
  }

  /// Afterwards nobody knows what is to go. Where it is paused, nothing is moved.
  private func letFilesGo() async {
    if condition.pause != nil { return }
    retriesFiles = true
    _ = try? await tendFiles()
  }

  private func becomeDetached(by user: UInt32) async {
    condition.forget()
    condition.trouble = nil
    // Its numbers begin anew.
    retriesFiles = true
    // The store has forgotten it too.
    condition.pause = nil
    reportDetached(by: user)
    failWaiters(StoreError.detached)
    heldLeases.ring()
    // Where the file had been replaced, they were opened again.
    await closeReaders(.detached)
    noticesCame.ring()
    // Who copies the file alone has all of it; where somebody reads, it gives way.
    try? await writer.finish()
  }
}
