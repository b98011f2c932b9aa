internal import CascadeSystem
internal import CSystemd
internal import CascadeCSystem
internal import Glibc

/// The inotify descriptor that all watches of the same rate share. The kernel limits a user to
/// about 128 such descriptors.
@EventLoopActor
final class Inotify {
  private struct Listener {
    let events: DirectoryWatch.Events
    /// The beginning of the names whose changes it is told.
    let prefix: [UInt8]
    let bell: Bell

    func hears(_ mask: UInt32, _ name: UnsafeRawBufferPointer) -> Bool {
      let ends = UInt32(IN_DELETE_SELF | IN_MOVE_SELF)
      if mask & ends != 0 { return true }
      return unsafe mask & events.rawValue != 0 && name.starts(with: prefix)
    }
  }

  private static var all: [DirectoryWatch.Rate?: Inotify] = [:]

  private let descriptor: FileDescriptor
  private var source: EventSource?
  /// By the kernel's number of a watched directory. Several listeners may watch the same directory.
  private var listeners: [CInt: [Listener]] = [:]

  static func shared(_ rate: DirectoryWatch.Rate?) throws(SystemError) -> Inotify {
    if let one = all[rate] { return one }
    let one = try Inotify(rate)
    all[rate] = one
    return one
  }

  private init(_ rate: DirectoryWatch.Rate?) throws(SystemError) {
    let raw = try checked("inotify_init1") { inotify_init1(CInt(IN_CLOEXEC | IN_NONBLOCK)) }
    descriptor = FileDescriptor(owning: raw)
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    let source = try unsafe EventSource(raw, EPOLLIN.rawValue, context) { _, _, _, context in
      unsafe Unmanaged<Inotify>.fromOpaque(context!).takeUnretainedValue().fired()
      return 0
    }
    if let rate { try source.setRateLimit(rate.interval, burst: rate.burst) }
    self.source = source
  }

  func watch(
    _ path: String, _ events: DirectoryWatch.Events, of prefix: String, ringing bell: Bell
  ) throws(SystemError) -> CInt {
    let name = try cString(path)
    // IN_MASK_ADD: if the directory is watched already, these events are added to the others.
    let flags = UInt32(IN_ONLYDIR | IN_DELETE_SELF | IN_MOVE_SELF | IN_MASK_ADD)
    let number = try checked("inotify_add_watch", path) {
      unsafe inotify_add_watch(descriptor.raw, name, events.rawValue | flags)
    }
    listeners[number, default: []].append(
      Listener(events: events, prefix: Array(prefix.utf8), bell: bell))
    return number
  }

  func forget(_ number: CInt, _ bell: Bell) {
    listeners[number]?.removeAll { $0.bell === bell }
    guard listeners[number]?.isEmpty == true else { return }
    listeners[number] = nil
    inotify_rm_watch(descriptor.raw, number)
  }

  /// Reads only once. If events remain, the source fires again after the other sources of the loop.
  private func fired() {
    var bytes: [UInt8] = []
    guard let count = try? descriptor.read(into: &bytes, upTo: 1 << 16), count > 0 else { return }
    unsafe bytes.withUnsafeBytes { unsafe tell($0) }
  }

  private func tell(_ bytes: UnsafeRawBufferPointer) {
    var offset = 0
    while offset + MemoryLayout<inotify_event>.size <= bytes.count {
      let event = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
      offset += MemoryLayout<inotify_event>.size
      unsafe tell(event, UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + Int(event.len)]))
      offset += Int(event.len)
    }
  }

  private func tell(_ event: inotify_event, _ name: UnsafeRawBufferPointer) {
    if event.mask & UInt32(IN_Q_OVERFLOW) != 0 {
      // The queue of the kernel overflowed, so any listener may have missed an event.
      for listener in listeners.values.joined() { listener.bell.ring() }
      return
    }
    for listener in listeners[event.wd] ?? [] where unsafe listener.hears(event.mask, name) {
      listener.bell.ring()
    }
  }
}
