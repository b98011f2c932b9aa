internal import CascadePostgres
internal import CascadeSystem
internal import PostgresSweeps
internal import PostgresTables

/// Standbys for which a commit does not wait by itself.
///
/// What is committed is lost with the server if the standby that is promoted then has not flushed it.
/// A change file that had left the queue by then would be lost, too. So it leaves the queue only when
/// one of the standbys that are connected has flushed what the file did. If that takes too long, the
/// file is tried again later, and found in the ledger.
///
/// One that was connected before the commit, and goes away, is waited for as well: when the server is
/// killed, its connections to standbys may end before that to the daemon.
struct Standbys {
  private let store: StoreConnection
  private let wereAny: Bool

  /// Looks whether any are connected.
  init(_ store: StoreConnection) throws {
    self.store = store
    wereAny = try store.db.run("SELECT EXISTS (\(Standbys.connected))").bool
  }

  private static let connected =
    "SELECT FROM pg_stat_replication WHERE state IN ('catchup', 'streaming')"

  private static let limit = Duration.seconds(5)
  private static let step = Duration.milliseconds(2)

  /// Returns when a standby has everything that is committed, or if there is and was none.
  func awaitFlush() throws {
    let deadline = ContinuousClock.now + Standbys.limit
    let end = try store.db.run("SELECT pg_current_wal_insert_lsn()").text!
    while try isBehind(end) {
      if ContinuousClock.now > deadline {
        throw PostgresError(
          sqlState: "55P03", message: "no standby has flushed the last commit yet", doing: "commit")
      }
      SystemClock.sleep(for: Standbys.step)
    }
  }

  private func isBehind(_ end: String) throws -> Bool {
    try store.db.run(
      """
      SELECT (\(wereAny) OR EXISTS (\(Standbys.connected)))
        AND NOT EXISTS (\(Standbys.connected) AND flush_lsn >= $1::pg_lsn)
      """, [end]
    ).bool
  }

  /// Whether the role cannot see how far they are.
  static func areHidden(_ store: StoreConnection) throws -> Bool {
    try store.db.run("SELECT EXISTS (SELECT FROM pg_stat_replication WHERE state IS NULL)").bool
  }
}
