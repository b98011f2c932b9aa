internal import Glibc
internal import Synchronization

/// What the connections of this process to one database have in common: the server that was chosen for
/// all of them, and that they can be ended together.
package final class Server: Sendable {
  private struct State {
    /// Copies of the sockets' descriptors, by the numbers of the connections.
    var sockets: [Int: CInt] = [:]
    var lastNumber = 0
    /// Connections up to this one were ended, and why.
    var ended = (last: 0, reason: "")
    /// Nil if the location names one server, or none was found yet.
    var host: Host?
    var timeline: Int64?
    var isOfSeveral = false
  }

  package let location: Location

  /// In SQL, the timeline of what a primary writes now.
  package static let timeline =
    "('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint"

  private let state = Mutex(State())

  private static let all = Mutex<[String: Server]>([:])

  private init(_ location: Location) { self.location = location }

  package static func of(_ location: Location) -> Server {
    all.withLock { all in
      let server = all[location.uri] ?? Server(location)
      all[location.uri] = server
      return server
    }
  }

  /// That of the server that was chosen among several.
  package var chosenTimeline: Int64? { state.withLock { $0.timeline } }

  /// Whether there are connections, and it is clear to which server.
  package var isInUse: Bool {
    state.withLock { !$0.sockets.isEmpty && ($0.host != nil || !$0.isOfSeveral) }
  }

  // MARK: - Choosing

  /// A connection to the server that was chosen. One that is `searching` chooses the server that can be
  /// written to.
  package func open(_ name: String, searching: Bool = false) throws(PostgresError) -> Session {
    let session = Session(try connect(name, searching: searching), of: self)
    try session.endTimeLimits()
    return session
  }

  private func connect(_ name: String, searching: Bool) throws(PostgresError) -> Attempt {
    let (host, known) = state.withLock { ($0.host, $0.timeline) }
    let connecting = Connecting(location.uri, name, known: known)
    if let host, !searching { return try connecting.open(host) }
    let attempt = try connecting.open()
    if let host = attempt.host { choose(host, attempt.standing?.timeline) }
    return attempt
  }

  /// A connection that is being made to the server that was chosen.
  func begin(_ name: String) throws(PostgresError) -> Attempt {
    let (host, known) = state.withLock { ($0.host, $0.timeline) }
    return try Connecting(location.uri, name, known: known).begin(host)
  }

  /// Connections to another server are of no use any more.
  private func choose(_ host: Host, _ timeline: Int64?) {
    let isOther = state.withLock { $0.host != nil && $0.host != host }
    if isOther { end(because: "\(host) is the primary now") }
    state.withLock { ($0.host, $0.timeline, $0.isOfSeveral) = (host, timeline, true) }
  }

  /// The server that was promoted meanwhile, if the location names one: another one than that which was
  /// chosen, with a higher timeline. It answers within the limit.
  package func successor(
    of timeline: Int64, within limit: Duration = .seconds(5)
  ) -> String? {
    guard let host = state.withLock({ $0.host }) else { return nil }
    let connecting = Connecting(location.uri, nil, known: timeline)
    guard let found = try? connecting.find(but: host, within: limit),
      let standing = found.standing, standing.isWritable, standing.timeline > timeline
    else { return nil }
    return found.host?.description
  }

  // MARK: - Ending

  /// Ends all connections, also those whose threads wait for an answer. The next one chooses anew.
  package func end(because reason: String) {
    state.withLock { state in
      for socket in state.sockets.values { shutdown(socket, CInt(SHUT_RDWR)) }
      state.ended = (state.lastNumber, reason)
      state.host = nil
    }
  }

  /// Why a connection was ended; nil if it was not.
  func reasonOfEnd(of number: Int) -> String? {
    state.withLock { number <= $0.ended.last ? $0.ended.reason : nil }
  }

  /// A copy stays the same socket, whatever happens to the descriptor.
  func add(_ socket: CInt) -> Int {
    state.withLock { state in
      state.lastNumber += 1
      state.sockets[state.lastNumber] = fcntl(socket, F_DUPFD_CLOEXEC, 0)
      return state.lastNumber
    }
  }

  func remove(_ number: Int) {
    state.withLock { state in
      if let socket = state.sockets.removeValue(forKey: number) { close(socket) }
    }
  }
}
