internal import CascadeSystem

#if os(Linux)
  internal import CascadeCSystem
  internal import Glibc

  /// Tells when a database or its write-ahead log is written.
  struct FileEvents: ~Copyable {
    private let descriptor: FileDescriptor

    init(_ path: String) throws { descriptor = try FileEvents.open(path) }

    private static func open(_ path: String) throws -> FileDescriptor {
      let raw = inotify_init1(CInt(IN_CLOEXEC | IN_NONBLOCK))
      if raw < 0 { throw SystemError(code: errno, call: "inotify_init1", path: path) }
      let descriptor = FileDescriptor(owning: raw)
      let slash = path.lastIndex(of: "/") ?? path.startIndex
      let directory = slash == path.startIndex ? "/" : String(path[..<slash])
      let mask = UInt32(IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_TO)
      let watch = unsafe inotify_add_watch(raw, directory, mask)
      if watch < 0 { throw SystemError(code: errno, call: "inotify_add_watch", path: directory) }
      return descriptor
    }

    /// Whether anything was written within this time. What was written is not told again.
    borrowing func wait(milliseconds: Int) throws -> Bool {
      guard try descriptor.waitBlocking(for: .readable, milliseconds: milliseconds) else {
        return false
      }
      var events: [UInt8] = []
      _ = try descriptor.read(into: &events, upTo: 1 << 16)
      return true
    }
  }
#else
  /// Looks again from time to time.
  struct FileEvents: ~Copyable {
    init(_ path: String) throws {}

    /// Whether anything may have been written.
    borrowing func wait(milliseconds: Int) throws -> Bool {
      SystemClock.sleep(for: .milliseconds(min(milliseconds, 50)))
      return true
    }
  }
#endif
