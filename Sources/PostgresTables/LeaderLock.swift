internal import CascadePostgres

/// The leader is the one whose connection for writing holds the lock.
///
/// 1. The connection that writes is the one that holds the lock. So a daemon that lost the lock has
///    lost the connection, and cannot write.
/// 2. A leader that was killed loses the lock at once. One that was stopped, or lost its network, does
///    not. So a daemon that waits ends the connections of a leader that was silent for a while. The
///    server then rolls back what the leader had begun.
/// 3. A leader that has nothing to do is not silent, because its listener looks at the journal.
/// 4. The lock's keys are a number of Cascade's own and the oid of the schema, so that no application
///    takes it by chance. The schema is there before the lock, and may be empty. Where somebody has
///    dropped it while a daemon leads, it is made again only when that daemon has gone.
struct LeaderLock {
  private let store: StoreConnection

  init(_ store: StoreConnection) { self.store = store }

  private static let silence = "1500 ms"
  private static let longestWait = "400ms"
  private static let tries = 3

  /// The first key of Cascade's advisory locks: the letters "Casc".
  private static let space = 0x4361_7363
  /// The second key while there is no schema. No oid is 0.
  private static let withoutSchema = "0"
  /// The second key, which is signed, where an oid is not.
  private static let schema =
    "(SELECT oid::bigint::bit(32)::int FROM pg_namespace WHERE nspname = 'cascade')"

  /// Waits for the lock for about a second. A connection that was just closed may have it for a while.
  func take(makingSchema makesSchema: Bool) throws -> Bool {
    for _ in 0..<LeaderLock.tries {
      if try isTaken(makesSchema) { return true }
      try endSilentLeader()
    }
    return false
  }

  /// Without a schema nobody leads.
  private func isTaken(_ makesSchema: Bool) throws -> Bool {
    do {
      return try store.db.transaction {
        try store.db.execute("SET LOCAL lock_timeout = '\(LeaderLock.longestWait)'")
        if try !isSchemaThere {
          if !makesSchema { return true }
          if try !makeSchema() { return false }
        }
        try lock("pg_advisory_lock", LeaderLock.schema)
        return true
      }
    } catch let error as PostgresError where error.isLocked {
      return false
    }
  }

  private func lock(_ function: String, _ key: String) throws {
    try store.db.run("SELECT \(function)(\(LeaderLock.space), \(key))")
  }

  private var isSchemaThere: Bool {
    get throws { try store.db.run("SELECT \(LeaderLock.schema) IS NOT NULL").bool }
  }

  /// False if a daemon leads by the oid of a schema that is there no more.
  private func makeSchema() throws -> Bool {
    try lock("pg_advisory_xact_lock", LeaderLock.withoutSchema)
    let others = "\(LeaderLock.holders) AND l.pid <> pg_backend_pid()"
    if try store.db.run("SELECT EXISTS (SELECT \(others))").bool { return false }
    try store.db.execute("CREATE SCHEMA IF NOT EXISTS cascade")
    return true
  }

  // MARK: - Who has it

  /// Locks `l` of the number space in this database, and their sessions `a`. What a prepared
  /// transaction holds has no session.
  private static let holders = """
    FROM pg_locks l LEFT JOIN pg_stat_activity a USING (pid)
    WHERE l.locktype = 'advisory' AND l.granted AND l.classid = \(space) AND l.objsubid = 2
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    """

  private static let isDaemon =
    "a.usename = session_user AND a.application_name LIKE '\(Leadership.namePrefix)%'"

  /// Who has the lock and is no daemon, in a sentence; nil if a daemon has it.
  func stranger() throws -> String? {
    let row = try store.db.run(
      """
      SELECT l.pid, coalesce(a.usename, '') \(LeaderLock.holders) AND (\(LeaderLock.isDaemon))
      IS NOT true LIMIT 1
      """
    ).rows.first
    guard let row else { return nil }
    let isHeld = "the lock of \(store.path) by which a daemon leads"
    guard let pid = row[0] else {
      return "a prepared transaction holds \(isHeld): pg_prepared_xacts has its name"
    }
    return "process \(pid) of the role \"\(row[1]!)\" holds \(isHeld), and is no daemon: "
      + "`SELECT pg_terminate_backend(\(pid))` ends it"
  }

  /// Ends all connections of a daemon that holds the lock, if none of them did anything lately. A
  /// statement that waits for a lock is not silent.
  private func endSilentLeader() throws {
    try store.db.run(
      """
      WITH leader AS (
        SELECT DISTINCT a.application_name AS name \(LeaderLock.holders) AND \(LeaderLock.isDaemon)),
      session AS (
        SELECT a.pid, a.wait_event_type = 'Lock'
          OR a.state_change > clock_timestamp() - interval '\(LeaderLock.silence)' AS is_alive
        FROM pg_stat_activity a, leader WHERE a.application_name = leader.name
        AND a.usename = session_user AND leader.name <> current_setting('application_name'))
      SELECT pg_terminate_backend(s.pid, 1000) FROM session s
      WHERE NOT EXISTS (SELECT FROM session WHERE is_alive)
      """)
  }
}
