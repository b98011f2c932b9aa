internal import CSystemd
internal import CascadeCSystem
internal import CascadeSystem
internal import Glibc

/// Notifies all tasks that wait by the wall clock when the clock is set.
@EventLoopActor
final class ClockWatch {
  /// nil if it cannot be made. A wait by the wall clock then notices a change of the
  /// clock only at its next wake-up.
  static let shared = try? ClockWatch()

  private let wasSet = Broadcast()
  private let descriptor: FileDescriptor
  private var source: EventSource?

  private init() throws(SystemError) {
    if let file = TestClock.file {
      descriptor = try ClockWatch.changes(of: file)
    } else {
      descriptor = try ClockWatch.untilItIsSet()
    }
    let number = descriptor.raw
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    source = try unsafe EventSource(number, EPOLLIN.rawValue, context) { _, _, _, context in
      unsafe Unmanaged<ClockWatch>.fromOpaque(context!).takeUnretainedValue().fired()
      return 0
    }
  }

  func subscribe(_ bell: Bell) { wasSet.subscribe(bell) }

  private func fired() {
    var ignored: [UInt8] = []
    while let count = try? descriptor.read(into: &ignored, upTo: 4096), count > 0 {
      ignored.removeAll(keepingCapacity: true)
    }
    wasSet.ring()
  }

  /// A timer that never expires. When the clock is set, the next read fails with ECANCELED, once.
  private static func untilItIsSet() throws(SystemError) -> FileDescriptor {
    let raw = try checked("timerfd_create") { cascade_clock_watch() }
    return FileDescriptor(owning: raw)
  }

  private static func changes(of file: String) throws(SystemError) -> FileDescriptor {
    let directory = String(file.lastIndex(of: "/").map { file[..<$0] } ?? ".")
    let name = try cString(directory)
    let raw = try checked("inotify_init1") { inotify_init1(CInt(IN_CLOEXEC | IN_NONBLOCK)) }
    let events = DirectoryWatch.Events.entries.rawValue
    _ = try checked("inotify_add_watch", directory) { unsafe inotify_add_watch(raw, name, events) }
    return FileDescriptor(owning: raw)
  }
}
