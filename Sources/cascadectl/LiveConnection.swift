internal import CascadeKit
internal import CascadeModel
internal import CascadeVarlink

/// Two connections to the daemon: one for questions, one on which events arrive.
final class LiveConnection {
  private var questions: ControlClient
  private var events: ControlClient

  /// A daemon that is alive answers a question about its state much sooner.
  private static let patience = Duration.seconds(2)

  init(_ connect: () throws -> ControlClient) throws {
    questions = try connect()
    events = try connect()
    // All that the daemon still knows, and then what comes.
    try events.start("Events", ["after": 0, "follow": true])
  }

  func status() throws -> JSON { try questions.call("Status", timeout: Self.patience) }

  /// The events that have arrived, or that arrive within a time.
  func newEvents(within time: Duration = .zero) throws -> [JSON] {
    var list: [JSON] = []
    while let reply = try arrived(within: list.isEmpty ? time : .zero) {
      list += reply["events"]?.array ?? []
    }
    return list
  }

  /// The next reply with events, or nil if none arrives in time.
  private func arrived(within time: Duration) throws(VarlinkClientError) -> JSON? {
    do throws(VarlinkClientError) {
      guard let reply = try events.next(timeout: time) else { throw .disconnected }
      return reply
    } catch {
      if error == .timedOut { return nil }
      throw error
    }
  }

  /// Asks about a store. The answer may take a while in a large store.
  func ask(_ method: String, _ parameters: JSON, store: String) throws -> JSON {
    let chosen = questions.store
    questions.store = store
    defer { questions.store = chosen }
    return try questions.call(method, parameters)
  }
}
