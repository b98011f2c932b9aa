internal import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import SQLiteBinding
internal import SQLiteEdges
internal import SQLiteJournal
internal import SQLiteRules
internal import SQLiteSweeps
internal import SQLiteTables

/// Takes back what a batch has marked, the rows with which it began among it, and what was marked because of
/// these.
extension Writer {
  func isOfMarks(_ batch: Int64) throws -> Bool {
    try db.integer(
      "SELECT 1 FROM cascade_ledger WHERE seq = ? AND part = ?", .integer(batch),
      .integer(Submission.Kind.marked.part)) != nil
  }

  func undo(marksOf batch: Int64, by author: String, at now: Int64) throws -> UndoResult {
    try adaptToSchema()
    let first = "SELECT collection, key FROM cascade_marked WHERE batch = \(batch)"
    let hasFirst = try db.integer(generated: "\(first) AND NOT rule LIMIT 1") != nil
    let back = try bringBack(hasFirst ? "\(first) AND NOT rule" : first)
    if back.isEmpty { throw try refusal(of: batch) }
    try group {
      try db.run(
        "UPDATE cascade_ledger SET undone_at = ?, undone_by = ? WHERE seq = ?", .integer(now),
        .text(author), .integer(batch))
    }
    var result = UndoResult(batch: batch, author: author)
    (result.restored, result.byCollection) = (back.values.reduce(0, +), back)
    return result
  }

  private func refusal(of batch: Int64) throws -> UndoUnavailable {
    let undone = try db.first(
      "SELECT undone_at, undone_by FROM cascade_ledger WHERE seq = ? AND undone_at IS NOT NULL",
      .integer(batch)
    ) { UndoUnavailable.undone(at: $0.integer(0), by: $0.text(1)) }
    return undone ?? .notInTrash
  }

  /// The batch of its own of a node that is marked; nil if it is not.
  func separateMarks(of node: Node) throws -> Int64? {
    guard let table = binding.collections[node.collection], let marked = binding.marked[table.id],
      let key = table.stored(node.key)
    else { return nil }
    let isMarked = try db.integer(
      generated: """
        SELECT 1 FROM \(table.rows) AS d WHERE \(table.hasKey("d", "?1")) AND \(marked.isMarked("d"))
        AND EXISTS (SELECT 1 FROM cascade_marked AS x WHERE x.collection = \(table.id) AND x.key = ?1)
        """, [key])
    if isMarked == nil { return nil }
    let batch = beginBatch()
    try record(Submission(.marked, id: "marked-\(batch)", by: "softDelete", at: clock.now))
    try db.run(
      "UPDATE cascade_marked SET batch = ? WHERE collection = ? AND key = ?",
      .integer(batch), .integer(table.id), key)
    return batch
  }
}
