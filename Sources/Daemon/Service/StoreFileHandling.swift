internal import CascadeStore
internal import CascadeModel
internal import SystemdService

/// Which file is served, and whether the store is attached.
extension StoreService {
  /// Runs `body` on the store's current file. If the file was replaced, opens the new one first.
  func onStore<T: Sendable>(_ body: () async throws -> T) async throws -> T {
    try await inTurn { try await onOpenStore(body) }
  }

  private func onOpenStore<T: Sendable>(_ body: () async throws -> T) async throws -> T {
    do {
      let result = try await body()
      // The file was missing for a while and is back.
      if areReadersClosed && !condition.isDetached { await openReaders() }
      return result
    } catch let error where error is FileReplaced || stores.engine.endsByReopening(error) {
      let isClosing = !(error is FileReplaced)
      if configuration.isFile {
        try await openReplacedFile(closing: isClosing)
      } else {
        try await connectAgain(closing: isClosing)
      }
      return try await body()
    } catch is CancellationError where !Task.isCancelled {
      throw condition.pause?.error ?? StoreError("stopped by a reload; it continues automatically")
    }
  }

  /// Opens the file that is there now. The readers are closed first, for two reasons. Closing a
  /// file drops all locks that this process has on it, whichever connection took them. And the
  /// files that SQLite keeps beside the old database may have the same names as the new one's.
  private func openReplacedFile(closing isClosing: Bool) async throws {
    await closeReaders(StoreError("\(configuration.path) was replaced by another file: try again"))
    if isClosing { await writer.close() }
    if let standing = try await writer.reopen() {
      condition.clearFindings()
      try await carryOverPause()
      refreshTimetable(forgetting: true)
      reportReplaced(standing)
      // A backup may have been made in the middle of a sweep.
      hasUnfinishedSweep = true
      wakeUp()
    }
    await openReaders()
  }

  /// The connection to a server was lost, perhaps in the middle of a sweep. The readers make theirs
  /// again by themselves.
  private func connectAgain(closing isClosing: Bool) async throws {
    if isClosing { await writer.close() }
    hasUnfinishedSweep = true
    _ = try await writer.reopen()
    try await carryOverPause()
    tell(.notice, .recovered, "the connection to the database was lost, and is there again")
  }

  /// A pause also holds for a file that replaces the paused one. Without a pause, takes over the
  /// one that the new file has.
  private func carryOverPause() async throws {
    guard let pause = condition.pause else {
      condition.pause = try await writer.storedPause()
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
    let fetcher = connections.queryReader
    Task { await fetcher.allow() }
  }

  /// Attaches the store. If it was never searched for dangling references, that is done now.
  func attach(_ options: AttachOptions, by user: UInt32) async throws -> AttachReport {
    announceJournalMode()
    let report = try await onStore { try await writer.attach(options) }
    condition.isDetached = false
    await openReaders()
    await followRest()
    refreshTimetable(forgetting: true)
    reportAttached(report, by: user)
    try await reviewStore()
    wakeUp()
    return report
  }

  /// Makes roots of files this store's, and does what waited for that.
  func takeRoots(_ names: [String]) async throws -> [TakenRoot] {
    try mayWork()
    let taken = try await onStore { try await writer.takeRoots(names) }
    await moveWaitingFiles()
    return taken
  }

  /// Removes everything of Cascade's from the store, and from its write-ahead log.
  func detach(by user: UInt32) async throws -> DetachReport {
    let wasDetached = condition.isDetached
    condition.isDetached = true
    // No reader may use the tables that are being removed.
    await closeReaders(.detached)
    await moveWaitingFiles()
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

  /// Moves the files that wait to be moved, because after the detachment nothing lists them. While
  /// the store is paused, nothing is moved.
  private func moveWaitingFiles() async {
    if condition.pause != nil { return }
    retriesFiles = true
    _ = try? await moveUnreferencedFiles()
  }

  private func becomeDetached(by user: UInt32) async {
    condition.clearFindings()
    condition.trouble = nil
    // The numbers of the store begin anew.
    retriesFiles = true
    // The store no longer has the pause either.
    condition.pause = nil
    reportDetached(by: user)
    failWaiters(StoreError.detached)
    heldLeases.ring()
    // If the file had been replaced, the readers were opened again.
    await closeReaders(.detached)
    noticesCame.ring()
    nodesWent.ring()
    // Moves the log into the database file, so that a copy of the file alone is complete. If a
    // reader prevents that, it is left out.
    try? await writer.tidyCompletely()
    await followRest()
  }
}

/// What else an attach creates.
struct AttachOptions: Sendable {
  var createIndexes = false
  var createConstraints = false
  var createFunctions = false
}
