package import CascadeSystem
internal import CascadeCSystem

/// Watches one descriptor: one source, whatever is waited for. (epoll takes a descriptor once.)
/// One task may wait for each kind. A wait may return early; `isHungUp` is exact.
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

  /// To be called before the descriptor is closed.
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
    // An error without a hang-up is a pipe without readers. Both stay, and would be reported
    // for ever: the next read or write says what happened.
    if events & (EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 {
      isHungUp = true
      close()
      for bell in bells { bell.ring() }
      return
    }
    let fired = waiting.filter { $0.events & events != 0 }
    // Reported until it is read: nothing is asked for until somebody waits again.
    stopWaiting(fired)
    for kind in fired { bells[kind.rawValue].ring() }
  }

  private func stopWaiting(_ kinds: Set<Kind>) {
    waiting.subtract(kinds)
    // To ask for less cannot fail for want of memory; if it did, a wake-up too many is harmless.
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
