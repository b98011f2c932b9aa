internal import CascadePostgres

/// The leader is the one whose connection for writing holds the lock.
///
/// 1. The connection that writes is the one that holds the lock. So a daemon that lost the lock has
///    lost the connection, and cannot write.
/// 2. A leader that was killed loses the lock at once. One that was stopped, or lost its network, does
///    not. So a daemon that waits ends the connections of a leader that was silent for a while. The
///    server then rolls back what the leader had begun.
/// 3. A leader that has nothing to do is not silent, because its listener looks at the journal.
struct LeaderLock {
  private let store: StoreConnection

  init(_ store: StoreConnection) { self.store = store }

  private static let silence = "1500 ms"
  private static let tries = 3

  /// Waits for the lock for about a second. A connection that was just closed may have it for a while.
  func take() throws -> Bool {
    for _ in 0..<LeaderLock.tries {
      if try isTaken() { return true }
      try endSilentLeader()
    }
    return false
  }

  private func isTaken() throws -> Bool {
    do throws(PostgresError) {
      try store.db.execute(
        """
        BEGIN; SET LOCAL lock_timeout = '400ms';
        SELECT pg_advisory_lock(hashtext('cascade'), 0); COMMIT
        """)
      return true
    } catch {
      if !error.isLocked { throw error }
      try store.db.execute("ROLLBACK")
      return false
    }
  }

  /// Ends all connections of a daemon that holds the lock, if none of them did anything lately. A
  /// statement that waits for a lock is not silent.
  private func endSilentLeader() throws {
    try store.db.run(
      """
      WITH leader AS (
        SELECT a.application_name AS name FROM pg_locks l JOIN pg_stat_activity a USING (pid)
        WHERE l.locktype = 'advisory' AND l.granted AND l.database = a.datid
        AND l.classid::bigint = hashtext('cascade')::bigint & 4294967295
        AND l.objid = 0 AND l.objsubid = 2 AND a.datname = current_database()),
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
