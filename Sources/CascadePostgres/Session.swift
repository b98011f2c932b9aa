internal import CPostgreSQL
internal import Glibc

/// One connection to a PostgreSQL server, used by one thread at a time.
@safe
package struct Session: ~Copyable {
  let connection: OpaquePointer
  let known = KnownStatements()
  /// A query that has a row as long as this session may write. Each transaction asks it before its
  /// commit, and so does each statement that is a transaction of its own and may write. Nil: it always
  /// may.
  package var fence: String?

  /// Ends it together with the others of its server.
  private let membership: Membership?

  /// `location` is a URI or a list of settings:
  /// https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING
  package init(_ location: String, name: String? = nil) throws(PostgresError) {
    self.init(try Connecting(location, name, known: nil).open(), of: nil)
  }

  /// One of the connections of this process to a database, unless `server` is nil.
  init(_ attempt: Attempt, of server: Server?) {
    unsafe connection = attempt.take()
    let socket = unsafe PQsocket(connection)
    membership = server.map { Membership($0, socket) }
    unsafe PQsetNoticeProcessor(connection, { _, _ in }, nil)
  }

  /// The role may have limits, which are for applications. They may be shorter than it takes to lift
  /// them.
  func endTimeLimits() throws(PostgresError) {
    for attempt in 1... {
      do throws(PostgresError) {
        return try execute(
          """
          SET statement_timeout = 0;
          SELECT set_config('transaction_timeout', '0', false)
          WHERE current_setting('transaction_timeout', true) IS NOT NULL
          """)
      } catch {
        if !error.isCancelled || attempt == Session.mostTries { throw error }
      }
    }
  }

  private static let mostTries = 1_000

  deinit { unsafe PQfinish(connection) }

  /// Runs one statement with the values of `$1`, `$2`, …
  @discardableResult
  package func run(_ sql: String, _ values: [String?] = []) throws(PostgresError) -> Rows {
    try refuseNUL(values, sql)
    return try fenced(sql) { () throws(PostgresError) in try send(sql, values) }
  }

  /// Commits what `body` does if the session may write.
  private func fenced(
    _ sql: String, _ body: () throws(PostgresError) -> Rows
  ) throws(PostgresError) -> Rows {
    if fence == nil || isInTransaction || sql.hasPrefix("SELECT") { return try body() }
    try execute("BEGIN")
    do throws(PostgresError) {
      let rows = try body()
      try commit()
      return rows
    } catch {
      try? execute("ROLLBACK")
      throw error
    }
  }

  private func send(_ sql: String, _ values: [String?]) throws(PostgresError) -> Rows {
    let result = unsafe CStrings(values).withPointers {
      unsafe PQexecParams(connection, sql, Int32(values.count), nil, $0, nil, nil, 0)
    }
    return try unsafe take(result, sql)
  }

  /// The same for a statement that comes again: the server keeps what it made of the text. If there are
  /// no values it keeps the plan, too.
  @discardableResult
  package func runAgain(_ sql: String, _ values: [String?] = []) throws(PostgresError) -> Rows {
    if values.isEmpty, let answer = known.answers.removeValue(forKey: sql) { return answer }
    try refuseNUL(values, sql)
    let name = try prepare([sql])[0]
    return try fenced(sql) { () throws(PostgresError) in
      let result = unsafe CStrings(values).withPointers {
        unsafe PQexecPrepared(connection, name, Int32(values.count), $0, nil, nil, 0)
      }
      return try unsafe take(result, sql)
    }
  }

  /// Returns the names of prepared statements.
  func prepare(_ texts: [String]) throws(PostgresError) -> [String] {
    let new = texts.count { known.names[$0] == nil }
    if known.names.count + new > KnownStatements.most {
      try execute("DEALLOCATE ALL")
      known.names = [:]
    }
    var names: [String] = []
    for text in texts { names.append(try prepare(text)) }
    return names
  }

  private func prepare(_ sql: String) throws(PostgresError) -> String {
    if let name = known.names[sql] { return name }
    let name = "cascade_\(known.names.count)"
    _ = try unsafe take(unsafe PQprepare(connection, name, sql, 0, nil), sql)
    known.names[sql] = name
    return name
  }

  /// Whether statements were prepared or removed by others than this session. Then it forgets all of them.
  package func areStatementsForeign() throws(PostgresError) -> Bool {
    let count = try send(
      """
      SELECT count(*) FILTER (WHERE NOT from_sql), count(*) FILTER (WHERE from_sql)
      FROM pg_catalog.pg_prepared_statements
      """, []
    ).rows[0]
    if count == ["\(known.names.count)", "0"] { return false }
    try execute("DEALLOCATE ALL")
    known.names = [:]
    return true
  }

  func refuseNUL(_ values: [String?], _ sql: String) throws(PostgresError) {
    if values.contains(where: { $0?.utf8.contains(0) ?? false }) {
      throw PostgresError(
        sqlState: "22021", message: "a text may not contain the character NUL", doing: sql)
    }
  }

  /// Runs statements, separated by semicolons. Without a transaction they are one.
  package func execute(_ script: String) throws(PostgresError) {
    _ = try unsafe take(unsafe PQexec(connection, script), script)
  }

  func take(_ result: OpaquePointer?, _ sql: String) throws(PostgresError) -> Rows {
    defer { unsafe PQclear(result) }
    known.answers = [:]
    let status = unsafe PQresultStatus(result)
    guard let result = unsafe result, status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK else {
      throw unsafe failure(result, doing: sql)
    }
    return unsafe Rows(result)
  }

  func failure(doing: String) -> PostgresError { unsafe failure(nil, doing: doing) }

  private func failure(_ result: OpaquePointer?, doing: String) -> PostgresError {
    let error = unsafe PostgresError(result, connection, doing: doing)
    return error.isConnectionLost ? membership?.error(doing) ?? error : error
  }

  // MARK: - Transactions

  package enum Isolation: String, Sendable {
    case readCommitted = "READ COMMITTED"
    case repeatableRead = "REPEATABLE READ"
  }

  package var isInTransaction: Bool { unsafe PQtransactionStatus(connection) != PQTRANS_IDLE }

  /// Runs `body` in a transaction of its own, and rolls it back if `body` throws.
  ///
  /// One that is not durable may be lost if the server crashes, together with every later one of all
  /// sessions, and never without those. The next durable one makes it durable too.
  ///
  /// What is not `isFenced` is committed without asking.
  package func transaction<T>(
    _ isolation: Isolation = .readCommitted, isDurable: Bool = true, isFenced: Bool = true,
    _ body: () throws -> T
  ) throws -> T {
    try transaction(isolation, isDurable: isDurable, isFenced: isFenced, beginningWith: nil) { _ in
      try body()
    }
  }

  /// A statement is cancelled that takes longer than `longest`, or waits longer than `lockTimeout` for
  /// a lock. If it `keepsPlans`, the server need not plan statements anew for their values. `body` gets
  /// what `first` returns.
  package func transaction<T>(
    _ isolation: Isolation = .readCommitted, isDurable: Bool = true, longest: Duration? = nil,
    lockTimeout: Duration? = nil, keepsPlans: Bool = false, isFenced: Bool = true,
    beginningWith first: String?, _ body: (Rows) throws -> T
  ) throws -> T {
    let begin = [
      "BEGIN ISOLATION LEVEL \(isolation.rawValue)",
      isDurable ? nil : "SET LOCAL synchronous_commit = off",
      longest.map { "SET LOCAL statement_timeout = \(Session.milliseconds($0))" },
      lockTimeout.map { "SET LOCAL lock_timeout = \(Session.milliseconds($0))" },
      keepsPlans ? "SET LOCAL plan_cache_mode = auto" : nil, first,
    ]
    do {
      let answers = try runEach(begin.compactMap(\.self).map { Statement($0) })
      let result = try body(answers.last!)
      if isFenced { try commit() } else { try execute("COMMIT") }
      return result
    } catch {
      try? execute("ROLLBACK")
      throw error
    }
  }

  private static func milliseconds(_ time: Duration) -> Int64 { Int64(time / .milliseconds(1)) }

  /// The query is answered under a lock. A session that forbids this one to write waits for it.
  private func commit() throws(PostgresError) {
    if let fence, try send(fence, []).isEmpty {
      throw PostgresError(
        sqlState: nil, message: "this session may not write any more", doing: "COMMIT")
    }
    try execute("COMMIT")
  }

  /// Runs `body` within the transaction that is open; what it did is undone if it throws.
  package func savepoint<T>(_ body: () throws -> T) throws -> T {
    try execute("SAVEPOINT part")
    do {
      let result = try body()
      try execute("RELEASE part")
      return result
    } catch {
      try execute("ROLLBACK TO part; RELEASE part")
      throw error
    }
  }

  // MARK: - A question of which nothing is known when it is answered

  /// Asks without waiting. Until there is an answer, the session is of no use for anything else.
  package func send(_ question: String) throws(PostgresError) {
    if unsafe PQsendQuery(connection, question) == 0 {
      throw failure(doing: question)
    }
  }

  /// The answer, if it comes in time; of several statements that of the last. What has come already is
  /// never too late.
  package func answer(within time: Duration, to question: String) throws(PostgresError) -> Rows? {
    let end = ContinuousClock.now + time
    while true {
      if unsafe PQconsumeInput(connection) == 0 {
        throw failure(doing: question)
      }
      if unsafe PQisBusy(connection) == 0 { return try takeOne(question) }
      let left = (end - .now) / .milliseconds(1)
      if left <= 0 { return nil }
      var poll = unsafe pollfd(fd: PQsocket(connection), events: Int16(POLLIN), revents: 0)
      unsafe Glibc.poll(&poll, 1, CInt(left.rounded(.up)))
    }
  }

  private func takeOne(_ question: String) throws(PostgresError) -> Rows {
    var result = unsafe PQgetResult(connection)
    while let next = unsafe PQgetResult(connection) {
      unsafe PQclear(result)
      unsafe result = next
    }
    return try unsafe take(result, question)
  }

  // MARK: - Notifications

  package func listen(_ channel: String) throws(PostgresError) {
    try execute("LISTEN \(quoted(channel))")
  }

  /// Whether a notification came, waiting for at most so many milliseconds.
  package func notification(within milliseconds: Int32) throws(PostgresError) -> Bool {
    if takeNotifications() { return true }
    var poll = unsafe pollfd(fd: PQsocket(connection), events: Int16(POLLIN), revents: 0)
    if unsafe Glibc.poll(&poll, 1, milliseconds) <= 0 { return false }
    if unsafe PQconsumeInput(connection) == 0 {
      throw failure(doing: "wait for a notification")
    }
    return takeNotifications()
  }

  private func takeNotifications() -> Bool {
    var isAny = false
    while let notification = unsafe PQnotifies(connection) {
      unsafe PQfreemem(notification)
      isAny = true
    }
    return isAny
  }
}

