internal import CascadeStore
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
      if isServed { try await savePause() }
    } catch {
      condition.pause = nil
      throw error
    }
    hasUnfinishedSweep = true
    failWaiters(pause.error)
    reportPaused(by: user)
  }

  /// A store that starts or waits can be paused. One that cannot be served has nothing to pause.
  func mayBePaused() throws {
    if !isServed && !condition.isAway, let trouble = condition.trouble { throw StoreError(trouble) }
  }

  func resume(by user: UInt32) async throws {
    if condition.isDetached { throw StoreError.detached }
    guard let pause = condition.pause else { return }
    condition.pause = nil
    do {
      if isServed { try await savePause() } else { writer.goOn() }
    } catch {
      condition.pause = pause
      throw error
    }
    condition.isStarting = !hasLooked
    reportResumed(by: user)
    wakeUp()
    refreshTimetable()
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
