internal import CascadeModel
internal import CascadeStore
internal import Spool
internal import CascadeSystem

/// What people and clients ask of an open store.
extension StoreWriter {
  /// Does a part of the work on files. Also returns how many files wait after it, if that may have changed,
  /// and how long to leave the lock to other writers.
  func tendFiles(retrying: Bool) throws -> (work: FileWork, waiting: Int?, pause: Duration?) {
    let writer = try attached().writer
    if retrying { writer.retryFiles() }
    let budget = min(writer.budget, .milliseconds(5))
    let work = try writer.processFiles(
      configuration.surroundings, at: SystemClock.wall(), budget: budget)
    let isSame = work.isIdle && !retrying
    return (work, isSame || work.hasMore ? nil : try writer.filesToMove, writer.pause)
  }

  func heldSweeps() throws -> [SweepResult] { try attached().writer.heldSweeps }

  func noteHeldPlans() throws -> Int64? {
    try attached().writer.noteHeldPlans(at: SystemClock.wall())
  }

  func takeRoots(_ names: [String]) throws -> [TakenRoot] {
    try attached().writer.takeRoots(names, configuration.surroundings)
  }

  func acknowledge(upTo notice: Int64) throws -> Int {
    try attached().writer.acknowledge(upTo: notice)
  }

  func filesStillWanted(of batch: Int64) throws -> [Destination] {
    try attached().writer.filesToRestore(of: batch)
  }

  func undo(_ batch: Int64, by author: String) throws -> UndoResult {
    defer { progress.set(nil) }
    return try attached().writer.undo(
      batch, by: author, at: SystemClock.wall(), manners: stepPolicy)
  }

  func undo(_ node: Node, by author: String) throws -> UndoResult {
    defer { progress.set(nil) }
    return try attached().writer.undo(node, by: author, at: SystemClock.wall(), manners: stepPolicy)
  }

  func resumeUndo() throws -> UndoResult? {
    defer { progress.set(nil) }
    // The store was paused after this call was made.
    if try attached().writer.operatorPause != nil { return nil }
    return try attached().writer.resumeUndo(at: SystemClock.wall(), manners: stepPolicy)
  }

  func approve(plan: Int64) throws -> ApprovedPlan? {
    try attached().writer.approve(plan: plan)
  }

  func reject(plan: Int64) throws -> RejectedPlan? {
    let writer = try attached().writer
    try noteTime(writer)
    return try writer.reject(plan: plan, at: SystemClock.wall())
  }

  func protect(_ request: Protection.Request) throws -> Protection {
    try attached().writer.protect(request, at: SystemClock.wall())
  }

  func unprotect(_ node: Node, by author: String) throws -> Protection? {
    let known = try attached().writer.unprotect(node, by: author, at: SystemClock.wall())
    if known != nil { noteOwnNews() }
    return known
  }

  /// Also returns whether anything is protected.
  func reviewProtections() throws -> (ended: [Protection], isAny: Bool) {
    let writer = try attached().writer
    let ended = try writer.reviewProtections(at: SystemClock.wall())
    if !ended.isEmpty { noteOwnNews() }
    return (ended, try writer.hasProtections)
  }

  func dropPlans(ofFile file: String) throws { try attached().writer.deletePlans(ofFile: file) }
}
