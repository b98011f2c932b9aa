package import CascadeModel

/// What a sweep did, or would do.
package struct SweepResult: Sendable {
  package enum Outcome: String, Sendable { case done, nothing, held, blocked }

  package var kinds: [SweepKind]
  package var outcome: Outcome
  /// The first of the deleted nodes. `deletedCount` counts them all.
  package var deleted: [Node] = []
  package var deletedCount = 0
  package var edgesRemoved = 0
  /// Rows that were marked because of others.
  package var marked = 0
  package var notices = 0
  package var byCollection: [String: Int] = [:]
  package var byRule: [String: Int] = [:]
  package var blocked: [Reason] = []
  /// Other writers cut it short. It goes on later.
  package private(set) var isCutShort = false
  package var batch: Int64?
  package var plan: Int64?
  /// The kinds of the plan: these may be fewer than the sweep was asked for.
  package var heldKinds: [SweepKind] = []
  package var heldCount = 0
  /// References that the plan would take away, as far as they are the reason.
  package var heldEdges = 0
  /// The value that waits, if the plan is about one that may mean "none".
  package var heldValue: HeldValue?
  /// The other held parts of the sweep.
  package var otherHeldParts: [SweepResult] = []
  /// How long the write lock was held, each time.
  package var lockMilliseconds: [Double] = []
  /// Files that lost their last edge, and files that no edge names.
  package var files = 0
  package var unreferenced: UnreferencedFiles?
  /// Batches whose trash was deleted.
  package var trashedBatchesDeleted = 0

  package init(kinds: [SweepKind], outcome: Outcome) {
    self.kinds = kinds
    self.outcome = outcome
  }

  /// How many nodes went. Without a batch, `deletedCount` is that of what is held.
  package var goneCount: Int { batch == nil ? 0 : deletedCount }

  package mutating func cutShort(because reason: String) {
    isCutShort = true
    outcome = .blocked
    blocked.append(Reason(.invalid, reason))
  }

  /// Adds what another part of the sweep did, in a batch of its own.
  package mutating func add(_ part: SweepResult) {
    if part.outcome == .nothing { return }
    // The counts of a sweep that has deleted nothing are those of its plan.
    if outcome == .held && batch == nil && part.batch != nil {
      (deletedCount, byCollection) = (0, [:])
    }
    var part = part
    if part.outcome == .held && part.batch == nil && batch != nil {
      (part.deletedCount, part.byCollection) = (0, [:])
    }
    if part.outcome == .held && outcome == .held { otherHeldParts.append(part) }
    if part.outcome == .held && outcome != .held {
      (plan, heldKinds) = (part.plan, part.heldKinds)
      (heldCount, heldEdges) = (part.heldCount, part.heldEdges)
    }
    if outcome != .held { outcome = part.outcome }
    isCutShort = isCutShort || part.isCutShort
    let room = max(0, Receipt.mostListed - deleted.count)
    deleted += part.deleted.prefix(room)
    deletedCount += part.deletedCount
    edgesRemoved += part.edgesRemoved
    marked += part.marked
    notices += part.notices
    files += part.files
    byCollection.merge(part.byCollection, uniquingKeysWith: +)
    byRule.merge(part.byRule, uniquingKeysWith: +)
    blocked += part.blocked.filter { reason in
      !blocked.contains { $0.node == reason.node && $0.message == reason.message }
    }
    batch = batch ?? part.batch
    lockMilliseconds += part.lockMilliseconds
  }

  /// It was cut short because there is no room for what it would write. The reason is of that kind.
  package private(set) var spaceReason: String?

  package mutating func waitForSpace(because reason: String) {
    cutShort(because: reason)
    spaceReason = reason
  }

  /// Why nothing was forgotten: it could not be archived before.
  package var archiveTrouble: String?

  /// Drops denials of nodes that are gone now: another part may have released what one part denied.
  package mutating func dropDenialsOfGoneNodes(unless isThere: (Node) throws -> Bool) rethrows {
    if blocked.isEmpty { return }
    blocked = try blocked.filter { reason in
      guard reason.keepsNode, let node = reason.node else { return true }
      return try isThere(node)
    }
    if blocked.isEmpty && outcome == .blocked { outcome = .nothing }
  }

  /// A value that may mean "none" waits for approval, with what would follow from it.
  package mutating func hold(_ value: HeldValue, plan: Int64) {
    if outcome == .held { otherHeldParts.append(self) }
    outcome = .held
    heldKinds = [.dangling]
    heldValue = value
    (heldCount, heldEdges) = (value.deletedCount, value.count)
    self.plan = plan
    if batch != nil { return }
    (deletedCount, byCollection) = (value.deletedCount, value.byCollection)
  }

  /// The plan was not carried out, and waits for approval.
  package mutating func hold(_ held: HeldPlan, _ kinds: [SweepKind], plan: Int64) {
    if outcome == .held { otherHeldParts.append(self) }
    outcome = .held
    // A sweep that cascades does the other kind's work where there is none of it. The plan is only
    // of the kinds that were asked for.
    heldKinds = kinds.filter { $0 == .unreferenced || self.kinds.include($0) }
    heldCount = held.deletedCount
    heldEdges = held.lostCount
    self.plan = plan
    if batch != nil { return }
    deletedCount = held.deletedCount
    byCollection = held.byCollection
  }
}

/// The progress of a sweep or an undo.
package struct WorkProgress: Hashable, Sendable {
  package enum Phase: String, Sendable { case looking, planning, deleting, restoring }

  package var phase: Phase
  /// What is looked through now, while `done` of `total` relationships are.
  package var subject: String?
  package var done = 0
  package var total = 0

  package init(phase: Phase, done: Int = 0, total: Int = 0) {
    self.phase = phase
    self.done = done
    self.total = total
  }

  package init(looking subject: String, done: Int, total: Int) {
    self.init(phase: .looking, done: done, total: total)
    self.subject = subject
  }
}

/// What a sweep or an undo does between its steps.
package struct StepPolicy {
  /// Leaves the lock to others for a while. If it throws, the sweep ends here, and goes on when it
  /// is asked for again.
  package var pause: (Duration) throws -> Void
  /// Whether `pause` would throw now. Long work before the first pause ends then too.
  package var shouldStop: () -> Bool
  package var reportProgress: (WorkProgress) -> Void
  /// Whether each transaction of a sweep waits until no other process is in one
  /// (`limits.patience`).
  package var waitsForTransactions = false

  package init(
    pause: @escaping (Duration) throws -> Void, shouldStop: @escaping () -> Bool = { false },
    reportProgress: @escaping (WorkProgress) -> Void = { _ in }
  ) {
    self.pause = pause
    self.shouldStop = shouldStop
    self.reportProgress = reportProgress
  }

  package static var none: StepPolicy { StepPolicy { _ in } }
}
