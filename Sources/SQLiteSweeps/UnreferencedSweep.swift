internal import CascadeModel
internal import CascadePlanning
internal import CascadeSQLite
internal import CascadeStore
internal import SQLiteDeletion
internal import SQLiteEdges
internal import SQLiteJournal
internal import SQLiteRules
internal import SQLiteBinding
internal import SQLiteTables

/// The unreferenced sweep (`Unreferenced.swift`), after all others: what they delete refers to
/// nothing.
///
/// 1. What is being built is not referred to yet. So what is found waits for approval, except in
///    collections that need none. These are a part of their own, with plans of their own.
/// 2. What a part deletes may have been the last to refer to something. So the parts are repeated
///    until they delete nothing more.
extension Writer {
  func sweepUnreferencedParts(
    _ kinds: [SweepKind], _ result: inout SweepResult, _ manners: StepPolicy
  ) throws {
    if !kinds.sweepsUnreferenced(of: model) || result.isCutShort { return }
    if attachment.isDetached { throw StoreError.detached }
    try adaptToSchema()
    sweepRun.hasMoreParts = true
    defer {
      sweepRun.hasMoreParts = false
      sweepRun.unreferenced = nil
    }
    let free = model.countedEnds.filter { model.freelyUnreferenced.contains($0.collection) }
    let others = model.countedEnds.filter { !free.contains($0) }
    var parts = [(ends: free, needApproval: false), (ends: others, needApproval: true)]
    var before: Int
    repeat {
      before = deletedCount(of: result)
      parts = try parts.filter { try !isHeld($0, &result, manners) }
    } while deletedCount(of: result) > before && !result.isCutShort
  }

  /// Without a batch, the count is that of what is held.
  private func deletedCount(of result: SweepResult) -> Int {
    result.batch == nil ? 0 : result.deletedCount
  }

  /// Sweeps a part. Returns whether it waits now.
  private func isHeld(
    _ part: (ends: [CountedEnd], needApproval: Bool), _ result: inout SweepResult,
    _ manners: StepPolicy
  ) throws -> Bool {
    if result.isCutShort { return true }
    sweepRun.unreferenced = part
    let held = heldCount(of: result)
    try sweepEdges([.unreferenced], &result, at: clock.now, manners)
    sweepRun.openSweepBatch = result.batch ?? sweepRun.openSweepBatch
    sweepRun.deletedByEarlierParts =
      current.hold.wasApproved || result.batch == nil ? [:] : result.byCollection
    return heldCount(of: result) > held
  }

  private func heldCount(of result: SweepResult) -> Int {
    result.otherHeldParts.count + (result.outcome == .held ? 1 : 0)
  }

  /// Keeps planned nodes that have an edge meanwhile.
  func excludeReferenced(_ slice: Slice) throws {
    guard let ends = sweepRun.unreferenced?.ends else { return }
    try db.findUnreferenced(binding, current.numbers, ends, in: slice)
    try exclude(
      slice,
      """
      SELECT g.id FROM temp.gone AS g
      WHERE g.rule = 0 AND g.counts AND g.id NOT IN (SELECT id FROM temp.unreachable_nodes)
      """)
  }

  /// The file of a held plan of this part. The kinds in it are the same for both parts.
  func planFile(_ kinds: [SweepKind]) -> String {
    sweepRun.unreferenced?.needApproval == false ? "\(kinds.planFile) free" : kinds.planFile
  }
}
