internal import SQLiteTables
internal import SQLiteStore
internal import CascadeSystem

/// Pausing a store until an operator resumes it. Meanwhile questions are answered, leases are taken
/// and triggers are restored; nothing else is written.
extension StoreService {
  /// Pauses the store. A sweep stops after the current step, and continues after the pause.
  func pause(by user: UInt32) async throws {
    if condition.isDetached { throw StoreError.detached }
    if condition.pause != nil { return }
    let pause = OperatorPause(at: SystemClock.wall(), user: Int64(user))
    condition.pause = pause
    writer.stop()
    do {
      try await onStore { try await writer.set(pause) }
    } catch {
      condition.pause = nil
      throw error
    }
    hasUnfinishedSweep = true
    failWaiters(pause.error)
    reportPaused(by: user)
  }

  func resume(by user: UInt32) async throws {
    if condition.isDetached { throw StoreError.detached }
    if condition.pause == nil { return }
    try await onStore { try await writer.set(nil) }
    condition.pause = nil
    reportResumed(by: user)
    wakeUp()
    refreshTimetable()
  }

  /// Refuses work while the store is paused.
  func mayWork() throws {
    if let pause = condition.pause { throw pause.error }
  }
}
