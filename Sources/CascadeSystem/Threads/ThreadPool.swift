import CascadeCSystem
internal import Glibc

/// A few threads that take turns at the queues of very many executors (`WorkerThread`).
///
/// 1. A queue is served by one thread at a time, and goes to the end of the line after each turn.
/// 2. A thread is started where more queues wait than threads are free, up to `most`.
/// 3. A thread that had nothing to do for `patience` ends, because a sleeping one keeps its stack and the
///    memory that it has freed.
// Unchecked, because mutable state is accessed only under `mutex`.
@safe package final class ThreadPool: @unchecked Sendable {
  private let name: String
  private let most: Int
  private let stackSize: Int
  private let patience: Duration
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var waiting: [JobQueue] = []
  private var (threads, free) = (0, 0)
  private var isFinished = false

  package init(
    _ name: String, most: Int, stackSize: Int = 1 << 20, patience: Duration = .seconds(3)
  ) {
    (self.name, self.most, self.stackSize, self.patience) = (name, most, stackSize, patience)
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

  func add(_ queue: JobQueue) {
    locked {
      waiting.append(queue)
      if waiting.count > free && threads < most { start() }
    }
    // After the unlock, so that the woken thread finds the mutex free.
    unsafe pthread_cond_signal(condition)
  }

  /// The threads end as soon as nothing waits.
  func finish() {
    locked { isFinished = true }
    unsafe pthread_cond_broadcast(condition)
  }

  private func locked<T>(_ body: () -> T) -> T {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return body()
  }

  // MARK: - The threads

  /// Where no thread can be had now, those that are there do the work. Without any, one is waited for: a
  /// job can neither be dropped nor run on another thread.
  private func start() {
    while !tryToStart() && threads == 0 { SystemClock.sleep(for: .milliseconds(10)) }
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
        unsafe Unmanaged<ThreadPool>.fromOpaque(context!).takeRetainedValue().run()
        return nil
      }, context.toOpaque())
    if result == 0 { threads += 1 } else { unsafe context.release() }
    return result == 0
  }

  private func run() {
    // The kernel accepts at most 15 bytes.
    _ = unsafe pthread_setname_np(pthread_self(), String(name.prefix(15)))
    while let queue = next() {
      if queue.takeTurn() { add(queue) }
    }
  }

  /// Nil if the thread has to end.
  private func next() -> JobQueue? {
    locked {
      free += 1
      while waiting.isEmpty && !isFinished && waitForMore() {}
      free -= 1
      if waiting.isEmpty { threads -= 1 }
      return waiting.isEmpty ? nil : waiting.removeFirst()
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
