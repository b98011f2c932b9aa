internal import CascadeStore
internal import CascadeSystem
internal import Spool
internal import SystemdService

/// The start of a store: it is opened, as soon as nobody else keeps it, and looked through.
extension StoreService {
  /// Opens the store. References that dangled before it was watched are looked for before questions
  /// are answered. So nodes that an application deletes from then on are not mistaken for them.
  func beginToServe() async throws {
    if isServed && isFileOpen { return }
    try await stores.starts.inSlot {
      try await stores.withDescriptors { try await inTurn { try await beginInTurn() } }
    }
  }

  private func beginInTurn() async throws {
    if !isFileOpen { try await openFile() }
    if isServed { return }
    recover()
    try? await loadTimetable()
    try? await recallBatches()
    // A long sweep continues while questions are answered.
    let goesOn = try await onStore { try await writer.isUnfinished() }
    if !goesOn && !condition.isAtRest {
      try? await resumeSweep()
      try await lookThrough()
    }
    await tellOfMissingModel()
    await countOverdue()
    if !condition.isAtRest { try? await reviewProtections() }
    hasLooked = hasLooked || !condition.isAtRest
    // A pause that came meanwhile is not in the store yet.
    if condition.pause != nil { try await savePause() }
    serveFromNow()
    await followRest()
  }

  private nonisolated static let recalledBatches = 100

  /// `events` also tells what earlier daemons did. Of very many stores it could not keep all of that, and
  /// each would need another connection for it.
  private func recallBatches() async throws {
    if hasRecalled || stores.areMany { return }
    let newest = try await reader.read {
      try $0.newestBatches(limit: StoreService.recalledBatches)
    }
    hasRecalled = true
    recall(newest.reversed())
  }

  /// Only a lock is waited for. Whatever else fails is tried again while questions are answered.
  private func lookThrough() async throws {
    let isOwed = try await onStore { try await writer.owesLook() }
    if isOwed { reportLook() }
    let start = ContinuousClock.now
    do {
      try await reviewStore()
      if isOwed { reportLooked(in: .now - start) }
    } catch let error where stores.engine.isLocked(error) {
      throw error
    } catch {}
  }

  /// Wakes the tasks that wait for the opening.
  func ringOpenings() { openings.ring() }

  private func serveFromNow() {
    condition.isStarting = false
    ringOpenings()
    refreshTimetable()
  }

  /// Returns when the store is served, or cannot be served now.
  func settled() async throws {
    let bell = openings.subscribe()
    while !isServed && condition.trouble == nil && stores.refusal == nil { try await bell.wait() }
  }

  /// Returns when the store is served. Throws if it cannot be served now, or soon.
  func opened() async throws {
    if isServed { return }
    try await EventLoop.limit(StoreService.shortStart) { try await self.settled() }
    if let reason = reasonNotServed { throw StoreError(reason) }
  }

  /// Most stores are looked through within this time, so a caller need not call again.
  private static let shortStart = Duration.seconds(5)

  /// Whether the store is served sooner or later, without anybody's help.
  var isStartingOrAway: Bool { !isServed && (condition.trouble == nil || condition.isAway) }

  /// Nil if the store is served.
  var reasonNotServed: String? {
    if isServed { return nil }
    return condition.trouble ?? "\(path) is starting: \(startText)"
  }

  /// What is looked through, and how far.
  private var startText: String {
    guard let look = progress.progress, let subject = look.subject else { return "it is opened" }
    return "it looks for references to nothing, in \(subject) now (\(look.done) of \(look.total))"
  }

  var state: (state: String, reason: String?) {
    let (state, reason) = condition.state(heldFiles: spoolCounts.held)
    if state == "ok", let job = openJobs.first(where: { $0.state == .held }) {
      return ("held", job.heldText)
    }
    if ["ok", "held"].contains(state), let user = exclusiveUser { return ("waiting", user) }
    return state == "starting" ? (state, startText) : (state, reason)
  }
}
