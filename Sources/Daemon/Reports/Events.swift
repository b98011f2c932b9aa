internal import CascadeModel
internal import CascadeSystem
internal import SystemdService

/// The events that `events` reports: all messages of the journal, and also successful work.
///
/// The last events are kept in memory. A slow client misses older ones, and is told so.
@EventLoopActor
final class Events {
  private var kept: [JSON] = []
  private(set) var count: Int64 = 0
  private let came = Broadcast()

  /// How many events are kept: enough to look back, and little memory.
  private static let most = 1_000

  var last: JSON? { kept.last }

  /// A bell that rings when events may have come. It rings until it is released.
  func watch() -> Bell { came.subscribe() }

  /// The kept events after a number.
  func after(_ number: Int64) -> [JSON] {
    Array(kept.suffix(Int(clamping: max(0, count - number))))
  }

  /// The number after which `most` events are kept, or fewer.
  func start(_ most: Int) -> Int64 { count - Int64(min(most, kept.count)) }

  /// Reports an event to the journal and to the clients that watch events.
  func tell(
    _ priority: Log.Priority, _ id: LogMessageID, _ message: String,
    _ fields: [(LogField, String)] = [], file: String = #fileID, line: Int = #line,
    function: String = #function
  ) {
    Log.write(
      priority, message, fields: fields, messageID: id, file: file, line: line, function: function)
    add(id, priority, message, fields)
  }

  /// Reports an event only to the clients that watch events.
  func add(
    _ id: LogMessageID, _ priority: Log.Priority, _ message: String, _ fields: [(LogField, String)]
  ) {
    count += 1
    if kept.count == Events.most { kept.removeFirst(Events.most / 10) }
    let head: JSON = [
      "event": .integer(count), "at": .integer(SystemClock.wall()), "kind": .string(id.name),
      "priority": .string("\(priority)"), "message": .string(message.escapingControls()),
    ]
    guard case .object(let fixed) = head else { return }
    kept.append(.object(fixed + fields.filter { !$0.1.isEmpty }.map(Events.field)))
    came.ring()
  }

  private static func field(_ field: LogField, _ value: String) -> JSON.Field {
    JSON.Field(field.jsonName, field.isNumber ? .integer(Int64(value) ?? 0) : .string(value))
  }
}
