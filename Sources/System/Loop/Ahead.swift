internal import CSystemd
internal import Glibc

/// Makes the elements of a sequence on a thread of its own, a few ahead of who takes them, so that
/// making and using overlap. One thread takes. Ends with its owner.
package final class Ahead<Element: Sendable> {
  private let shared: Shared
  private var thread = pthread_t()

  /// `make` returns nil behind the last element. It is called on the other thread only.
  package init(
    by depth: Int, _ make: sending @escaping () throws -> Element?
  ) throws(SystemError) {
    shared = Shared(depth: depth, make)
    let context = unsafe Unmanaged.passRetained(shared as AnyObject)
    let result = unsafe pthread_create(
      &thread, nil,
      { context in
        let shared = unsafe Unmanaged<AnyObject>.fromOpaque(context!).takeRetainedValue()
        (shared as? any Runnable)?.run()
        return nil
      }, context.toOpaque())
    if result != 0 {
      unsafe context.release()
      throw SystemError(code: result, call: "pthread_create")
    }
  }

  deinit {
    shared.stop()
    _ = pthread_join(thread, nil)
  }

  /// The next element, as soon as it is there; throws what `make` threw.
  package func next() throws -> Element? { try shared.take() }
}

/// So that C's callback, which cannot be generic, finds its way.
private protocol Runnable: AnyObject {
  func run()
}

extension Ahead {
  /// What both threads share.
  // Unchecked: all that changes is touched under `mutex`; `make` by the other thread only.
  @safe fileprivate final class Shared: Runnable, @unchecked Sendable {
    private let make: () throws -> Element?
    private let depth: Int
    private var ready: [Result<Element?, any Error>] = []
    private var isStopped = false
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init(depth: Int, _ make: @escaping () throws -> Element?) {
      self.depth = depth
      self.make = make
      unsafe pthread_mutex_init(mutex, nil)
      unsafe pthread_cond_init(condition, nil)
    }

    deinit {
      unsafe pthread_cond_destroy(condition)
      unsafe pthread_mutex_destroy(mutex)
      unsafe condition.deallocate()
      unsafe mutex.deallocate()
    }

    func run() {
      while true {
        let result = Result { try make() }
        var isLast = true
        if case .success(.some) = result { isLast = false }
        if !put(result) || isLast { return }
      }
    }

    /// False when nobody wants more.
    private func put(_ result: Result<Element?, any Error>) -> Bool {
      unsafe pthread_mutex_lock(mutex)
      defer { unsafe pthread_mutex_unlock(mutex) }
      while ready.count >= depth && !isStopped { unsafe pthread_cond_wait(condition, mutex) }
      ready.append(result)
      unsafe pthread_cond_signal(condition)
      return !isStopped
    }

    /// The last result stays: whoever asks again is told the same.
    func take() throws -> Element? {
      unsafe pthread_mutex_lock(mutex)
      defer { unsafe pthread_mutex_unlock(mutex) }
      while ready.isEmpty { unsafe pthread_cond_wait(condition, mutex) }
      guard case .success(let element?) = ready[0] else { return try ready[0].get() }
      ready.removeFirst()
      unsafe pthread_cond_signal(condition)
      return element
    }

    func stop() {
      unsafe pthread_mutex_lock(mutex)
      isStopped = true
      unsafe pthread_cond_signal(condition)
      unsafe pthread_mutex_unlock(mutex)
    }
  }
}
