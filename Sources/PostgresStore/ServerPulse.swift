internal import CascadeModel
internal import CascadePostgres
internal import CascadeStore
internal import CascadeSystem
internal import PostgresTables

/// Whether a server answers, and is the right one.
///
/// 1. A server that hangs still acknowledges packets, so no connection to it ends by itself. It is asked
///    something every second. After three seconds without an answer, all connections are ended, and the next
///    ones look for a server that can be written to.
/// 2. If it owes an answer for a second, or lacks the standby that it had, the other servers are asked
///    whether one of them was promoted. That one is the right one from then on.
final class ServerPulse: ServerWatching {
  private let server: Server
  private let board: StandbyBoard
  private let questioner: Questioner
  private let standbyLimit: Duration?
  private var others: String?
  private var grant = ""
  private var isCommitWaiting = false
  /// Why the connections were ended, until there are others.
  private var ended: String?

  private static let interval = Duration.seconds(1)
  /// The time after which it is told, and after which the connections are ended.
  private static let longSilence = Duration.seconds(2)
  private static let longestSilence = Duration.seconds(3)

  init(_ path: String, _ model: StoreModel) throws {
    server = Server.of(try Location(path))
    board = StandbyBoard.of(server)
    standbyLimit = model.limits.standby
    questioner = Questioner(
      server, name: Leadership.daemon,
      question: ServerPulse.question(Standbys(server.location)))
  }

  /// Also whether a commit of this process waits for a synchronous standby for longer than a while.
  private static func question(_ standbys: Standbys) -> String {
    """
    SET statement_timeout = 0;
    SELECT s.*, \(Server.timeline), (SELECT count(*) FROM pg_stat_activity a
        WHERE a.usename = session_user AND a.application_name = current_setting('application_name')
        AND a.wait_event = 'SyncRep' AND a.query_start < clock_timestamp() - interval '2 s'),
      \(Standbys.grant)
    FROM (\(standbys.query(upTo: Standbys.nothing))) s
    """
  }

  func close() { questioner.close() }

  func beat() -> ServerTrouble? {
    let end = ContinuousClock.now + ServerPulse.interval
    if server.isInUse { ask(until: end) } else { close() }
    SystemClock.sleep(for: max(.zero, end - .now))
    return trouble
  }

  private func ask(until end: ContinuousClock.Instant) {
    do {
      guard let rows = try questioner.ask(within: end - .now) else { return endSilence() }
      ended = nil
      take(rows.rows[0])
    } catch {
      // A server that says no answers. One that went away ends the other connections itself.
      isCommitWaiting = false
    }
  }

  private func take(_ row: [String?]) {
    let (sight, _) = Standbys.sight(row)
    let isMissed = board.withMemory {
      $0.see(sight, at: .now)
      return $0.isKnown && sight.count == 0
    }
    others = sight.others
    isCommitWaiting = row[6] != "0"
    grant = row[7] ?? ""
    if isMissed, let timeline = row[5].flatMap({ Int64($0) }) { follow(timeline) }
  }

  private func endSilence() {
    guard let since = questioner.openSince else { return }
    if let timeline = server.chosenTimeline { follow(timeline) }
    if .now - since < ServerPulse.longestSilence { return }
    end("the server does not answer, and keeps its connections open")
  }

  private func follow(_ timeline: Int64) {
    if let host = server.successor(of: timeline) { end("\(host) was promoted meanwhile") }
  }

  private func end(_ reason: String) {
    ended = reason
    server.end(because: reason)
    close()
  }

  // MARK: - What is told

  private var trouble: ServerTrouble? {
    if let ended { return ServerTrouble(isWaiting: true, ended) }
    if let since = questioner.openSince, .now - since >= ServerPulse.longSilence {
      return ServerTrouble(isWaiting: true, "the server does not answer")
    }
    if isCommitWaiting {
      return ServerTrouble(
        isWaiting: true, "a commit waits for a synchronous standby (synchronous_standby_names)")
    }
    return standbyText.map { ServerTrouble(isWaiting: false, $0) }
  }

  private var standbyText: String? {
    let (isAlone, isHidden) = board.withMemory { ($0.aloneSince != nil, $0.isHidden) }
    if isHidden {
      return "the role cannot see the standbys, so change files and files do not wait for one: "
        + grant
    }
    if !isAlone { return nil }
    let text = others.map { " (\($0) receives the log, and is none)" } ?? ""
    return "goes on alone: no standby is there that could be promoted\(text), so what is "
      + "acknowledged from now on is lost if the server is"
  }
}
