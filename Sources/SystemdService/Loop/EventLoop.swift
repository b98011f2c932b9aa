internal import CSystemd
internal import CascadeCSystem
internal import CascadeSystem
internal import Glibc
internal import Synchronization

/// The event loop of the process. It is libsystemd's event loop, used as the executor of all async
/// code.
///
/// Swift's own executors keep a pool of threads that wakes up every second. Here one thread serves
/// timers, descriptors, signals and tasks. When idle, it sleeps in epoll_wait.
@safe package final class EventLoop: SerialExecutor, TaskExecutor {
  package static let shared = EventLoop()

  // Once the loop runs, only its thread uses this. All code that uses it is isolated to EventLoopActor.
  nonisolated(unsafe) let event: OpaquePointer
  private let wakeup: FileDescriptor
  private let jobs = Mutex<[UnownedJob]>([])
  private let thread = Atomic<UInt>(0)

  private init() {
    do {
      wakeup = try Self.makeEventCounter()
      unsafe event = try Self.makeEvent()
      try addWakeupSource()
      try makeTimers()
    } catch {
      fatalError("cannot create the event loop: \(error)")
    }
  }

  /// Runs the loop on this thread until `body` returns, and returns the exit status that `body`
  /// gave. Only one call is allowed in a process. A program calls it on the main thread.
  package static func run(_ body: @escaping @Sendable @EventLoopActor () async -> CInt) -> CInt {
    let loop = shared
    let (first, _) = loop.thread.compareExchange(
      expected: 0, desired: UInt(cascade_thread()), ordering: .sequentiallyConsistent)
    precondition(first, "the event loop runs once in a process")
    // Errors are ignored: there may be no service manager, or one that sets WATCHDOG_USEC="".
    _ = unsafe sd_event_set_watchdog(loop.event, 1)
    Task(executorPreference: loop) { await loop.finish(after: body) }
    let status = unsafe sd_event_loop(loop.event)
    if status >= 0 { return status }
    Log.write(
      .critical, "the event loop ended: \(SystemError(code: -status, call: "sd_event_loop"))")
    return EX_OSERR
  }

  @EventLoopActor
  private func finish(after body: @Sendable @EventLoopActor () async -> CInt) async {
    let status = await body()
    unsafe sd_event_exit(event, status)
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let wasEmpty = jobs.withLock { jobs in
      defer { jobs.append(job) }
      return jobs.isEmpty
    }
    if wasEmpty { eventfd_write(wakeup.raw, 1) }
  }

  /// Jobs that are enqueued meanwhile run in the next iteration of the loop, so that descriptors
  /// and timers are served in between.
  private func runPendingJobs() {
    var count: eventfd_t = 0
    unsafe eventfd_read(wakeup.raw, &count)
    let ready = jobs.withLock { jobs in
      defer { jobs.removeAll(keepingCapacity: false) }
      return jobs
    }
    for job in ready {
      unsafe job.runSynchronously(
        isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    }
  }

  package func isIsolatingCurrentContext() -> Bool? {
    thread.load(ordering: .relaxed) == UInt(cascade_thread())
  }

  package func checkIsolated() {
    precondition(isIsolatingCurrentContext() == true, "not on the event loop")
  }

  private static func makeEvent() throws(SystemError) -> OpaquePointer {
    var event: OpaquePointer?
    try unsafe checkedReturn("sd_event_new", sd_event_new(&event))
    return unsafe event!
  }

  private static func makeEventCounter() throws(SystemError) -> FileDescriptor {
    let raw = try checked("eventfd") { eventfd(0, CInt(EFD_NONBLOCK | EFD_CLOEXEC)) }
    return FileDescriptor(owning: raw)
  }

  private func addWakeupSource() throws(SystemError) {
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    // The source is not kept, because the loop lives as long as the process.
    try unsafe checkedReturn(
      "sd_event_add_io",
      sd_event_add_io(
        event, nil, wakeup.raw, EPOLLIN.rawValue,
        { _, _, _, context in
          unsafe Unmanaged<EventLoop>.fromOpaque(context!).takeUnretainedValue().runPendingJobs()
          return 0
        }, context))
  }
}

extension EventLoop {
  /// Makes libsystemd open the descriptors of the clocks now, by a first timer of each clock. Later
  /// no descriptor might be available, and then the loop would end.
  private func makeTimers() throws(SystemError) {
    for clock in [CLOCK_BOOTTIME, CLOCK_MONOTONIC] {
      var source: OpaquePointer?
      try unsafe checkedReturn(
        "sd_event_add_time",
        sd_event_add_time(event, &source, clock, .max, 0, { _, _, _ in 0 }, nil))
      unsafe sd_event_source_disable_unref(source)
    }
  }
}

/// Isolation to the thread of the event loop.
@globalActor
package actor EventLoopActor {
  package static let shared = EventLoopActor()
  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe EventLoop.shared.asUnownedSerialExecutor()
  }
}
