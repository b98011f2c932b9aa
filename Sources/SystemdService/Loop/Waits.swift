package import CascadeSystem
internal import CSystemd
internal import Glibc

/// What a task can wait for. Each wait throws `CancellationError` if its task is cancelled, and
/// removes its source from the loop.
extension EventLoop {
  /// Returns between `duration` and `duration + tolerance` later. Time during which the machine is
  /// suspended counts. A large tolerance lets the wake-up coincide with others.
  @EventLoopActor
  package static func sleep(for duration: Duration, tolerance: Duration = .zero) async throws {
    // libsystemd takes zero as its default of 250 ms.
    let accuracy = max(1, tolerance.microseconds)
    try await unsafe ringOnce { bell throws(SystemError) in
      try unsafe EventSource("sd_event_add_time_relative") { event, source in
        unsafe sd_event_add_time_relative(
          event, &source, CLOCK_BOOTTIME, duration.microseconds, accuracy,
          { _, _, context in unsafe Bell.ring(context) }, bell)
      }
    }
  }

  /// Returns when no other source is ready. For the pause between two parts of long work.
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

  /// Lets all other ready tasks run first. For loops that may always find more to do and would
  /// otherwise keep the thread.
  @EventLoopActor
  package static func turn() async {
    await Task(executorPreference: shared) { @EventLoopActor in }.value
  }

  /// Waits once. Use a `Channel` to wait repeatedly or for several kinds of readiness at once.
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
  /// For C callbacks whose context is an unretained bell.
  static func ring(_ context: UnsafeMutableRawPointer?) -> CInt {
    unsafe Unmanaged<Bell>.fromOpaque(context!).takeUnretainedValue().ring()
    return 0
  }
}
