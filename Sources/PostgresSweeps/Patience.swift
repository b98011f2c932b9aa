internal import CascadePostgres
internal import CascadeStore

/// How long a sweep lets triggers of the application keep it from what follows from others.
///
/// A row for which a trigger takes longer than `longest` is left, and so are others like it when a little more
/// than that time was spent on single rows. A later sweep has more patience, as it comes after a longer time: so in the end
/// each row goes, and others' sweeps get at least half of the time.
struct Patience {
  let longest: Duration
  private var spent = Duration.zero
  /// What made it end, by the number of the table.
  private var lastRefusals: [Int64: PostgresError] = [:]

  private static let shortest = Duration.seconds(2)
  private static let last = Duration.seconds(600)
  /// What a single row takes by right.
  private static let usual = Duration.milliseconds(200)
  /// How many rows a statement takes that may take too long for them.
  static let mostRows = 500

  /// `delay`: after which time the last sweep that left rows was to be followed by this one; nil if none
  /// has left any.
  init(after delay: Duration?) {
    let isLast = delay.map { $0 >= BlockedNodes.longestWait } ?? false
    longest = isLast ? Patience.last : max(Patience.shortest, delay ?? .zero)
  }

  private var isOver: Bool { spent >= longest + Patience.shortest * 2 }

  /// Why rows of a table are left without a try; nil if they are not.
  func end(for table: Int64) -> PostgresError? { isOver ? lastRefusals[table] : nil }

  /// Notes the time that was spent on a single row.
  mutating func note(_ time: Duration, for refusal: PostgresError?) {
    if refusal?.isPassing ?? false || time > Patience.usual { spent += time }
  }

  mutating func note(_ refusal: PostgresError, of table: Int64) {
    if refusal.isPassing { lastRefusals[table] = refusal }
  }
}
