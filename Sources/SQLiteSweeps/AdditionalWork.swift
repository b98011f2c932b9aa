internal import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import SQLiteBinding
internal import SQLiteTables
internal import SQLiteEdges
internal import SQLiteDeletion

extension Writer {
  /// Repeats the body in steps of a sweep until it returns false.
  func repeatInSteps(_ manners: StepPolicy, _ body: () throws -> Bool) throws {
    var isMore = true
    while isMore {
      try step { isMore = try repeatWithinBudget(body) }
      if isMore { try yieldLock(manners) }
    }
  }

  /// Calls the body with slices of the rows, in steps of a sweep.
  func forEachSliceInSteps(
    _ ids: String, _ manners: StepPolicy, _ body: (Slice) throws -> Void
  ) throws {
    var rest = try slices(of: ids)
    if rest.isEmpty { return }
    try repeatInSteps(manners) { try rest.takeFirst(body) }
  }

  func findAdditionalWork() throws {
    try collectRemovedEdgeNotices()
    try findCandidates()
  }

  func carryOutAdditionalWork(_ manners: StepPolicy) throws {
    try forEachSliceInSteps("SELECT rowid AS id FROM temp.pending_notices", manners) {
      try writeCollectedNotices($0)
    }
    try forEachSliceInSteps(
      "SELECT rowid AS id FROM temp.new_candidates", manners, persistCandidates)
    if model.files.isEmpty || current.lostCount == 0 { return }
    try forEachSliceInSteps(Writer.lostFiles, manners) { try rememberLostFiles($0) }
  }
}
