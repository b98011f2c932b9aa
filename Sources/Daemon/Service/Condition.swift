internal import CascadeModel
internal import CascadeStore
internal import CascadeEngine
internal import CascadeSystem

/// The condition of a store, as `status` shows it.
struct StoreCondition {
  /// The store was not looked through yet.
  var isStarting = true
  /// A failure of the machine or the file. The work is tried again.
  var trouble: String?
  /// The trouble is that another program has the store, or that it is not there.
  var isAway = false
  /// What the store's server is found to be.
  var server: ServerTrouble?
  /// Where the tables do not fit the model.
  var problems: [String] = []
  /// The reasons, as last reported, why unreferenced files cannot be moved. They are tried again.
  var filesWait: Set<String> = []
  /// Sweeps that wait for approval, by plan.
  private var held: [Int64: SweepResult] = [:]
  /// What the last sweep of these kinds could not delete, if that sweep deleted nothing.
  private var blocked: [[SweepKind]: [String]] = [:]
  /// Nodes that sweeps had to leave, and why.
  private(set) var denied: [Reason] = []
  /// A sweep that waits because there is no room for what it would write, and why. There may not
  /// even have been room to record in the store that it has to go on.
  private(set) var sweepWithoutSpace: (kinds: [SweepKind], reason: String)?
  /// Why the trash forgets nothing: that could not be archived before.
  private(set) var archiveTrouble: String?
  var isDetached = false
  var pause: OperatorPause?

  /// Whether no work is done or tried again.
  var isAtRest: Bool { isDetached || pause != nil }

  /// Records the result of a sweep. Returns whether it is new and should be reported.
  mutating func noteResult(_ result: SweepResult) -> Bool {
    if let reason = result.spaceReason {
      defer { sweepWithoutSpace = (result.kinds, reason) }
      return sweepWithoutSpace == nil
    }
    if sweepWithoutSpace.map({ result.kinds.cover($0.kinds) }) == true { sweepWithoutSpace = nil }
    if result.outcome == .held {
      let plans = heldPlans
      remember(held: result.otherHeldParts + [result])
      return result.batch != nil || !heldPlans.allSatisfy(plans.contains)
    }
    // Scheduled sweeps find the same result again and again.
    let reasons =
      result.outcome == .blocked && result.batch == nil ? result.blocked.map(\.message) : nil
    let known = blocked[result.kinds]
    blocked[result.kinds] = reasons
    return reasons == nil || reasons != known
  }

  /// Returns what is to be told: a new trouble with the archive, or the end of one.
  mutating func noteArchive(_ result: SweepResult) -> ArchiveNews? {
    if !result.kinds.deletesTrash || result.archiveTrouble == archiveTrouble { return nil }
    archiveTrouble = result.archiveTrouble
    return archiveTrouble.map(ArchiveNews.trouble) ?? .recovered
  }

  enum ArchiveNews {
    case trouble(String)
    case recovered
  }

  private mutating func remember(held parts: [SweepResult]) {
    for part in parts { if let plan = part.plan { held[plan] = part } }
  }

  /// A plan that was answered waits no longer, also before its approval is carried out.
  mutating func noteAnswered(_ plan: Int64) { held[plan] = nil }

  /// The store knows what waits: a plan outlives the sweep that was held, and the daemon. A sweep that was
  /// held since may have told more of it.
  mutating func setHeld(_ parts: [SweepResult]) {
    let known = held
    held = [:]
    remember(held: parts)
    held.merge(known.filter { held[$0.key] != nil }) { $1 }
  }

  /// The sweeps that wait for approval, in the order of their plans.
  var heldSweeps: [SweepResult] { held.values.sorted { $0.plan ?? 0 < $1.plan ?? 0 } }

  var heldPlans: [Int64] { held.values.compactMap(\.plan) }

  /// The held sweep for dangling references, which scans whole tables.
  var heldRescan: SweepResult? { heldSweeps.first { $0.heldKinds == [.dangling] } }

  /// Forgets what was known, because it was about another file.
  mutating func clearFindings() {
    problems = []
    sweepWithoutSpace = nil
    filesWait = []
    archiveTrouble = nil
    held = [:]
    blocked = [:]
    denied = []
  }

  /// Remembers the nodes that a sweep had to leave.
  mutating func noteDenied(_ reasons: [Reason]) {
    let known = Set(denied.compactMap(\.node))
    let new = reasons.filter { reason in
      reason.keepsNode && reason.node.map { !known.contains($0) } ?? false
    }
    denied += new.prefix(max(0, Receipt.mostListed - denied.count))
  }

  mutating func forgetDenied(except reasons: [Reason]) { denied = reasons }

  /// While a server does not answer, nothing is well. What else it lacks is told if all else is well.
  func state(heldFiles: Int) -> (state: String, reason: String?) {
    let (state, reason) = stateBySelf(heldFiles: heldFiles)
    guard let server, ["ok", "held"].contains(state) else { return (state, reason) }
    return server.isWaiting ? ("waiting", server.reason) : (state, reason ?? server.reason)
  }

  private func stateBySelf(heldFiles: Int) -> (state: String, reason: String?) {
    if isDetached { return ("paused", StoreError.detached.description) }
    if let pause { return ("paused", pause.error.description) }
    if let trouble, isAway { return ("waiting", trouble) }
    if isStarting && trouble == nil { return ("starting", nil) }
    if let reason = trouble ?? sweepWithoutSpace?.reason ?? problemText ?? filesText
      ?? archiveTrouble
    {
      return ("degraded", reason)
    }
    if let sweep = heldSweeps.first {
      return ("held", "a sweep is held: \(sweep.heldText(plan: sweep.plan ?? 0))")
    }
    if heldFiles == 0 { return ("ok", nil) }
    let files = heldFiles.counted("file is held", "files are held")
    return ("held", "\(files): `cascadectl spool` shows the plans")
  }

  private var problemText: String? {
    problems.isEmpty ? nil : problems.joined(separator: "; ")
  }

  /// Different files may have different reasons.
  private var filesText: String? {
    if filesWait.isEmpty { return nil }
    let shown = filesWait.sorted().prefix(3)
    let rest = filesWait.count - shown.count
    return "files cannot be moved yet: "
      + (shown + (rest > 0 ? ["and \(rest) more"] : [])).joined(separator: "; ")
  }
}

extension OperatorPause {
  var error: StoreError {
    let since = "since \(SystemClock.text(at)) by uid \(user)"
    return StoreError(
      isForMigration
        ? "paused for a migration \(since); `cascadectl migrate end` continues"
        : "paused \(since); `cascadectl resume` continues")
  }
}

extension SweepResult {
  func heldText(plan: Int64) -> String {
    let nodes = heldCount.counted("node", "nodes")
    let edges = heldEdges > 0 ? " and \(heldEdges.counted("edge", "edges"))" : ""
    let what = heldValue.map { "\($0.sentence). It" } ?? "it"
    return "\(what) would delete \(nodes)\(edges); `cascadectl approve \(plan)` allows it"
  }
}
