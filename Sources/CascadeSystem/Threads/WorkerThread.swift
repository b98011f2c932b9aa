internal import CascadeCSystem
internal import Glibc
internal import Synchronization

/// A dedicated thread as the executor of an actor whose work blocks, such as database access. The
/// thread exists while there is work and for some seconds after that. It ends then, because a
/// sleeping thread keeps its stack and the memory that it has freed.
///
///     actor Store {
///       private nonisolated let thread = WorkerThread(name: "store")
///       nonisolated var unownedExecutor: UnownedSerialExecutor { thread.executor }
///     }
package final class WorkerThread: SerialExecutor {
  private let queue: JobQueue

  /// `patience` is how long an idle thread waits for more work before it ends.
  package init(name: String, stackSize: Int = 1 << 20, patience: Duration = .seconds(3)) {
    queue = JobQueue(name: name, stackSize: stackSize, patience: patience)
  }

  deinit { queue.finish() }

  /// For the `unownedExecutor` of an actor. The actor must own this object.
  @safe package var executor: UnownedSerialExecutor { unsafe asUnownedSerialExecutor() }

  package func enqueue(_ job: consuming ExecutorJob) {
    queue.append(JobQueue.Entry(job: UnownedJob(job), executor: self))
  }

  package func isIsolatingCurrentContext() -> Bool? {
    queue.thread.load(ordering: .relaxed) == UInt(cascade_thread())
  }

  package func checkIsolated() {
    precondition(isIsolatingCurrentContext() == true, "not on its worker thread")
  }
}

/// The state that a thread shares with its executor. It outlives the executor until the thread
/// ends.
// Unchecked, because mutable state is accessed only under `mutex`.
@safe private final class JobQueue: @unchecked Sendable {
  struct Entry {
    let job: UnownedJob
    /// The executor that the job runs on. The reference keeps it alive until the job has run.
    let executor: WorkerThread
  }

  /// The running thread, or 0 if there is none.
  let thread = Atomic<UInt>(0)
  private let name: String
  private let stackSize: Int
  private let patience: Duration
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var entries: [Entry] = []
  private var isRunning = false
  private var isFinished = false

  init(name: String, stackSize: Int, patience: Duration) {
    self.name = name
    self.stackSize = stackSize
    self.patience = patience
    unsafe pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    defer { unsafe pthread_condattr_destroy(&attributes) }
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    unsafe pthread_cond_init(condition, &attributes)
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe pthread_mutex_destroy(mutex)
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
  }

  func append(_ entry: Entry) {
    locked {
      entries.append(entry)
      if !isRunning { start() }
      isRunning = true
    }
    // After the unlock, so that the woken thread finds the mutex free.
    unsafe pthread_cond_signal(condition)
  }

  func finish() {
    locked { isFinished = true }
    unsafe pthread_cond_signal(condition)
  }

  private func locked<T>(_ body: () -> T) -> T {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return body()
  }

  // MARK: - The thread

  /// Starts the thread. If there are temporarily too many threads, tries again for five seconds,
  /// because a job can neither be dropped nor run on another thread.
  private func start() {
    for _ in 0..<500 {
      if tryToStart() { return }
      SystemClock.sleep(for: .milliseconds(10))
    }
    fatalError("cannot start a thread")
  }

  private func tryToStart() -> Bool {
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    defer { unsafe pthread_attr_destroy(&attributes) }
    unsafe pthread_attr_setstacksize(&attributes, stackSize)
    unsafe pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
    var thread = pthread_t()
    let context = unsafe Unmanaged.passRetained(self)
    let result = unsafe pthread_create(
      &thread, &attributes,
      { context in
        unsafe Unmanaged<JobQueue>.fromOpaque(context!).takeRetainedValue().run()
        return nil
      }, context.toOpaque())
    if result != 0 { unsafe context.release() }
    return result == 0
  }

  private func run() {
    // The kernel accepts at most 15 bytes.
    _ = unsafe pthread_setname_np(pthread_self(), String(name.prefix(15)))
    thread.store(UInt(cascade_thread()), ordering: .relaxed)
    while true {
      let batch = takeAll()
      if batch.isEmpty { return }
      for entry in batch {
        unsafe entry.job.runSynchronously(on: entry.executor.asUnownedSerialExecutor())
      }
    }
  }

  /// Waits for jobs and returns them. An empty result means that the thread has to end.
  private func takeAll() -> [Entry] {
    locked {
      while entries.isEmpty && !isFinished && waitForMore() {}
      defer { entries = [] }
      if entries.isEmpty {
        isRunning = false
        thread.store(0, ordering: .relaxed)
      }
      return entries
    }
  }

  /// Returns false if no signal came within `patience`.
  private func waitForMore() -> Bool {
    let microseconds = SystemClock.monotonicMicroseconds() + Int64(patience.microseconds)
    var end = timespec(
      tv_sec: Int(microseconds / 1_000_000), tv_nsec: Int(microseconds % 1_000_000) * 1_000)
    return unsafe pthread_cond_timedwait(condition, mutex, &end) != ETIMEDOUT
  }
}
