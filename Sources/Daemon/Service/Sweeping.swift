internal import CascadeModel
internal import CascadeSystem
internal import CascadeStore
internal import CascadeEngine
internal import Spool
internal import SystemdService

/// Sweeps on request, and sweeps after commits of other connections.
extension StoreService {
  func sweep(
    _ kinds: [SweepKind], because occasion: SweepRun.StartReason = .asked, by user: UInt32? = nil
  ) async throws -> SweepResult {
    if !kinds.expire(configuration.model) {
      var result = try await inTurn { try await sweepInTurn(kinds, occasion, user) }
      try await followMarks(of: kinds, into: &result)
      return result
    }
    var result = SweepResult(kinds: kinds, outcome: .nothing)
    let others = kinds.filter { $0 != .expired }
    if !others.isEmpty {
      result = try await inTurn { try await sweepInTurn(others, occasion, user) }
      result.kinds = kinds
      try await followMarks(of: kinds, into: &result)
    }
    result.add(try await expire(because: occasion, by: user))
    return result
  }

  /// What is marked because of others goes on with the kind that cascades.
  private func followMarks(of kinds: [SweepKind], into result: inout SweepResult) async throws {
    if kinds.cascades, let job = try await followMarks() { result.add(SweepResult(marks: job)) }
  }

  private func sweepInTurn(
    _ kinds: [SweepKind], _ occasion: SweepRun.StartReason, _ user: UInt32?
  ) async throws -> SweepResult {
    // An unfinished sweep continues first, so that its deletions stay in one batch.
    if occasion != .resumed { try? await continueUnfinishedSweep() }
    let start = ContinuousClock.now
    var result = try await onStore { try await writer.sweep(kinds, waits: occasion != .asked) }
    if kinds.sweepsFiles { retriesFiles = true }
    try await moveUnreferencedFiles()
    if kinds.sweepsFiles { result.unreferenced = try await unreferencedFiles() }
    if result.outcome == .nothing && kinds.contains(where: \.sweepsEdges) {
      result.blocked = try await stillDenied()
      if !result.blocked.isEmpty { result.outcome = .blocked }
    }
    let run = result.run(occasion)
    await remember(run, of: kinds)
    if result.isCutShort { postpone() }
    keep(result, run, took: .now - start, by: user)
    try await forgetSettledPlans()
    if result.batch != nil { wakeUp() }
    return result
  }

  /// Nodes that earlier sweeps had to leave, and that would still be left.
  private func stillDenied() async throws -> [Reason] {
    let nodes = Set(condition.denied.compactMap(\.node))
    if nodes.isEmpty { return [] }
    let plan = try await reader.read { try $0.planSweep([.cascade, .refcount, .dangling]) }
    let still = plan.denials.filter { $0.node.map(nodes.contains) ?? false }
    condition.forgetDenied(except: still)
    return still
  }

  /// Forgets held plans that another sweep has carried out.
  private func forgetSettledPlans() async throws {
    if condition.heldPlans.isEmpty { return }
    condition.setHeld(try await onStore { try await writer.heldSweeps() })
    await noteHeldPlans()
  }

  /// Notes since when they wait. If that fails, it is noted with the next one.
  func noteHeldPlans() async {
    if let oldest = try? await writer.noteHeldPlans() { oldestHeldPlan = oldest }
  }

  /// Sweeps later; the caller does not wait.
  func requestSweep(_ kinds: [SweepKind], by user: UInt32) {
    requestedSweeps.append((kinds, user))
    sweepRequested.ring()
  }

  func runRequestedSweeps() async {
    repeat {
      while !requestedSweeps.isEmpty && !Task.isCancelled {
        await follow(requestedSweeps.removeFirst())
      }
    } while (try? await sweepRequested.wait()) != nil
  }

  private func follow(_ order: (kinds: [SweepKind], user: UInt32)) async {
    do {
      _ = try await sweep(order.kinds, by: order.user)
    } catch {
      // A pause is not a failure. What was begun continues after it.
      if condition.isAtRest || Task.isCancelled { return }
      tell(.warning, .trouble, "the requested sweep failed: \(error)", [(.reason, "\(error)")])
    }
  }

  /// Examines what other connections did, and runs the sweeps that this requires.
  func reviewStore() async throws {
    let kinds = configuration.model.immediateKinds
    let start = wokenAt ?? .now
    let look = try await onStore { try await writer.reviewCommits(sweeping: kinds, since: start) }
    wokenAt = nil
    tally.add(delays: look.delays)
    note(look.problems.map(\.description))
    leaseTimer.set(look.leaseEnd)
    if look.isNews { noteCommit() }
    delayOfReview = look.wait
    if look.wait != nil { hasOwnWork = true }
    if look.unfinishedUndo != nil && look.unfinishedUndo != resumedUndo {
      // A restored backup had an unfinished undo.
      hasUnfinishedSweep = true
      wakeUp()
    }
    resumedUndo = look.unfinishedUndo
    if look.hasMore { wakeUp() }
    if look.sweeps.contains(where: \.isCutShort) { postpone() }
    for result in look.sweeps {
      // A sweep that found nothing only settles what was held. It does not count as a run, except a
      // search for dangling references.
      if result.outcome == .nothing && result.kinds != [.dangling] {
        _ = condition.noteResult(result)
      } else {
        keep(result, result.run(.immediate))
      }
    }
    if !look.sweeps.isEmpty { try await forgetSettledPlans() }
    if kinds.isEmpty {
      _ = await journal()
      return
    }
    if look.sweeps.allSatisfy(\.isGood) && condition.heldPlans.isEmpty {
      tally.lastConsistent = SystemClock.wall()
    }
  }

