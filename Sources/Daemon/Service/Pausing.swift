internal import CascadeStore
internal import CascadeSystem

/// Pausing a store until an operator resumes it. Meanwhile questions are answered and leases are
/// taken, for which the store is opened for a moment; nothing else is done.
extension StoreService {
  /// Pauses the store. A sweep stops after the current step, and continues after the pause.
  func pause(by user: UInt32) async throws {
    if condition.isDetached { throw StoreError.detached }
    if condition.pause != nil { return }
    try await set(OperatorPause(at: SystemClock.wall(), user: Int64(user)))
    reportPaused(by: user)
  }

  private func set(_ pause: OperatorPause) async throws {
    let before = condition.pause
    condition.pause = pause
    writer.stop()
    do {
      if isServed { try await savePause() }
    } catch {
      condition.pause = before
      throw error
    }
    hasUnfinishedSweep = true
    failWaiters(pause.error)
    await followRest()
  }

  /// A store that starts or waits can be paused. One that cannot be served has nothing to pause.
  func mayBePaused() throws {
    if !isServed && !condition.isAway, let trouble = condition.trouble { throw StoreError(trouble) }
  }

  func resume(by user: UInt32) async throws {
    if condition.isDetached { throw StoreError.detached }
    guard let pause = condition.pause else { return }
    if pause.isForMigration { throw pause.error }
    try await end(pause, by: user)
    wakeUp()
    refreshTimetable()
  }

  private func end(_ pause: OperatorPause, by user: UInt32) async throws {
    condition.pause = nil
    hasAnnouncedJournal = false
    announceJournalMode()
    do {
      if isServed { try await savePause() } else { writer.goOn() }
    } catch {
      condition.pause = pause
      throw error
    }
    condition.isStarting = !hasLooked
    await followRest()
    reportResumed(by: user)
  }

  // MARK: - Migrations

  /// Pauses the store, and drops the triggers that would keep the application from rebuilding its
  /// tables. A pause becomes a migration.
  func beginMigration(by user: UInt32) async throws {
    if condition.isDetached { throw StoreError.detached }
    if condition.pause?.isForMigration == true { return }
    let wasPaused = condition.pause != nil
    try await set(
      OperatorPause(at: SystemClock.wall(), user: Int64(user), isForMigration: true))
    if !wasPaused { reportPaused(by: user) }
  }

  /// Creates what is missing, and looks through the tables whose changes were not seen. Without a
  /// migration it does the same.
  func endMigration(by user: UInt32) async throws -> AttachReport {
    if condition.isDetached { throw StoreError.detached }
    if let pause = condition.pause, pause.isForMigration { try await end(pause, by: user) }
    try mayWork()
    return try await attach(AttachOptions(), by: user)
  }

  /// Keeps the pause, or its end, in the store. What was stopped has ended by then.
  func savePause() async throws {
    let pause = condition.pause
    try await onStore { try await writer.set(pause) }
  }

  /// Refuses work while the store is paused.
  func mayWork() throws {
    if let pause = condition.pause { throw pause.error }
  }
}
