package import CascadeSystem
internal import CSystemd
internal import CascadeCSystem

/// Watches one descriptor with a single source, because epoll accepts a descriptor only once. One
/// task may wait for each kind of readiness. A wait may return early, but `isHungUp` is exact.
@EventLoopActor
package final class Readiness {
  package typealias Kind = FileDescriptor.Readiness

  private let bells = Kind.allCases.map { _ in Bell() }
  private var waiting: Set<Kind> = []
  private var source: EventSource?
  package private(set) var isHungUp = false

  package init(_ descriptor: borrowing FileDescriptor) throws(SystemError) {
    let number = descriptor.raw
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    source = try unsafe EventSource(number, 0, context) { _, _, events, context in
      unsafe Unmanaged<Readiness>.fromOpaque(context!).takeUnretainedValue().fired(events)
      return 0
    }
  }

  isolated deinit { close() }

  /// Call this before the descriptor is closed.
  package func close() {
    source?.close()
    source = nil
  }

  package func wait(_ kind: Kind) async throws {
    if isHungUp { return }
    waiting.insert(kind)
    defer { stopWaiting([kind]) }
    try arm()
    try await bells[kind.rawValue].wait()
  }

  private func fired(_ events: UInt32) {
    // An error without a hang-up means a pipe without readers. Both conditions are permanent and would
    // be reported again and again, so the source is closed. The next read or write returns the error.
    if events & (EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 {
      isHungUp = true
      close()
      for bell in bells { bell.ring() }
      return
    }
    let fired = waiting.filter { $0.events & events != 0 }
    // epoll reports the event until the data is read, so it is disabled until a task waits again.
    stopWaiting(fired)
    for kind in fired { bells[kind.rawValue].ring() }
  }

  private func stopWaiting(_ kinds: Set<Kind>) {
    waiting.subtract(kinds)
    // Removing events needs no memory. If it fails nevertheless, an extra wake-up is harmless.
    try? arm()
  }

  private func arm() throws(SystemError) {
    try source?.setEvents(waiting.reduce(0) { $0 | $1.events })
  }
}

extension FileDescriptor.Readiness {
  fileprivate var events: UInt32 {
    switch self {
    case .readable: EPOLLIN.rawValue
    case .writable: EPOLLOUT.rawValue
    case .hungUp: 0  // always reported
    }
  }
}
