internal import CPostgreSQL
internal import Glibc

/// How a connection is made.
///
/// 1. Among several servers the right one is that which can be written to. If several can, the one with
///    the highest timeline is: the others were primaries before it was promoted, and do not know it.
/// 2. One with a lower timeline than that which was served is taken only if all answer: it may be an old
///    primary, and the one that replaced it is away.
/// 3. All are asked at the same time, so one that hangs delays the others by a second at most. It is
///    taken only if it answers, and the others answered or did not within that time.
/// 4. While one that hangs is waited for, and no other can be written to, those are asked again and again: one of
///    them may be promoted meanwhile.
struct Connecting {
  private let settings: [(String, String)]
  /// The highest timeline that was served. A server with a higher one is right whatever others say.
  private let known: Int64?

  /// A server that does not answer is given up after this time.
  private static let longest = Duration.seconds(5)
  /// How long others may take when one that can be written to has answered.
  private static let longestOfOthers = Duration.seconds(1)
  /// After which time those that cannot be written to are asked again.
  private static let timeBetweenQuestions = Duration.milliseconds(300)

  init(_ location: String, _ name: String?, known: Int64?) {
    settings =
      [("tcp_user_timeout", "10000"), ("target_session_attrs", "read-write")]
      + [("dbname", location), ("client_encoding", "UTF8")]
      + (name.map { [("application_name", $0)] } ?? [])
    self.known = known
  }

  /// A connection, and the server if there are several.
  func open() throws(PostgresError) -> Attempt {
    let first = try Attempt(settings, at: nil)
    let hosts = first.hosts
    return hosts.count > 1 ? try find(among: hosts, Connecting.longest) : try end(first)
  }

  /// A connection to this server, whatever it is.
  func open(_ host: Host) throws(PostgresError) -> Attempt { try end(begin(host)) }

  private func end(_ attempt: Attempt) throws(PostgresError) -> Attempt {
    if try attempt.wait(until: .now + Connecting.longest) { return attempt }
    throw PostgresError(sqlState: nil, message: "it does not answer", doing: "connect")
  }

  /// The server that is right among the others.
  func find(but host: Host, within limit: Duration) throws(PostgresError) -> Attempt? {
    let others = try Attempt(settings, at: nil).hosts.filter { $0 != host }
    return others.isEmpty ? nil : try find(among: others, limit)
  }

  /// The server that is right among those that answer.
  private func find(
    among hosts: [Host], _ limit: Duration
  ) throws(PostgresError) -> Attempt {
    var attempts = try hosts.map(begin)
    let start = ContinuousClock.now
    var asked = start
    while attempts.contains(where: \.isPending) {
      if let best = best(of: attempts), isSurelyRight(best) { return best }
      let longest = best(of: attempts) == nil ? limit : Connecting.longestOfOthers
      if ContinuousClock.now >= start + longest { break }
      if .now - asked > Connecting.timeBetweenQuestions {
        asked = .now
        attempts = try attempts.map(askAgain)
      }
      Attempt.wait(for: attempts, until: start + longest)
    }
    guard let best = best(of: attempts) else { throw failure(attempts) }
    try refuseOlder(best, attempts)
    return best
  }

  /// Another attempt, if the server has answered that it cannot be written to.
  private func askAgain(_ attempt: Attempt) throws(PostgresError) -> Attempt {
    attempt.standing?.isWritable == false ? try begin(attempt.host) : attempt
  }

  /// A connection that is being made to this server, or to the only one.
  func begin(_ host: Host?) throws(PostgresError) -> Attempt {
    guard let host else { return try Attempt(settings, at: nil) }
    // What is said of a setting last counts.
    let all = settings + host.settings + [("target_session_attrs", "any")]
    return try Attempt(all, at: host)
  }

  // MARK: - Among several

  private func best(of attempts: [Attempt]) -> Attempt? {
    attempts.filter { $0.standing?.isWritable == true }
      .max { $0.standing!.timeline < $1.standing!.timeline }
  }

  private func refuseOlder(_ best: Attempt, _ attempts: [Attempt]) throws(PostgresError) {
    let timeline = best.standing!.timeline
    let silent = attempts.filter { $0.standing == nil }
    guard let known, timeline < known, !silent.isEmpty else { return }
    throw PostgresError(
      sqlState: nil,
      message: "\(best.host!) is on timeline \(timeline), and timeline \(known) was served; "
        + failure(silent).message
        + ". If it is the right one, start the daemon anew",
      doing: "connect")
  }

  private func isSurelyRight(_ attempt: Attempt) -> Bool {
    known.map { attempt.standing!.timeline > $0 } ?? false
  }

  private func failure(_ attempts: [Attempt]) -> PostgresError {
    let texts = attempts.map { attempt in
      let reason =
        attempt.isPending
        ? "it does not answer" : attempt.error?.message ?? "nothing can be written to it"
      return "\(attempt.host!): \(reason)"
    }
    return PostgresError(sqlState: nil, message: texts.joined(separator: "; "), doing: "connect")
  }
}
