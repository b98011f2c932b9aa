package import CascadeModel
internal import CascadeSQLite
internal import CascadeSystem

extension SweepKind {
  fileprivate var looksAtEdges: Bool { ![.trash, .files, .unreachable].contains(self) }
}

extension [SweepKind] {
  /// Whether whole tables are scanned for references to nothing.
  var looksThrough: Bool { include(.dangling) }

  /// Whether files are searched that no edge names.
  package var looksAtFiles: Bool { include(.files) }

  /// Whether unreachable nodes are searched. This is a sweep of its own, after the others, because
  /// what the others delete reaches nothing.
  var marks: Bool { include(.unreachable) }

  /// Without roots nothing is reached, and nothing is deleted.
  func marks(from model: StoreModel) -> Bool { marks && !model.roots.isEmpty }

  var forgets: Bool { include(.trash) }

  var cascades: Bool { include(.cascade) }

  var counts: Bool { include(.refcount) }

  var readsJournal: Bool { cascades || counts }

  /// The rules that are followed. A sweep of one kind leaves the other kind's rules alone. Any
  /// other sweep follows all rules to the end.
  var followed: Rules {
    if looksThrough || cascades == counts { return .all }
    return cascades ? Rules.all.subtracting(.counting) : Rules.all.subtracting(.cascading)
  }

  /// The file of a held plan of such a sweep. No file name has a slash.
  var planFile: String { "/\(map(\.rawValue).joined(separator: " "))" }
}

extension Rules {
  static let cascading: Rules = [
    .deleteSourceIfDestinationDeleted, .deleteDestinationIfSourceDeleted,
  ]
  static let counting: Rules = [
    .deleteSourceIfAllDestinationsDeleted, .deleteDestinationIfAllSourcesDeleted,
  ]
}

extension Writer {
  package func sweep(
    _ kinds: [SweepKind], at now: Int64, manners: Manners = .none
  ) throws -> SweepResult {
    var result = SweepResult(kinds: kinds, outcome: .nothing)
    holds = []
    self.now = now
    sweptBefore = [:]
    asked = kinds
    hasConcluded = false
    try setAsideOthers()
    batchSoFar = isDetached ? nil : try db.meta("sweep.batch")
    defer { hasPartsToCome = false }
    try tieLooseRows(manners)
    try forgetDenied()
    try forgetSparedThatIsGone(manners)
    try sweepAllParts(kinds, &result, at: now, manners)
    try forgetDenied()
    try result.forgetBlocked { try isThere($0) }
    try sweepRest(kinds, &result, at: now, manners)
    result.lockMilliseconds = holds.map { $0 / .milliseconds(1) }
    let done =
      result.deletedCount + result.edgesRemoved + result.notices + result.files + result.forgotten
    if result.outcome == .nothing && done > 0 { result.outcome = .done }
    return result
  }

  private func sweepAllParts(
    _ kinds: [SweepKind], _ result: inout SweepResult, at now: Int64, _ manners: Manners
  ) throws {
    do {
      var isOver = false
      while !isOver {
        try sweepParts(kinds, &result, at: now, manners)
        let before = result.deletedCount
        try sweepMarked(kinds, &result, at: now, manners)
        // A node that is gone now may have denied something that the earlier parts found.
        isOver = try result.deletedCount == before || !db.hasDenied
      }
    } catch let error where error.isFinal {
      // It is not known when the sweep can go on. The batch is closed, so that it can be undone.
      try closeAtEnd()
      throw error
    }
    // A sweep that was killed after its last step is finished if it finds nothing more. A held
    // sweep is closed because its approval may never come.
    if hasConcluded || [.done, .nothing, .held].contains(result.outcome) { try closeAtEnd() }
  }

  private func closeAtEnd() throws {
    guard let batch = try db.meta("sweep.batch") else { return }
    current = TransactionState()
    current.batch = batch
    try group { try closeBatch() }
  }

  /// A batch has what one cause brought about. So what is left of a sweep of other kinds is done
  /// later, in another batch.
  private func setAsideOthers() throws {
    if isDetached { return }
    guard let code = try db.meta("sweep.kinds") else { return }
    let others = [SweepKind](code: code)
    if asked.cover(others) { return }
    try group { try db.rememberCut(others) }
    try closeAtEnd()
  }

  private func sweepParts(
    _ kinds: [SweepKind], _ result: inout SweepResult, at now: Int64, _ manners: Manners
  ) throws {
    var parts = try parts(of: completed(kinds))[...]
    while let part = parts.popFirst() {
      hasPartsToCome = kinds.marks(from: model) || !parts.isEmpty
      try sweepEdges(part, &result, at: now, manners)
      sweptBefore = current.wasApproved ? [:] : result.byCollection
      batchSoFar = result.batch ?? batchSoFar
      if result.isCutShort { break }
    }
    hasPartsToCome = false
    if try !result.isCutShort && waitsForBoth(kinds) { try sweepBoth(&result, at: now, manners) }
  }

