internal import Glibc

/// Work on a thread of its own, while the owner continues. The destruction of this value waits
/// until the work is done.
package struct BackgroundWork: ~Copyable {
  private let thread: pthread_t

  /// nil if no thread can be started.
  package init?(_ body: @escaping @Sendable () -> Void) {
    let work = unsafe Unmanaged.passRetained(Work(body))
    var thread = pthread_t()
    let result = unsafe pthread_create(
      &thread, nil,
      { work in
        unsafe Unmanaged<Work>.fromOpaque(work!).takeRetainedValue().body()
        return nil
      }, work.toOpaque())
    if result != 0 {
      unsafe work.release()
      return nil
    }
    self.thread = thread
  }

  deinit { pthread_join(thread, nil) }
}

private final class Work: Sendable {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
