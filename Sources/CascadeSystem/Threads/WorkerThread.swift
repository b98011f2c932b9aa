import CascadeCSystem
internal import Synchronization

/// An executor for an actor whose work blocks, such as database access: its jobs run one after the other, on
/// one thread at a time. The thread is its own, or one of a pool.
///
///     actor Store {
///       private nonisolated let thread = WorkerThread(name: "store")
///       nonisolated var unownedExecutor: UnownedSerialExecutor { thread.executor }
///     }
package final class WorkerThread: SerialExecutor {
  private let queue: JobQueue
  private let ownPool: ThreadPool?

  /// `patience` is how long an idle thread waits for more work before it ends.
  package init(name: String, stackSize: Int = 1 << 20, patience: Duration = .seconds(3)) {
    let pool = ThreadPool(name, most: 1, stackSize: stackSize, patience: patience)
    (queue, ownPool) = (JobQueue(pool), pool)
  }

  package init(in pool: ThreadPool) { (queue, ownPool) = (JobQueue(pool), nil) }

  deinit { ownPool?.finish() }

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

/// The jobs of an executor. It outlives the executor until they have run.
final class JobQueue: Sendable {
  struct Entry: Sendable {
    let job: UnownedJob
    /// The executor that the job runs on. The reference keeps it alive until the job has run.
    let executor: WorkerThread
  }

  private struct State {
    var entries: [Entry] = []
    /// It waits for its turn, or has it.
    var isInLine = false
  }

  /// The thread that has its turn now, or 0.
  let thread = Atomic<UInt>(0)
  private let pool: ThreadPool
  private let state = Mutex(State())

  init(_ pool: ThreadPool) { self.pool = pool }

  func append(_ entry: Entry) {
    let wasInLine = state.withLock { state in
      state.entries.append(entry)
      defer { state.isInLine = true }
      return state.isInLine
    }
    if !wasInLine { pool.add(self) }
  }

  /// Runs the jobs that are there now. Returns whether others have come meanwhile.
  func takeTurn() -> Bool {
    let entries = state.withLock { state in
      defer { state.entries = [] }
      return state.entries
    }
    thread.store(UInt(cascade_thread()), ordering: .relaxed)
    for entry in entries {
      unsafe entry.job.runSynchronously(on: entry.executor.asUnownedSerialExecutor())
    }
    thread.store(0, ordering: .relaxed)
    return state.withLock { state in
      state.isInLine = !state.entries.isEmpty
      return state.isInLine
    }
  }
}