  /// Continues what a crash or the end of the daemon left unfinished.
  func resumeSweep() async throws {
    condition.setHeld(try await onStore { try await writer.heldSweeps() })
    await noteHeldPlans()
    var isCutShort = false
    let recorded = try await onStore { try await writer.unfinishedSweep() }
    if let kinds = recorded ?? condition.sweepWithoutSpace?.kinds {
      isCutShort = try await sweep(kinds, because: .resumed).isCutShort
    }
    // If it was paused meanwhile, it continues after the pause.
    if condition.isAtRest { return }
    try await resumeUndo()
    hasUnfinishedSweep = condition.isAtRest || isCutShort
  }

  /// Continues an unfinished sweep, unless it waits for other connections.
  func continueUnfinishedSweep() async throws {
    if hasUnfinishedSweep && !isSweepPostponed && !condition.isAtRest { try await resumeSweep() }
  }

  private func postpone() {
    (hasUnfinishedSweep, isSweepPostponed) = (true, true)
    sweepWasCutShort.ring()
  }

  /// Continues sweeps that other connections' work kept from finishing, at longer and longer
  /// intervals.
  func retryPostponedSweeps() async {
    var backoff = Backoff()
    var last = ContinuousClock.now
    while (try? await sweepWasCutShort.wait()) != nil {
      if .now - last > .seconds(120) { backoff = Backoff() }
      last = .now
      // Space may be there at any moment, and looking costs little.
      let isWithoutSpace = condition.sweepWithoutSpace != nil
      try? await EventLoop.sleep(for: isWithoutSpace ? .seconds(1) : backoff.next())
      isSweepPostponed = false
      wakeUp()
    }
  }

  private func resumeUndo() async throws {
    do {
      if let result = try await onStore({ try await writer.resumeUndo() }) { reportUndone(result) }
    } catch let undo as UndoFailed {
      report(undo)
    }
  }

  func keep(
    _ result: SweepResult, _ run: SweepRun, took time: Duration = .zero, by user: UInt32? = nil
  ) {
    if result.notices > 0 { noticesCame.ring() }
    // Also where nothing followed from what an application has deleted.
    nodesWent.ring()
    sweepCount += 1
    lastSweep = result.json(number: sweepCount)
    tally.add(result, at: SystemClock.wall())
    timetable.note(run, of: result.kinds, number: sweepCount, took: time)
    refreshTimetable()
    condition.noteDenied(result.blocked)
    switch condition.noteArchive(result) {
    case .trouble(let reason):
      tell(
        .warning, .notArchived, "nothing is forgotten: \(reason.printable)", [(.reason, reason)])
    case .recovered: tell(.notice, .recovered, "what is forgotten is archived again")
    case nil: break
    }
    // A held pass is one of the jobs that wait.
    let isHeldPass = result.kinds == [.expired] && result.outcome == .held
    if isHeldPass || condition.noteResult(result) { report(result, number: sweepCount, by: user) }
  }

  private func note(_ problems: [String]) {
    if problems == condition.problems { return }
    condition.problems = problems
    reportMismatch(problems)
    // Files may have been set aside because of them.
    if problems.isEmpty { _ = openSpool?.retrySetAside() }
  }

  /// Looks at once whether the tables fit the model. Returns what does not; while a sweep runs, what was
  /// known before.
  func lookAtTables() async -> [String] {
    // Very many stores are not opened for it.
    if !isServed || condition.isAtRest || progress.progress != nil || stores.areMany {
      return condition.problems
    }
    if let problems = try? await onStore({ try await writer.followSchema() }) {
      note(problems.map(\.description))
      wakeUp()
    }
    return condition.problems
  }

  /// The rows in the journal, if they can be read now.
  func journal() async -> ClosedRange<Int64>? {
    if condition.isAtRest || condition.trouble != nil || configuration.isExclusive { return nil }
    if stores.areMany && mayTellLastJournal { return lastJournal }
    guard let gauge else { return nil }
    let journal =
      configuration.isFile
      ? (try? await gauge.read { try $0.journal() }) ?? nil : await journalGauge.read(by: gauge)
    noteJournal(journal)
    return journal
  }

  /// Of very many stores, none is opened to tell what is known, nor while others wait to be opened.
  private var mayTellLastJournal: Bool {
    !isServed || stores.starts.isCrowded || !isWriterOpen && !areFilesChanged
  }

  /// Notes the age of the oldest row. Rows have no time, so it counts from when the row was first
  /// seen.
  func noteJournal(_ journal: ClosedRange<Int64>?) {
    lastJournal = journal
    let oldest = journal?.lowerBound
    if oldest != journalSince?.row {
      journalSince = oldest.map { (row: $0, at: SystemClock.wall()) }
    }
  }
}

extension StoreModel {
  /// The kinds that read the journal as soon as it has rows.
  var immediateKinds: [SweepKind] {
    [.cascade, .refcount].filter { schedule(of: $0) == .immediate }
  }
}

extension SweepResult {
  fileprivate init(marks job: DeletionJob) {
    let outcome: Outcome = job.state == .held ? .held : job.deletedCount > 0 ? .done : .nothing
    self.init(kinds: [.cascade], outcome: outcome)
    blocked = job.blocked.map { Reason(told: $0) }
    if outcome == .nothing && !blocked.isEmpty { self.outcome = .blocked }
    if outcome == .held {
      (plan, heldKinds, heldCount) = (job.plan, [.cascade], job.total ?? 0)
    } else {
      (marked, batch) = (job.deletedCount, job.batch)
    }
  }

  fileprivate func run(_ occasion: SweepRun.StartReason) -> SweepRun {
    SweepRun(at: SystemClock.wall(), outcome: outcome, occasion: occasion)
  }
}
