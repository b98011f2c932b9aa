package import CascadePostgres
internal import CascadeStore
internal import CascadeSystem

/// The leader of the portable dialect is named by a row, for a while.
///
/// 1. Each daemon that takes over begins a term with a number of its own. Before each commit, the leader
///    locks the row if it still has that number. So a leader that was replaced commits nothing more,
///    and one that is about to commit is not replaced meanwhile.
/// 2. Up to when the term lasts by the server's clock is in a row of its own, because it changes all the
///    time. The listener prolongs it, also while a long statement runs. A daemon that waits takes
///    over when it has passed. A leader whose term has passed goes on if no other did.
/// 3. The server ends a transaction in which a leader says nothing for a while, so that the locks of one
///    that was stopped keep the next one waiting no longer.
package struct LeaderTerm {
  private let store: StoreConnection

  init(_ store: StoreConnection) { self.store = store }

  private static let tables = """
    CREATE SCHEMA IF NOT EXISTS cascade;
    CREATE TABLE cascade.leader(number bigint NOT NULL, holder text NOT NULL);
    CREATE TABLE cascade.leader_term(number bigint NOT NULL, expires timestamptz NOT NULL);
    INSERT INTO cascade.leader VALUES(0, '');
    INSERT INTO cascade.leader_term VALUES(0, clock_timestamp())
    """

  private static let length = "interval '1500 ms'"
  private static let silence = "3s"
  private static let longestWait = Duration.seconds(1)
  private static let pause = Duration.milliseconds(100)

  static func fence(_ number: Int64) -> String {
    "SELECT FROM cascade.leader WHERE number = \(number) FOR SHARE"
  }

  // MARK: - Its begin

  func take(attaching attaches: Bool) throws -> Bool {
    if store.term != nil { return true }
    if try !areTablesThere {
      if try !attaches && !store.isAttached { return true }
      if try !makeTables() { return false }
    }
    let end = ContinuousClock.now + LeaderTerm.longestWait
    while ContinuousClock.now < end {
      if let number = try begin() {
        try store.db.execute("SET idle_in_transaction_session_timeout = '\(LeaderTerm.silence)'")
        store.lead(in: number)
        return true
      }
      SystemClock.sleep(for: LeaderTerm.pause)
    }
    return false
  }

  private var areTablesThere: Bool { get throws { try LeaderTerm.areTablesThere(store.db) } }

  package static func areTablesThere(_ db: borrowing Session) throws -> Bool {
    try db.run("SELECT to_regclass('cascade.leader_term') IS NOT NULL").bool
  }

  /// A store that was attached in the fast dialect may have a leader by its lock.
  private func makeTables() throws -> Bool {
    if try store.isAttached {
      if try !LeaderLock(store).take(makingSchema: false) { return false }
    } else {
      try store.refuseForeignSchema()
    }
    do {
      try store.transaction { try store.db.execute(LeaderTerm.tables) }
    } catch let error as PostgresError {
      // Another daemon may have been faster.
      if try !areTablesThere { throw error }
    }
    return true
  }

  /// Nil if there is a leader, or another daemon is about to become it.
  private func begin() throws -> Int64? {
    do {
      return try store.transaction {
        try store.db.execute("SET LOCAL lock_timeout = '400ms'")
        let last = try store.db.run(
          "SELECT number FROM cascade.leader_term WHERE expires <= clock_timestamp()"
        ).integer
        guard let last else { return nil }
        let (number, end) = (last + 1, "clock_timestamp() + \(LeaderTerm.length)")
        let taken = try store.db.run(
          "UPDATE cascade.leader SET number = \(number), holder = $1 WHERE number = \(last)",
          [Leadership.daemon])
        if taken.changed == 0 { return nil }
        try store.db.run("UPDATE cascade.leader_term SET number = \(number), expires = \(end)")
        return number
      }
    } catch let error as PostgresError where error.isLocked {
      return nil
    }
  }

  // MARK: - While it lasts

  /// How often it has to be prolonged, at least.
  package static let interval = Duration.milliseconds(400)

  /// Prolongs the term of this process.
  package static func prolong(_ db: borrowing Session) throws {
    try db.run(
      """
      UPDATE cascade.leader_term SET expires = clock_timestamp() + \(length)
      WHERE number = (SELECT number FROM cascade.leader WHERE holder = $1)
      """, [Leadership.daemon])
  }

  static func confirm(_ store: StoreConnection) throws {
    if let term = store.term, try store.db.run(fence(term)).isEmpty {
      throw StoreAway("another daemon serves \(store.path)", lookAgain: Leadership.longestWait)
    }
  }

  // MARK: - Its end

  static func end(_ store: StoreConnection) throws {
    guard let term = store.term else { return }
    try store.db.run(
      "UPDATE cascade.leader_term SET expires = clock_timestamp() WHERE number = \(term)")
  }

  /// Whether a term lasts of which the fast dialect knows nothing.
  static func isAny(_ store: StoreConnection) throws -> Bool {
    if try !areTablesThere(store.db) { return false }
    return try store.db.run(
      "SELECT EXISTS (SELECT FROM cascade.leader_term WHERE expires > clock_timestamp())"
    ).bool
  }

  /// A leader that still believes in its term cannot commit without them.
  static func removeTables(_ store: StoreConnection) throws {
    try store.db.execute("DROP TABLE IF EXISTS cascade.leader, cascade.leader_term")
  }
}
