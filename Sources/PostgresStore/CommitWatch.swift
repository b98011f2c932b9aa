internal import CascadePostgres
internal import CascadeStore
internal import CascadeSystem
internal import PostgresSweeps
internal import PostgresTables

/// Waits for what others write to the journal.
///
/// While the daemon sleeps, a row in `cascade.asleep` asks the triggers to notify it. A transaction
/// that looked for that row before it was there notifies no listener, so the journal is looked at
/// twice a second too. Without the row, no commit pays for a notification. To other daemons, these
/// looks tell that this one is alive.
///
/// Where nothing notifies it (`Notification`), it looks by itself: at once after there was news, and then less
/// and less often. In the portable dialect it also prolongs the leader's term.
final class CommitWatch: CommitWatching {
  private let db: Session
  private let dialect: Dialect
  private let isNotifiedOfNews: Bool
  private var isAsleep = false
  private var seen: [String?] = []
  private var seenSchema: String?
  private var schemaRead: ContinuousClock.Instant?
  private var prolonged: ContinuousClock.Instant?

  /// When the daemon finds news as soon as it looks, others commit all the time: then it works more at
  /// a time, and less often.
  private var pause = CommitWatch.shortestPause
  private static let shortestPause = Duration.milliseconds(10)
  private static let longestPause = Duration.milliseconds(80)
  /// How long to sleep before it looks by itself.
  private var nap = CommitWatch.shortestNap
  private static let shortestNap = Duration.milliseconds(5)
  private var longestNap: Duration { .milliseconds(dialect == .portable ? 200 : 1_000) }
  private static let timeBetweenSchemas = Duration.milliseconds(900)

  init(_ path: String) throws {
    let location = try Location(path)
    dialect = location.dialect
    db = try Server.of(location).open(Leadership.daemon)
    // A crash that loses what is written here also ends the sessions that wrote it.
    try db.execute("SET synchronous_commit = off")
    isNotifiedOfNews = try Notification.isUsed(db, location)
    if isNotifiedOfNews { try db.listen("cascade") }
    try wake()
  }

  deinit { try? wake() }

  // MARK: - Sleep

  private func wake() throws {
    isAsleep = false
    nap = CommitWatch.shortestNap
    if dialect == .portable { return }
    do throws(PostgresError) {
      try db.runAgain("DELETE FROM cascade.asleep")
    } catch {
      // The schema was not there yet, or is there no more.
      if !error.isMissingTable { throw error }
    }
  }

  private func fallAsleep() throws {
    isAsleep = true
    if isNotifiedOfNews { try db.runAgain("INSERT INTO cascade.asleep DEFAULT VALUES") }
  }

  private func isNotified() throws -> Bool {
    if isNotifiedOfNews { return try db.notification(within: 500) }
    SystemClock.sleep(for: nap)
    nap = min(nap * 2, longestNap)
    return false
  }

  // MARK: - News

  /// While the daemon works, no row asks for notifications.
  func next() throws -> Bool {
    try prolongTerm()
    if !isAsleep {
      if try isNews() || isOtherSchema() {
        SystemClock.sleep(for: pause)
        pause = min(pause * 2, CommitWatch.longestPause)
        return true
      }
      pause = CommitWatch.shortestPause
      try fallAsleep()
    }
    let hasNews = try isNews() || isNotified()
    guard try hasNews || isNews() || isOtherSchema() else { return false }
    try wake()
    return true
  }

  private func isNews() throws -> Bool {
    let now = try JournalNews.read(db)
    defer { seen = now }
    return now != seen && now.first != "0"
  }

  /// Tables tell nothing of changes to themselves, so their rows in the catalog are looked at. As long as
  /// the model does not fit them, that is news each time.
  private func isOtherSchema() throws -> Bool {
    let now = ContinuousClock.now
    if let schemaRead, now - schemaRead < CommitWatch.timeBetweenSchemas { return false }
    schemaRead = now
    do throws(PostgresError) {
      let (schema, hasProblems) = try WatchedSchema.read(db)
      defer { seenSchema = schema }
      return hasProblems || seenSchema.map { $0 != schema } ?? false
    } catch {
      if !error.isMissingTable { throw error }
      return false
    }
  }

  private func prolongTerm() throws {
    if dialect == .fast { return }
    let now = ContinuousClock.now
    if let prolonged, now - prolonged < LeaderTerm.interval { return }
    prolonged = now
    if try LeaderTerm.areTablesThere(db) { try LeaderTerm.prolong(db) }
  }
}

/// A fingerprint of the journal. Rows may appear in another order than their numbers.
enum JournalNews {
  private static let mostCounted = 1_000

  static func read(_ db: borrowing Session) throws -> [String?] { try db.runAgain(sql).rows[0] }

  static let sql = """
    SELECT (SELECT count(*) FROM (SELECT FROM cascade.journal LIMIT \(mostCounted)) j)
      + (\(BlockedNodes.isDue))::int
      + (SELECT count(*) FROM cascade.meta WHERE key = 'watch_gap')
      + (SELECT count(*) FROM (SELECT FROM cascade.lease LIMIT 1) l)
      + (EXISTS (SELECT FROM cascade.blocked WHERE is_leased))::int
      + (\(FileRows.areNew))::int + (\(UnreachedNodes.areDue))::int
      + (SELECT count(*) FROM (SELECT FROM cascade.recheck WHERE \(LateReferences.isDue)
        LIMIT \(mostCounted)) r),
      (SELECT max(seq) FROM cascade.journal), \(BlockedNodes.lastDue),
      (SELECT concat_ws(' ', count(*), max(id), sum(expires)) FROM cascade.lease),
      (SELECT max(id) FROM cascade.file)
    """
}
