internal import CascadeModel
internal import Store
internal import CascadeSystem
/// Sweeps: those that somebody asks for, and those that others' commits ask for.
extension StoreService {
  func sweep(
    _ kinds: [SweepKind], because occasion: SweepRun.Occasion = .asked, by user: UInt32? = nil
  ) async throws -> SweepResult {
    // What was left undone is of one batch, as long as nothing comes between.
    if occasion != .resumed { try? await goOn() }
    let start = ContinuousClock.now
    var result = try await onStore { try await writer.sweep(kinds) }
    if kinds.looksAtFiles { retriesFiles = true }
    try await tendFiles()
    if kinds.looksAtFiles { result.unreferenced = try await unreferencedFiles() }
    let run = result.run(occasion)
    await remember(run, of: kinds)
    if result.isCutShort { postpone() }
    keep(result, run, took: .now - start, by: user)
    try await forgetSettledPlans()
    if result.batch != nil { wakeUp() }
    return result
  }

  /// What another sweep did meanwhile waits no more.
  private func forgetSettledPlans() async throws {
    if condition.heldPlans.isEmpty { return }
    condition.keep(only: try await onStore { try await writer.heldSweeps() })
  }

  /// For who does not wait for it.
  func order(_ kinds: [SweepKind], by user: UInt32) {
    orders.append((kinds, user))
    ordered.ring()
  }

  func followOrders() async {
    repeat {
      while !orders.isEmpty && !Task.isCancelled { await follow(orders.removeFirst()) }
    } while (try? await ordered.wait()) != nil
  }

  private func follow(_ order: (kinds: [SweepKind], user: UInt32)) async {
    do {
      _ = try await sweep(order.kinds, by: order.user)
    } catch {
      // A pause is no trouble: what was begun goes on after it.
      if condition.isAtRest || Task.isCancelled { return }
      tell(.warning, .trouble, "a sweep was asked for: \(error)", [(.reason, "\(error)")])
    }
  }

  /// What others did meanwhile, and what follows from it.
  func lookAtStore() async throws {
    let kinds = configuration.model.immediateKinds
    let look = try await onStore { try await writer.look(sweeping: kinds) }
    note(look.problems.map(\.description))
    leaseTimer.set(look.leaseEnd)
    if look.isNews { noteCommit() }
    if look.unfinishedUndo != nil && look.unfinishedUndo != resumedUndo {
      // It came with a backup.
      hasUnfinishedSweep = true
      wakeUp()
    }
    resumedUndo = look.unfinishedUndo
    if look.hasMore { wakeUp() }
    if look.sweeps.contains(where: \.isCutShort) { postpone() }
    for result in look.sweeps {
      // One that found nothing is nobody's business, but for what waits until it does.
      if result.outcome == .nothing && result.kinds != [.dangling] {
        _ = condition.keep(result)
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
      tally.lastGood = SystemClock.wall()
    }
  }

  /// What a crash, or the end of the daemon, left undone.
  func resumeSweep() async throws {
    condition.remember(held: try await onStore { try await writer.heldSweeps() })
    var isCutShort = false
    if let kinds = try await onStore({ try await writer.unfinishedSweep() }) {
      isCutShort = try await sweep(kinds, because: .resumed).isCutShort
    }
    // Paused meanwhile, it goes on afterwards.
    if condition.isAtRest { return }
    try await resumeUndo()
    hasUnfinishedSweep = condition.isAtRest || isCutShort
  }

  /// With what was left undone, unless that waits for others.
  func goOn() async throws {
    if hasUnfinishedSweep && !isSweepPostponed && !condition.isAtRest { try await resumeSweep() }
  }

  private func postpone() {
    (hasUnfinishedSweep, isSweepPostponed) = (true, true)
    sweepWasCutShort.ring()
  }

  /// What others keep from its end is tried again, less and less often.
  func endDelays() async {
    var backoff = Backoff()
    var last = ContinuousClock.now
    while (try? await sweepWasCutShort.wait()) != nil {
      if .now - last > .seconds(120) { backoff = Backoff() }
      last = .now
      try? await EventLoop.sleep(for: backoff.next())
      isSweepPostponed = false
      wakeUp()
    }
  }

  private func resumeUndo() async throws {
    do {
      if let result = try await onStore({ try await writer.resumeUndo() }) { reportUndone(result) }
    } catch let undo as UndoGivenUp {
      report(undo)
    }
  }

  private func keep(
    _ result: SweepResult, _ run: SweepRun, took time: Duration = .zero, by user: UInt32? = nil
  ) {
    if result.notices > 0 { noticesCame.ring() }
    sweepCount += 1
    lastSweep = result.json(number: sweepCount)
    tally.add(result, at: SystemClock.wall())
    timetable.note(run, of: result.kinds, number: sweepCount, took: time)
    lookAtTimetable()
    if condition.keep(result) { report(result, number: sweepCount, by: user) }
  }

  private func note(_ problems: [String]) {
    if problems == condition.problems { return }
    condition.problems = problems
    reportMismatch(problems)
  }

  /// What waits in the journal, as far as anybody can tell now.
  func journal() async -> ClosedRange<Int64>? {
    guard let gauge, !condition.isDetached, condition.trouble == nil else { return nil }
    let journal = (try? await gauge.read { try $0.journal() }) ?? nil
    noteJournal(journal)
    return journal
  }

  /// Rows of the journal have no time: they are as old as the first one who saw the oldest wait.
  private func noteJournal(_ journal: ClosedRange<Int64>?) {
    let oldest = journal?.lowerBound
    if oldest != journalSince?.row {
      journalSince = oldest.map { (row: $0, at: SystemClock.wall()) }
    }
  }
}

extension StoreModel {
  /// Those that read the journal as soon as it has something.
  var immediateKinds: [SweepKind] {
    [.cascade, .refcount].filter { schedule(of: $0) == .immediate }
  }
}

extension SweepResult {
  fileprivate func run(_ occasion: SweepRun.Occasion) -> SweepRun {
    SweepRun(at: SystemClock.wall(), outcome: outcome, occasion: occasion)
  }
}