  /// A node that stays denied was reported when it was first denied.
  private func sweepBoth(
    _ result: inout SweepResult, at now: Int64, _ manners: Manners
  ) throws {
    var both = result
    try both.forgetBlocked { try isThere($0) }
    try sweepEdges([.cascade, .refcount], &both, at: now, manners)
    if both.deletedCount > result.deletedCount || both.isCutShort || both.outcome == .held {
      result = both
    }
    batchSoFar = result.batch ?? batchSoFar
  }

  /// Each kind left something to the other that it would have to delete first. Neither kind can go
  /// first, but both together can, as soon as both have read the journal equally far.
  private func waitsForBoth(_ kinds: [SweepKind]) throws -> Bool {
    if isDetached || isHalfView { return false }
    return try leavesSome(kinds) && db.mark(.cascade) == db.mark(.refcount)
  }

  private func leavesSome(_ kinds: [SweepKind]) throws -> Bool {
    if kinds.cascades == kinds.counts { return false }
    return try db.integer(
      "SELECT 1 FROM cascade_spared WHERE denied IN (2, 3) AND rule LIMIT 1") != nil
  }

  private func sweepMarked(
    _ kinds: [SweepKind], _ result: inout SweepResult, at now: Int64, _ manners: Manners
  ) throws {
    if !kinds.marks(from: model) || result.isCutShort { return }
    try result.forgetBlocked { try isThere($0) }
    try sweepUnreachable(&result, at: now, manners)
  }

  /// If other writers cut the sweep short, the rest is not done now: the whole sweep runs again.
  private func sweepRest(
    _ kinds: [SweepKind], _ result: inout SweepResult, at now: Int64, _ manners: Manners
  ) throws {
    try remember(kinds, areCutShort: result.isCutShort)
    if result.isCutShort { return }
    if kinds.looksAtFiles { try sweepFiles(&result, manners) }
    if kinds.forgets { result.forgotten = try forgetTrash(at: now, manners) }
  }

  /// If no rule counts, a sweep that cascades has done everything.
  private func completed(_ kinds: [SweepKind]) -> [SweepKind] {
    let isAll = kinds.cascades && rulesInUse.isDisjoint(with: .counting)
    return isAll && !kinds.counts ? kinds + [.refcount] : kinds
  }

  /// What dangled before the store was watched waits for approval by itself, without what can go
  /// now. One kind leaves to the other what a scan of whole tables would not leave. A scan that
  /// finds nothing needs no lock.
  private func parts(of kinds: [SweepKind]) throws -> [[SweepKind]] {
    let edges = kinds.filter(\.looksAtEdges)
    if edges.isEmpty { return [] }
    if isDetached || !hasTables { return [edges] }
    try followSchema()
    let journal = try journalParts(of: edges)
    if !edges.looksThrough { return journal }
    let dangles = try isHalfView || hasDangling()
    let isWhole = edges.cascades == edges.counts && journal.count < 2
    if try dangles && debt == nil && isWhole { return [edges] }
    if dangles {
      return try goesOnApproved() ? [[.dangling]] + journal : journal + [[.dangling]]
    }
    try forgetWhatDangled()
    return journal
  }

  /// What is left of an approved plan goes first. Otherwise another part could find it, and it
  /// would be held again.
  private func goesOnApproved() throws -> Bool {
    try db.meta("sweep.batch") != nil
      && db.integer(
        "SELECT 1 FROM cascade_plan WHERE file = '/dangling' AND approved LIMIT 1") != nil
  }

  /// Nothing dangles, so no scan is owed, and no plan for one waits.
  private func forgetWhatDangled() throws {
    let plans = """
      FROM cascade_plan
      WHERE id = '' AND (file GLOB '/*dangling*' OR file GLOB '/*all*')
      """
    if try debt == nil && db.integer(generated: "SELECT 1 \(plans) LIMIT 1") == nil { return }
    try group {
      try forgetDebt()
      try db.run(generated: "DELETE \(plans)")
    }
  }

  package func forgetDebtUnlessDangling() throws {
    try followSchema()
    if try !isDetached && !isHalfView && !hasDangling() { try forgetWhatDangled() }
  }

  private func hasDangling() throws -> Bool {
    try db.snapshot {
      try db.addDanglingEnds(binding, tells: debt != nil)
      let dead = try db.integer("SELECT 1 FROM temp.dead LIMIT 1")
      return try dead != nil || db.hasUnusedIdentities(binding)
    }
  }

  private func sweepUnreachable(
    _ result: inout SweepResult, at now: Int64, _ manners: Manners
  ) throws {
    if isDetached { throw StoreError.detached }
    try followSchema()
    try sweepEdges([.unreachable], &result, at: now, manners)
    batchSoFar = result.batch ?? batchSoFar
    try keepLeasedReasons(at: now)
  }

