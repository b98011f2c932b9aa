internal import CascadeModel
internal import CascadeEngine
internal import CascadeSQLite
internal import CascadeStore
internal import SQLiteEdges
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
  package func sweepUnreferenced() throws {
    if attachment.isDetached { throw StoreError.detached }
    try adaptToSchema()
    try findWaitingKeys()
    defer {
      sweepRun.unreferenced = nil
      try? db.empty(.waitingKeys)
    }
    let free = model.countedEnds.filter { model.freelyUnreferenced.contains($0.collection) }
    let others = model.countedEnds.filter { !free.contains($0) }
    var parts = [(ends: free, needApproval: false), (ends: others, needApproval: true)]
    var before: Int
    repeat {
      before = result.goneCount
      parts = try parts.filter { try !isHeld($0) }
    } while result.goneCount > before && !sweepRun.result.isCutShort
  }

  /// Sweeps a part. Returns whether it waits now.
  private func isHeld(_ part: (ends: [CountedEnd], needApproval: Bool)) throws -> Bool {
    if sweepRun.result.isCutShort { return true }
    sweepRun.unreferenced = part
    let held = heldCount
    try sweepEdges([.unreferenced], hasMoreParts: true)
    let result = sweepRun.result
    sweepRun.deletedByEarlierParts =
      current.hold.wasApproved || result.batch == nil ? [:] : result.byCollection
    return heldCount > held
  }

  private var heldCount: Int {
    sweepRun.result.otherHeldParts.count + (sweepRun.result.outcome == .held ? 1 : 0)
  }

  /// Keeps planned nodes that have an edge meanwhile.
  func excludeReferenced(_ slice: Slice) throws {
    guard let ends = sweepRun.unreferenced?.ends else { return }
    try db.findUnreferenced(binding, current.numbers, ends, in: slice)
    try exclude(
      slice,
      """
      SELECT g.id FROM temp.gone AS g
      WHERE \(GoneRow.isFirst("g")) AND g.id NOT IN (SELECT id FROM temp.unreachable_nodes)
      """)
  }

  /// The file of a held plan of this part. The kinds in it are the same for both parts.
  var planFile: String {
    let file = sweepRun.part.planFile
    return sweepRun.unreferenced?.needApproval == false ? "\(file) free" : file
  }
}
