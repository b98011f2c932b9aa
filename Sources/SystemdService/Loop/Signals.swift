package import CascadeSystem
internal import CSystemd
internal import Glibc

/// Receives signals as values. No signal is lost between two calls of `next`. Several signals of
/// the same kind may become one, as in the kernel.
@EventLoopActor
package final class Signals {
  private let bell = Bell()
  private var pending: [CInt] = []
  private var sources: [EventSource] = []

  /// Blocks the signals for this thread and all threads that it starts. Call this first in `main`,
  /// before other threads exist: if one thread does not block a signal, the signal ends the
  /// process.
  package nonisolated static func block(_ signals: [CInt]) {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for signal in signals { unsafe sigaddset(&set, signal) }
    unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  package init(_ signals: [CInt]) throws(SystemError) {
    for signal in signals { sources.append(try source(for: signal)) }
  }

  isolated deinit { for source in sources { source.close() } }

  package func next() async throws -> CInt {
    while pending.isEmpty { try await bell.wait() }
    return pending.removeFirst()
  }

  /// Nil if none is pending.
  package func takePending() -> CInt? { pending.isEmpty ? nil : pending.removeFirst() }

  private func source(for signal: CInt) throws(SystemError) -> EventSource {
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    return try unsafe EventSource("sd_event_add_signal") { event, source in
      unsafe sd_event_add_signal(
        event, &source, signal,
        { _, info, context in
          let signals = unsafe Unmanaged<Signals>.fromOpaque(context!).takeUnretainedValue()
          unsafe signals.received(CInt(info!.pointee.ssi_signo))
          return 0
        }, context)
    }
  }

  private func received(_ signal: CInt) {
    pending.append(signal)
    bell.ring()
  }
}
