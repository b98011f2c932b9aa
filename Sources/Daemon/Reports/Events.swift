internal import CascadeModel
internal import CascadeSystem
/// What happened, for those who watch (`events`): the same that the journal is told, and what
/// went as it should.
///
/// The last of them are kept, in memory: who is slower than that misses some, and is told so.
@EventLoopActor
final class Events {
  private var kept: [JSON] = []
  private(set) var count: Int64 = 0
  private let came = Broadcast()

  /// Enough for a look back, little for a daemon's memory.
  private static let most = 1_000

  var last: JSON? { kept.last }

  /// Rings for each event that may have come, as long as the bell lives.
  func watch() -> Bell { came.subscribe() }

  /// Those that are kept and came after a number.
  func after(_ number: Int64) -> [JSON] {
    Array(kept.suffix(Int(clamping: max(0, count - number))))
  }

  /// The number behind which so many are kept, or fewer.
  func start(_ most: Int) -> Int64 { count - Int64(min(most, kept.count)) }

  /// To the journal, and to those who watch.
  func tell(
    _ priority: Log.Priority, _ id: LogMessageID, _ message: String,
    _ fields: [(LogField, String)] = [], file: String = #fileID, line: Int = #line,
    function: String = #function
  ) {
    Log.write(
      priority, message, fields: fields, messageID: id, file: file, line: line, function: function)
    add(id, priority, message, fields)
  }

  /// To those who watch alone.
  func add(
    _ id: LogMessageID, _ priority: Log.Priority, _ message: String, _ fields: [(LogField, String)]
  ) {
    count += 1
    if kept.count == Events.most { kept.removeFirst(Events.most / 10) }
    let head: JSON = [
      "event": .integer(count), "at": .integer(SystemClock.wall()), "kind": .string(id.name),
      "priority": .string("\(priority)"), "message": .string(message),
    ]
    guard case .object(let fixed) = head else { return }
    kept.append(.object(fixed + fields.filter { !$0.1.isEmpty }.map(Events.field)))
    came.ring()
  }

  private static func field(_ field: LogField, _ value: String) -> JSON.Field {
    JSON.Field(field.jsonName, field.isNumber ? .integer(Int64(value) ?? 0) : .string(value))
  }
}
