internal import Glibc

/// Work that has a thread of its own, while its owner goes on. When this goes, it is done.
package struct BackgroundWork: ~Copyable {
  private let thread: pthread_t

  /// Nil where no thread can be started.
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
