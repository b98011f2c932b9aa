package import CascadeSystem
internal import CSystemd
internal import Glibc

/// What a task can wait for. Each wait throws `CancellationError` when its task is cancelled,
/// and leaves nothing behind in the loop.
extension EventLoop {
  /// Wakes up between `duration` and `duration + tolerance` later, suspended time included. A
  /// generous tolerance lets the wake-up coincide with others.
  @EventLoopActor
  package static func sleep(for duration: Duration, tolerance: Duration = .zero) async throws {
    // For libsystemd zero means its default of 250 ms.
    let accuracy = max(1, tolerance.microseconds)
    try await unsafe ringOnce { bell throws(SystemError) in
      try unsafe EventSource("sd_event_add_time_relative") { event, source in
        unsafe sd_event_add_time_relative(
          event, &source, CLOCK_BOOTTIME, duration.microseconds, accuracy,
          { _, _, context in unsafe Bell.ring(context) }, bell)
      }
    }
  }

  /// Returns when nothing else is ready: the breather between two pieces of long work.
  @EventLoopActor
  package static func idle() async throws {
    try await unsafe ringOnce { bell throws(SystemError) in
      let source = try unsafe EventSource("sd_event_add_defer") { event, source in
        unsafe sd_event_add_defer(event, &source, { _, context in unsafe Bell.ring(context) }, bell)
      }
      try source.setPriority(SD_EVENT_PRIORITY_IDLE)
      return source
    }
  }

  /// Goes behind everybody who is ready: for loops that may find something to do again and again,
  /// and would keep the thread.
  @EventLoopActor
  package static func turn() async {
    await Task(executorPreference: shared) { @EventLoopActor in }.value
  }

  /// Waits once. Who waits often, or for several things at once, uses a `Channel`.
  @EventLoopActor
  package static func wait(
    for descriptor: borrowing FileDescriptor, _ readiness: Readiness.Kind
  ) async throws {
    let watch = try Readiness(descriptor)
    defer { watch.close() }
    try await watch.wait(readiness)
  }

  @EventLoopActor
  private static func ringOnce(
    _ start: (UnsafeMutableRawPointer) throws(SystemError) -> EventSource
  ) async throws {
    let bell = Bell()
    let source = try unsafe start(Unmanaged.passUnretained(bell).toOpaque())
    defer {
      source.close()
      extendLifetime(bell)
    }
    try await bell.wait()
  }
}

extension Bell {
  /// For callbacks of C, whose context is an unretained bell.
  static func ring(_ context: UnsafeMutableRawPointer?) -> CInt {
    unsafe Unmanaged<Bell>.fromOpaque(context!).takeUnretainedValue().ring()
    return 0
  }
}
