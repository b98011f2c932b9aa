internal import CSystemd
internal import Glibc
internal import Synchronization

/// A thread of its own as the executor of an actor whose work blocks, such as a database's. It
/// sleeps on a condition variable while there is nothing to do, and ends with its last owner.
///
///     actor Store {
///       private nonisolated let thread: WorkerThread
///       nonisolated var unownedExecutor: UnownedSerialExecutor { thread.executor }
///     }
package final class WorkerThread: SerialExecutor {
  private let queue = JobQueue()

  package init(name: String, stackSize: Int = 1 << 20) throws(SystemError) {
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    defer { unsafe pthread_attr_destroy(&attributes) }
    unsafe pthread_attr_setstacksize(&attributes, stackSize)
    unsafe pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
    try start(name, &attributes)
  }

  deinit { queue.finish() }

  /// For the `unownedExecutor` of an actor, which must own the thread.
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

  private func start(_ name: String, _ attributes: inout pthread_attr_t) throws(SystemError) {
    var thread = pthread_t()
    let context = unsafe Unmanaged.passRetained(queue)
    let result = unsafe pthread_create(
      &thread, &attributes,
      { context in
        unsafe Unmanaged<JobQueue>.fromOpaque(context!).takeRetainedValue().run()
        return nil
      }, context.toOpaque())
    if result != 0 {
      unsafe context.release()
      throw SystemError(code: result, call: "pthread_create")
    }
    // The kernel keeps 15 bytes of a name.
    _ = unsafe pthread_setname_np(thread, String(name.prefix(15)))
  }
}

/// What a worker thread shares with its executor. It outlives the executor by the thread's last
/// steps.
// Unchecked: `entries` and `isFinished` are touched under `mutex` only.
@safe private final class JobQueue: @unchecked Sendable {
  struct Entry {
    let job: UnownedJob
    /// The job runs on the executor, which therefore must outlive it.
    let executor: WorkerThread
  }

  let thread = Atomic<UInt>(0)
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var entries: [Entry] = []
  private var isFinished = false

  init() {
    unsafe pthread_mutex_init(mutex, nil)
    unsafe pthread_cond_init(condition, nil)
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe pthread_mutex_destroy(mutex)
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
  }

  func append(_ entry: Entry) {
    unsafe pthread_mutex_lock(mutex)
    entries.append(entry)
    unsafe pthread_cond_signal(condition)
    unsafe pthread_mutex_unlock(mutex)
  }

  func finish() {
    unsafe pthread_mutex_lock(mutex)
    isFinished = true
    unsafe pthread_cond_signal(condition)
    unsafe pthread_mutex_unlock(mutex)
  }

  func run() {
    thread.store(UInt(cascade_thread()), ordering: .relaxed)
    while true {
      let batch = takeAll()
      if batch.isEmpty { return }
      for entry in batch {
        unsafe entry.job.runSynchronously(on: entry.executor.asUnownedSerialExecutor())
      }
    }
  }

  /// Sleeps until there are jobs; none means that there will be no more.
  private func takeAll() -> [Entry] {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while entries.isEmpty && !isFinished { unsafe pthread_cond_wait(condition, mutex) }
    defer { entries = [] }
    return entries
  }
}
