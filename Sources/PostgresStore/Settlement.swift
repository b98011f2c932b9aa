internal import CascadeModel
internal import CascadePostgres
internal import CascadeStore
internal import CascadeSystem
internal import PostgresTables

/// What cannot be taken back comes after a settlement: a file is moved or removed, a change file leaves the
/// queue, a receipt is given.
///
/// What is committed is lost with the server if the standby that is promoted then does not have it. So a
/// settlement returns when a standby that could be promoted has flushed it. If that takes long, it throws,
/// and is tried again later; meanwhile the store does everything else.
struct Settlement {
  private let store: StoreConnection
  private let standbys: Standbys
  private let board: StandbyBoard
  private let timeline: Int64
  private var isRecorded: Bool

  private static let longest = Duration.seconds(1)
  private static let shortestPause = Duration.milliseconds(2)
  private static let longestPause = Duration.milliseconds(50)

  /// How long other servers may take to say that they were promoted. A host that is off for days says
  /// nothing, and is asked for each group of change files.
  private static let firstLook = Duration.seconds(5)
  private static let laterLooks = Duration.seconds(1)

  /// A standby that was there before the store was opened is known to the store, and those that its URI
  /// names are known without that.
  init(_ store: StoreConnection) throws {
    self.store = store
    standbys = Standbys(store.server.location)
    board = StandbyBoard.of(store.server)
    timeline = try Timeline.current(store)
    isRecorded = try store[meta: Settlement.key] != nil
    let isKnown = isRecorded || standbys.areNamed
    board.withMemory { [timeline] in $0.begin(on: timeline, at: .now, isKnown: isKnown) }
  }

  private static let key = "standby_seen"

  /// What the log has durably, among it each durable commit of this connection.
  static let durable = "pg_current_wal_flush_lsn()"
  /// What anybody has committed.
  static let everything = "pg_current_wal_insert_lsn()"

  /// Sees the standbys that are there.
  func begin() throws { _ = try look(Standbys.nothing) }

  func settle(upTo position: String) throws {
    let start = ContinuousClock.now
    var pause = Settlement.shortestPause
    var (sight, position) = try look(position)
    while let wait = try reasonToWait(sight) {
      if !wait.isShort || .now - start > Settlement.longest {
        throw StoreAway(wait.reason, lookAgain: .milliseconds(200))
      }
      SystemClock.sleep(for: pause)
      pause = min(pause * 2, Settlement.longestPause)
      (sight, position) = try look("\(literal(position))::pg_lsn")
    }
  }

  private func look(_ position: String) throws -> (StandbyMemory.Sight, String) {
    let seen = Standbys.sight(try store.db.run(standbys.query(upTo: position)).rows[0])
    board.withMemory { $0.see(seen.0, at: .now) }
    return seen
  }

  /// Nil if nothing has to wait. A standby that is there has it soon, as a rule. One that is away keeps the
  /// writer from nothing else.
  private func reasonToWait(
    _ sight: StandbyMemory.Sight
  ) throws -> (reason: String, isShort: Bool)? {
    let limit = store.model.limits.standby
    switch board.withMemory({ $0.judge(sight, at: .now, limit: limit) }) {
    case .settled: return nil
    case .isBehind:
      return ("no standby has yet what was committed: change files and files wait for that", true)
    case .isAway:
      let longest = limit.map { " for at most \($0 / .seconds(1)) s" } ?? ""
      let reason =
        "no standby is there that could be promoted\(sight.text): change files and files wait"
        + "\(longest) (limits.standby)"
      return (reason, false)
    case .isAlone:
      let isFirst = board.withMemory { $0.aloneSince == nil }
      try refuseSuccessor(within: isFirst ? Settlement.firstLook : Settlement.laterLooks)
      board.withMemory { $0.goOnAlone(at: .now) }
      return nil
    }
  }

  /// A server that hung goes on when it is resumed, also where its standby was promoted meanwhile.
  private func refuseSuccessor(within limit: Duration) throws {
    guard let host = store.server.successor(of: timeline, within: limit) else { return }
    let reason = "\(host) was promoted meanwhile"
    store.server.end(because: reason)
    throw PostgresError(sqlState: nil, message: reason, doing: "commit")
  }

  /// Remembers that there was a standby, for the next daemon. The pulse may have seen it.
  mutating func record() throws {
    if isRecorded || !board.withMemory({ $0.isKnown }) { return }
    try store.set(Settlement.key, 1)
    isRecorded = true
  }
}

extension StandbyMemory.Sight {
  /// The receivers of the log that do not count as standbys.
  var text: String { others.map { " (\($0) receives the log, and is none)" } ?? "" }
}
