internal import CascadeStore
internal import SystemdService

/// The rows of the journal, as `status` tells them. A server may hang, and `status` never does: after a
/// moment it tells what was read last.
@EventLoopActor
final class JournalGauge {
  private var last: ClosedRange<Int64>?
  private var isReading = false
  private let wasRead = Broadcast()

  private static let moment = Duration.milliseconds(30)

  func read(by reader: StoreReader) async -> ClosedRange<Int64>? {
    let bell = wasRead.subscribe()
    if !isReading {
      isReading = true
      Task { [weak self] in
        let rows = (try? await reader.read { try $0.journal() }) ?? nil
        self?.take(rows)
      }
    }
    _ = try? await EventLoop.limit(JournalGauge.moment) { try await bell.wait() }
    return last
  }

  private func take(_ rows: ClosedRange<Int64>?) {
    (last, isReading) = (rows, false)
    wasRead.ring()
  }
}
