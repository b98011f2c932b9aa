internal import Store
internal import CascadeSystem
/// A store that is left alone until somebody says otherwise: questions are answered, leases are
/// taken, triggers are put back, and nothing else is written.
extension StoreService {
  /// A sweep ends with the step at hand, and goes on afterwards.
  func pause(by user: UInt32) async throws {
    if condition.isDetached { throw StoreError.detached }
    if condition.pause != nil { return }
    let pause = Pause(at: SystemClock.wall(), user: Int64(user))
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
    lookAtTimetable()
  }

  /// Refuses what a pause is to keep from happening.
  func mayWork() throws {
    if let pause = condition.pause { throw pause.error }
  }
}
