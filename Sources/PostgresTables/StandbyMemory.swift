package import CascadePostgres
internal import Synchronization

/// What is known of the standbys of a server, and whether one that is away is waited for.
///
/// 1. A server that never had a standby has none to wait for.
/// 2. One that is there is waited for as long as it is there, however far behind it is.
/// 3. Where one was there and is away, it is waited for for a while (`limits.standby`). After that, the
///    server goes on alone, until a standby is there again.
/// 4. The time begins when the server is opened: a server that hung has lost its standbys meanwhile. After a
///    promotion it began when the last standby was seen, because the old server will be none at once.
package struct StandbyMemory: Sendable {
  package typealias Instant = ContinuousClock.Instant

  /// How many standbys could be promoted now, as far as was seen.
  package struct Sight: Equatable, Sendable {
    package let count: Int
    /// One of them has flushed what matters.
    package let hasAll: Bool
    /// The role may not see how far they are.
    package let isHidden: Bool
    /// The names of others that receive the log, with commas between.
    package let others: String?

    package init(count: Int, hasAll: Bool, isHidden: Bool = false, others: String? = nil) {
      (self.count, self.hasAll, self.isHidden, self.others) = (count, hasAll, isHidden, others)
    }
  }

  package enum Verdict: Equatable, Sendable {
    /// What was committed is not lost with the server, or nothing more can be done about it.
    case settled
    /// A standby is there and does not have it yet.
    case isBehind
    /// None is there, and one is waited for.
    case isAway
    /// None came in time. Each time, what was committed counts only after a look whether another server was
    /// promoted: a standby can come, be promoted, and never be seen.
    case isAlone
  }

  /// Whether a standby ever was there.
  package private(set) var isKnown = false
  package private(set) var isHidden = false
  private var isThere = false
  private var seen: (at: Instant, timeline: Int64)?
  /// Since when a standby is waited for, if none is there.
  private var since: Instant?
  private var timeline: Int64 = 0
  /// Since when the server goes on alone.
  package private(set) var aloneSince: Instant?

  package init() {}

  /// A server was opened.
  package mutating func begin(on timeline: Int64, at now: Instant, isKnown: Bool) {
    self.isKnown = self.isKnown || isKnown
    since = seen.flatMap { $0.timeline == timeline ? nil : $0.at } ?? now
    (self.timeline, isThere, aloneSince) = (timeline, false, nil)
  }

  package mutating func see(_ sight: Sight, at now: Instant) {
    isHidden = sight.isHidden
    if sight.count > 0 {
      (isKnown, isThere, aloneSince) = (true, true, nil)
      seen = (now, timeline)
    } else if isThere || since == nil {
      (isThere, since) = (false, now)
    }
  }

  /// `limit` is nil if a standby is waited for however long it takes.
  package func judge(_ sight: Sight, at now: Instant, limit: Duration?) -> Verdict {
    if sight.hasAll { return .settled }
    if sight.count > 0 { return .isBehind }
    if !isKnown || limit == .zero { return .settled }
    if aloneSince != nil { return .isAlone }
    guard let limit, let since, now - since >= limit else { return .isAway }
    return .isAlone
  }

  package mutating func goOnAlone(at now: Instant) { aloneSince = aloneSince ?? now }
}

/// The memory that the writer of a store and the pulse of its server have in common.
package final class StandbyBoard: Sendable {
  private let memory = Mutex(StandbyMemory())

  private static let all = Mutex<[String: StandbyBoard]>([:])

  package func withMemory<T: Sendable>(_ body: (inout StandbyMemory) -> T) -> T {
    memory.withLock { body(&$0) }
  }

  package static func of(_ server: Server) -> StandbyBoard {
    all.withLock { all in
      let board = all[server.location.uri] ?? StandbyBoard()
      all[server.location.uri] = board
      return board
    }
  }
}
