internal import CascadeKit
internal import CascadeModel
internal import CascadeSystem
internal import CascadeVarlink

/// What happens now, as Server-Sent Events: `page` once, then `status` whenever it has changed, and
/// `events`. It ends, with `gone`, when the daemon does not answer; a browser tries again by itself.
final class WebLive {
  private let isReadOnly: Bool
  private let connect: () throws -> ControlClient
  private var connection: LiveConnection?
  private var shown: JSON = .null
  private var lastSent: Int64 = 0
  private var hasEnded = false

  private static let interval = Duration.milliseconds(500)
  /// So often, something is sent, so that a browser that has gone is noticed.
  private static let silence: Int64 = 5_000

  init(isReadOnly: Bool, _ connect: @escaping () throws -> ControlClient) {
    self.isReadOnly = isReadOnly
    self.connect = connect
  }

  /// The next part; nil at the end.
  func next() -> [UInt8]? {
    if hasEnded { return nil }
    do {
      if connection == nil { return try begin() }
      while true {
        if let text = try news() { return send(text) }
      }
    } catch {
      hasEnded = true
      let text = (error as? Failure)?.text ?? "the daemon has gone"
      return send(WebLive.event("gone", ["error": .string(text)]))
    }
  }

  private func begin() throws -> [UInt8] {
    connection = try LiveConnection(connect)
    return send(
      "retry: 1000\n"
        + WebLive.event(
          "page", ["readOnly": .bool(isReadOnly), "version": .string(Release.version)]))
  }

  private func news() throws -> String? {
    let isFirst = shown.isNull
    let events = try connection!.newEvents(within: isFirst ? .zero : WebLive.interval)
    let status = try connection!.status()
    var text = ""
    if !events.isEmpty { text += WebLive.event("events", ["events": .array(events)]) }
    if status != shown { text += WebLive.event("status", status) }
    shown = status
    if text.isEmpty && SystemClock.monotonic() - lastSent > WebLive.silence { return ":\n\n" }
    return text.isEmpty ? nil : text
  }

  private func send(_ text: String) -> [UInt8] {
    lastSent = SystemClock.monotonic()
    return Array(text.utf8)
  }

  private static func event(_ name: String, _ data: JSON) -> String {
    "event: \(name)\ndata: \(data.text)\n\n"
  }
}
