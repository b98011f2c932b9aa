internal import CascadeModel
internal import Store
internal import CascadeSystem
/// How a store is, for `status`.
struct Condition {
  /// The machine or the file is in trouble; what was to be done is tried again.
  var trouble: String?
  /// What the model says and the tables do not allow.
  var problems: [String] = []
  /// Why files that were let go cannot be moved, as it was last told. They are tried again.
  var filesWait: Set<String> = []
  /// Sweeps that wait for approval, by what they look for.
  private var held: [[SweepKind]: SweepResult] = [:]
  /// What the last sweep of some kinds could not delete, where it did nothing else.
  private var blocked: [[SweepKind]: [String]] = [:]
  var isDetached = false
  var pause: Pause?

  /// Nothing is done, and nothing is tried again.
  var isAtRest: Bool { isDetached || pause != nil }

  /// Says whether it is the first to come to this.
  mutating func keep(_ result: SweepResult) -> Bool {
    if result.outcome == .held {
      let plans = heldPlans
      held = held.filter { !result.kinds.cover($0.key) }
      for part in result.alsoHeld + [result] { held[part.heldKinds] = part }
      return result.batch != nil || !heldPlans.allSatisfy(plans.contains)
    }
    // One that was stopped by the tables has looked at nothing.
    if result.outcome != .blocked || result.batch != nil {
      held = held.filter { !result.kinds.cover($0.key) }
    }
    // Who sweeps by the clock comes to the same again and again.
    let reasons =
      result.outcome == .blocked && result.batch == nil ? result.blocked.map(\.message) : nil
    let known = blocked[result.kinds]
    blocked[result.kinds] = reasons
    return reasons == nil || reasons != known
  }

  /// What waits since before the daemon came.
  mutating func remember(held parts: [SweepResult]) {
    for part in parts where held[part.heldKinds] == nil { held[part.heldKinds] = part }
  }

  mutating func keep(only parts: [SweepResult]) {
    let plans = Set(parts.map(\.plan))
    held = held.filter { plans.contains($0.value.plan) }
  }

  var heldPlans: [Int64] { held.values.compactMap(\.plan) }

  /// The look through whole tables that waits for approval.
  var heldLook: SweepResult? { held[[.dangling]] }

  /// Of another file, or of none, nothing is known.
  mutating func forget() {
    problems = []
    filesWait = []
    held = [:]
    blocked = [:]
  }

  func state(heldFiles: Int) -> (state: String, reason: String?) {
    if isDetached { return ("paused", StoreError.detached.description) }
    if let pause { return ("paused", pause.error.description) }
    if let reason = trouble ?? problemText ?? filesText { return ("degraded", reason) }
    let sweep = held.values.min { $0.plan ?? 0 < $1.plan ?? 0 }
    if let sweep { return ("held", "a sweep is held: \(sweep.heldText(plan: sweep.plan ?? 0))") }
    if heldFiles == 0 { return ("ok", nil) }
    let files = heldFiles.counted("file is held", "files are held")
    return ("held", "\(files): `cascadectl spool` says by which plan")
  }

  private var problemText: String? {
    problems.isEmpty ? nil : problems.joined(separator: "; ")
  }

  /// Each file may have a reason of its own.
  private var filesText: String? {
    if filesWait.isEmpty { return nil }
    let shown = filesWait.sorted().prefix(3)
    let rest = filesWait.count - shown.count
    return "files wait: " + (shown + (rest > 0 ? ["and \(rest) more"] : [])).joined(separator: "; ")
  }
}

extension Pause {
  var error: StoreError {
    StoreError(
      "paused since \(SystemClock.text(at)) by uid \(user); `cascadectl resume` lets it go on")
  }
}

extension SweepResult {
  func heldText(plan: Int64) -> String {
    let nodes = heldCount.counted("node", "nodes")
    let edges = heldEdges > 0 ? " and \(heldEdges.counted("edge", "edges"))" : ""
    return "it would delete \(nodes)\(edges); `cascadectl approve \(plan)` lets it pass"
  }
}