  private func sweepEdges(
    _ kinds: [SweepKind], _ result: inout SweepResult, at now: Int64, _ manners: Manners
  ) throws {
    if !binding.problems.isEmpty {
      result.blocked = binding.problems.map { Reason(.invalid, "\($0)") }
      return result.outcome = .blocked
    }
    do {
      if model.limits.lock == nil || !binding.allowsSteps {
        try sweepAtOnce(kinds, &result)
      } else {
        try sweepPolitely(kinds, &result, manners)
      }
      if kinds.looksThrough && !result.isCutShort { try forgetUnusedIdentities(manners) }
    } catch let held as Held {
      try group {
        let plan = try keepPlan(held, file: kinds.planFile)
        try forgetPlans(ofSweep: kinds.planFile, but: plan)
        result.hold(held, kinds, plan: plan)
      }
    }
  }

  /// Sweeps in one transaction. Its guard has each page written once more, so the first attempt is
  /// made without the guard, and repeated with it if something was refused.
  func sweepAtOnce(_ kinds: [SweepKind], _ result: inout SweepResult) throws {
    do {
      try sweepAtOnce(kinds, &result, isGuarded: false)
    } catch let error where error is Refused || error is HeldByForeignKey {
      try sweepAtOnce(kinds, &result, isGuarded: true)
    }
  }

  private func sweepAtOnce(
    _ kinds: [SweepKind], _ result: inout SweepResult, isGuarded: Bool
  ) throws {
    try group {
      let receipt = try sweep {
        current.isGuarded = isGuarded
        try prepare(kinds)
        try findDead(kinds)
        // The journal rows that were read are deleted in the transaction that carries out their
        // consequences.
        try forgetJournal(kinds, upTo: current.journalEnd)
        if kinds.readsJournal { try forgetExamined() }
      }
      try markTold(behind: current.journalEnd, upTo: db.lastInJournal)
      try conclude(kinds)
      result.add(receipt, current)
    }
  }

  /// Called in the last transaction of a sweep.
  func conclude(_ kinds: [SweepKind]) throws {
    if try hasPartsToCome || leavesSome(kinds) {
      try leaveOpen()
    } else if current.isResumed || current.isStepped {
      try closeBatch()
    }
    hasConcluded = true
    if !current.hasKept { try markOwnWrites(kinds) }
    try markOwnEnd()
    try freeDenied(kinds)
    if kinds.looksThrough { try forgetDebt() }
    try forgetPlans(coveredBy: kinds)
  }

  /// Sets what a sweep of these kinds may do, and what it looks at.
  func prepare(_ kinds: [SweepKind]) throws {
    current.isSweep = true
    current.id = Held.sweep
    current.followed = kinds.followed
    current.readsJournal = kinds.readsJournal
    current.marks = kinds == [.unreachable]
    current.holdsAll = try kinds.looksThrough && db.meta("unseen") == 1
    current.holdsLosses = try kinds.looksThrough && debt != nil
    // Dead nodes were gone before. Only what follows from them is deleted by this sweep.
    current.firstNewId = .min
  }

  /// Finds nodes that are gone, and edges that were lost, although no transaction of the daemon
  /// removed them.
  func findDead(_ kinds: [SweepKind]) throws {
    if kinds.readsJournal {
      try readJournal(kinds)
      try db.examineSpared(binding, following: current.followed, at: now)
    }
    if kinds.looksThrough { try db.addDanglingEnds(binding, tells: debt != nil) }
    if kinds == [.unreachable] {
      leasesReach = try db.addUnreached(binding, model, at: now)
      if current.isStepped { current.hasCircles = try orderUnreached() }
    }
    current.deadCount = Int(
      try db.integer(
        """
        SELECT (SELECT count(*) FROM temp.dead) + (SELECT count(*) FROM temp.unreached)
        """) ?? 0)
    current.lostCount = Int(try db.integer("SELECT count(*) FROM temp.lost") ?? 0)
  }
}

extension Reader {
  /// What a sweep would delete.
  package func planSweep(_ kinds: [SweepKind], at now: Int64? = nil) throws -> Plan {
    let now = now ?? SystemClock.wall()
    let marks = kinds.marks(from: model)
    var plan = try plan(ofSweep: true, following: kinds.followed, marks: marks, at: now) {
      let binding = try binding()
      if kinds.readsJournal {
        try Digest(binding: binding, watches: db.watches(), tellsWhy: true).read(
          db, above: db.journalStart(kinds), upTo: .max)
        try db.examineSpared(binding, following: kinds.followed, at: now)
      }
      if kinds.looksThrough { try db.addDanglingEnds(binding) }
      if kinds.marks { try db.addUnreached(binding, model, at: now) }
    }
    if kinds.looksAtFiles { plan.files += try unnamedFiles() }
    if kinds.forgets {
      plan.forgotten = try db.batchesInTrash(before: (now - model.trash.inMilliseconds, now))
    }
    let holdsAll = try kinds.looksThrough && db.meta("unseen") == 1
    if holdsAll && plan.deletedCount > 0 { plan.isOverLimit = true }
    return plan
  }
}
