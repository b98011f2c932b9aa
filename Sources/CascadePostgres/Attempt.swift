internal import CPostgreSQL
internal import Glibc

/// A connection that is being made, without waiting for it.
@safe
final class Attempt {
  enum State {
    case connecting
    /// The server says what it is.
    case asking
    case done
    case failed(PostgresError)
  }

  let host: Host?
  private(set) var state = State.connecting
  /// What the server said; nil if it was not asked.
  private(set) var standing: Standing?
  private var connection: OpaquePointer?
  private var awaited = Int16(POLLOUT)

  /// What a server is.
  struct Standing {
    let isWritable: Bool
    /// 0 if the server does not know such a thing.
    let timeline: Int64
  }

  /// One `host` is asked what it is; without one, libpq chooses.
  init(_ settings: [(String, String)], at host: Host?) throws(PostgresError) {
    self.host = host
    let words = CStrings(settings.map(\.0))
    let values = CStrings(settings.map(\.1))
    unsafe connection = words.withPointers { words in
      unsafe values.withPointers { unsafe PQconnectStartParams(words, $0, 1) }
    }
    guard let connection = unsafe connection else {
      throw PostgresError(sqlState: nil, message: "out of memory", doing: "connect")
    }
    if unsafe PQstatus(connection) == CONNECTION_BAD { fail() }
  }

  deinit { unsafe PQfinish(connection) }

  /// All servers of the location.
  var hosts: [Host] { unsafe Host.all(connection!) }

  var isPending: Bool {
    switch state {
    case .connecting, .asking: true
    case .done, .failed: false
    }
  }

  var error: PostgresError? { if case .failed(let error) = state { error } else { nil } }

  private var poll: pollfd { unsafe pollfd(fd: PQsocket(connection), events: awaited, revents: 0) }

  /// The connection, which belongs to the caller from now on.
  func take() -> OpaquePointer {
    defer { unsafe connection = nil }
    return unsafe connection!
  }

  private func fail() {
    state = .failed(unsafe PostgresError(nil, connection!, doing: "connect"))
  }

  /// Goes on after its socket was found ready.
  private func goOn() {
    switch state {
    case .connecting: connect()
    case .asking: readAnswer()
    case .done, .failed: break
    }
  }

  private func connect() {
    switch unsafe PQconnectPoll(connection) {
    case PGRES_POLLING_READING: awaited = Int16(POLLIN)
    case PGRES_POLLING_WRITING: awaited = Int16(POLLOUT)
    case PGRES_POLLING_OK: if host == nil { state = .done } else { ask(Attempt.question) }
    default: fail()
    }
  }

  // MARK: - Waiting

  /// Goes on with those whose sockets are ready.
  static func wait(for attempts: [Attempt], until end: ContinuousClock.Instant) {
    let pending = attempts.filter(\.isPending)
    var polls = pending.map(\.poll)
    let left = max(1, (end - .now) / .milliseconds(1))
    if unsafe Glibc.poll(&polls, nfds_t(polls.count), CInt(min(left, 100))) <= 0 { return }
    for (attempt, poll) in zip(pending, polls) where poll.revents != 0 { attempt.goOn() }
  }

  /// Whether it has ended by then. Throws if it has failed.
  func wait(until end: ContinuousClock.Instant) throws(PostgresError) -> Bool {
    repeat { Attempt.wait(for: [self], until: end) } while isPending && ContinuousClock.now < end
    if let error { throw error }
    return !isPending
  }

  // MARK: - What the server is

  private static let isWritable =
    "NOT pg_is_in_recovery() AND NOT current_setting('transaction_read_only')::boolean"

  /// A standby writes no log, and has no position in it.
  private static let question = """
    SELECT \(isWritable), CASE WHEN NOT pg_is_in_recovery() THEN \(Server.timeline) ELSE 0 END
    """

  /// Servers that are not PostgreSQL may have no log.
  private static let simpleQuestion =
    "SELECT NOT current_setting('transaction_read_only')::boolean, 0"

  private func ask(_ question: String) {
    awaited = Int16(POLLIN)
    state = .asking
    if unsafe PQsendQuery(connection, question) == 0 { fail() }
  }

  private func readAnswer() {
    if unsafe PQconsumeInput(connection) == 0 { return fail() }
    if unsafe PQisBusy(connection) == 1 { return }
    let result = unsafe PQgetResult(connection)
    defer { unsafe PQclear(result) }
    let error = unsafe PostgresError(result, connection!, doing: "connect")
    let rows =
      unsafe PQresultStatus(result) == PGRES_TUPLES_OK ? unsafe Rows(result!).rows : []
    while let rest = unsafe PQgetResult(connection) { unsafe PQclear(rest) }
    if let row = rows.first {
      standing = Standing(isWritable: row[0] == "t", timeline: Int64(row[1] ?? "") ?? 0)
      state = .done
    } else if error.isCancelled {
      // The role may have a `statement_timeout` that is shorter than this takes.
      ask(Attempt.question)
    } else if error.isAboutTheStatement {
      ask(Attempt.simpleQuestion)
    } else {
      state = .failed(error)
    }
  }
}