/// A connection among those of its server.
private final class Membership {
  private let server: Server
  private let number: Int

  init(_ server: Server, _ socket: CInt) {
    self.server = server
    number = server.add(socket)
  }

  deinit { server.remove(number) }

  /// The error of a connection that was ended; nil if this one was not.
  func error(_ doing: String) -> PostgresError? {
    server.reasonOfEnd(of: number).map {
      PostgresError(sqlState: nil, message: $0, doing: doing)
    }
  }
}

/// What the server knows of a session's statements, and the session of their answers.
final class KnownStatements {
  /// Statements that name something new each time would add up.
  static let most = 200
  /// The names, by the statements' texts.
  var names: [String: String] = [:]
  /// What was asked ahead, by the queries' texts.
  var answers: [String: Rows] = [:]
}

/// Texts for a C function, which sees null for nil and null behind the last.
@safe
struct CStrings: ~Copyable {
  private let pointers: [UnsafeMutablePointer<CChar>?]

  init(_ texts: [String?]) {
    unsafe pointers = texts.map { unsafe $0.flatMap { unsafe strdup($0) } } + [nil]
  }

  deinit { unsafe pointers.forEach { unsafe free($0) } }

  func withPointers<T>(_ body: (UnsafePointer<UnsafePointer<CChar>?>) -> T) -> T {
    let constant = unsafe pointers.map { unsafe UnsafePointer($0) }
    return unsafe constant.withUnsafeBufferPointer { unsafe body($0.baseAddress!) }
  }
}
