internal import Glibc

/// A file on its way to the disk, while its writer goes on. It is there when this goes.
package struct BackgroundSync: ~Copyable {
  private let thread: pthread_t

  /// Nil where none can be begun. Whoever needs to know that it is there syncs it himself.
  package init?(path: String) {
    guard let file = try? FileDescriptor.open(path).release() else { return nil }
    var thread = pthread_t()
    let result = unsafe pthread_create(
      &thread, nil,
      { file in
        let file = CInt(UInt(bitPattern: file))
        fdatasync(file)
        close(file)
        return nil
      }, UnsafeMutableRawPointer(bitPattern: UInt(file)))
    if result != 0 {
      close(file)
      return nil
    }
    self.thread = thread
  }

  deinit { pthread_join(thread, nil) }
}
