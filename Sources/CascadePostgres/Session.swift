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

  /// `location` is a URI or a list of settings:
  /// https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING
  package init(_ location: String, name: String? = nil) throws(PostgresError) {
    unsafe connection = try Session.open(location, name)
    unsafe PQsetNoticeProcessor(connection, { _, _ in }, nil)
  }

  /// What the location may set otherwise. A server that does not answer is given up, and among
  /// several hosts the one is chosen that can be written to.
  private static let defaults = [
    ("connect_timeout", "5"), ("tcp_user_timeout", "10000"), ("target_session_attrs", "read-write"),
  ]

  private static func open(
    _ location: String, _ name: String?
  ) throws(PostgresError) -> OpaquePointer {
    let fixed = [("dbname", location), ("client_encoding", "UTF8")]
    let settings = defaults + fixed + (name.map { [("application_name", $0)] } ?? [])
    let words = CStrings(settings.map(\.0))
    let values = CStrings(settings.map(\.1))
    let opened = unsafe words.withPointers { words in
      unsafe values.withPointers { unsafe PQconnectdbParams(words, $0, 1) }
    }
    guard let opened = unsafe opened else {
      throw PostgresError(sqlState: nil, message: "out of memory", doing: "connect")
    }
    if unsafe PQstatus(opened) == CONNECTION_OK { return unsafe opened }
    defer { unsafe PQfinish(opened) }
    throw unsafe PostgresError(nil, opened, doing: "connect")
  }

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
      throw unsafe PostgresError(result, connection, doing: sql)
    }
    return unsafe Rows(result)
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

  /// A statement that takes longer than `longest` is cancelled. If it `keepsPlans`, the server need not
  /// plan statements anew for their values. `body` gets what `first` returns.
  package func transaction<T>(
    _ isolation: Isolation = .readCommitted, isDurable: Bool = true, longest: Duration? = nil,
    keepsPlans: Bool = false, isFenced: Bool = true, beginningWith first: String?,
    _ body: (Rows) throws -> T
  ) throws -> T {
    let begin = [
      "BEGIN ISOLATION LEVEL \(isolation.rawValue)",
      isDurable ? nil : "SET LOCAL synchronous_commit = off",
      longest.map { "SET LOCAL statement_timeout = \(Int64($0 / .milliseconds(1)))" },
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
      throw unsafe PostgresError(nil, connection, doing: "wait for a notification")
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
