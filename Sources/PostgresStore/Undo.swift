internal import CascadeModel
internal import CascadePostgres
package import CascadeStore
internal import PostgresBinding
internal import PostgresSweeps
internal import PostgresTables

/// Brings back what a batch deleted, in one transaction.
///
/// 1. The application's triggers see the rows come. Then each row is made what it was, should one of
///    them have changed it. What others deleted before the sweep was never kept.
/// 2. What does not come back stays in the batch, and can be tried again. One bad row costs itself.
extension PostgresWriter {
  package func undo(
    _ batch: Int64, by author: String, at now: Int64, manners: StepPolicy
  ) throws -> UndoResult {
    try followSchema()
    if try isOfMarks(batch) { return try undo(marksOf: batch, by: author, at: now) }
    try refuseUndo(of: batch)
    do {
      return try undo(batch, by: author, at: now, checksAtOnce: false)
    } catch let error as PostgresError where error.isAboutTheValue {
      // Where each table is checked at once, it is known which does not come back.
      return try undo(batch, by: author, at: now, checksAtOnce: true)
    }
  }

  private func undo(
    _ batch: Int64, by author: String, at now: Int64, checksAtOnce: Bool
  ) throws -> UndoResult {
    try store.transaction {
      let constraints = DeferredConstraints(store)
      try checksAtOnce ? constraints.check() : constraints.postpone()
      var undo = try Undo(store, batch, by: author)
      try undo.restore()
      try constraints.check()
      if undo.result.restoredNothing { return undo.result }
      try db.run(
        "UPDATE cascade.ledger SET undone_at = \(now), undone_by = $1 WHERE batch = \(batch)",
        [author])
      return undo.result
    }
  }

  private func refuseUndo(of batch: Int64) throws {
    let row = try db.run(
      "SELECT undone_at, undone_by FROM cascade.ledger WHERE batch = \(batch)"
    ).rows.first
    guard let row else { throw UndoUnavailable.unknown }
    let isKept = try db.run(
      """
      SELECT \(FileRows.isKept)
        OR EXISTS (SELECT FROM cascade.deleted WHERE batch = \(batch) AND rows IS NOT NULL)
        OR EXISTS (SELECT FROM cascade.nullified WHERE batch = \(batch))
        OR EXISTS (SELECT FROM cascade.unlinked WHERE batch = \(batch) AND row IS NOT NULL)
      FROM (SELECT \(batch)::bigint AS batch) l
      """)
    if !isKept.bool {
      let at = row[0].flatMap { Int64($0) }
      throw at.map { .undone(at: $0, by: row[1] ?? "") } ?? UndoUnavailable.notInTrash
    }
    try refuseUndoOfStopped(batch)
  }

  /// What is stopped could not be brought back with the rest.
  private func refuseUndoOfStopped(_ batch: Int64) throws {
    let stopped = store.binding.stopped
    let isAny = try db.run(
      """
      SELECT EXISTS (SELECT FROM cascade.deleted
          WHERE batch = \(batch) AND collection = ANY($1::int[]))
        OR EXISTS (SELECT FROM cascade.nullified
          WHERE batch = \(batch) AND relation = ANY($2::int[]))
        OR EXISTS (SELECT FROM cascade.unlinked WHERE batch = \(batch) AND relation = ANY($2::int[]))
      """, [stopped.collections, stopped.relations].map { arrayText($0.map { "\($0)" }) })
    if !isAny.bool { return }
    let why = store.binding.problems.map(\.description).joined(separator: "; ")
    throw StoreError(
      "batch \(batch) cannot be undone while the tables do not fit the model: \(why)")
  }
}

struct Undo {
  let store: StoreConnection
  let batch: Int64
  /// The batch in which it went: another one where it was separated from that.
  let origin: Int64
  var result: UndoResult
  /// Why rows of these tables do not come back, by their keys.
  var refusals: [Int64: [String: String]] = [:]
  /// The keys of the rows that came back, by the number of the table.
  var restored: [Int64: [String]] = [:]
  private var left: Set<Node> = []

  init(_ store: StoreConnection, _ batch: Int64, by author: String) throws {
    (self.store, self.batch) = (store, batch)
    origin =
      try store.db.run("SELECT origin FROM cascade.ledger WHERE batch = \(batch)").integer ?? batch
    result = UndoResult(batch: batch, author: author)
  }

  mutating func restore() throws {
    let tables = store.binding.tables.values.sorted { $0.number < $1.number }
    try restoreTables(tables)
    for table in tables { try leave(table, "its key was taken meanwhile") }
    try leaveUnbound()
    for relation in store.binding.relations {
      try restoreReferences(relation)
      let lists = try restoreList(relation)
      try leaveReferences(relation)
      try settleLists(relation, restored: lists)
      try restoreJoinRows(relation)
    }
    for relation in store.binding.files { try restoreEdges(relation) }
    result.files = try FileRows(store: store).restore(batch) + restoreNamedFiles()
    try listDangling()
    try LateReferences(store).rememberRestored()
    try remarkNumbers(in: tables)
    try KeptRows.end(store)
  }

  private mutating func remarkNumbers(in tables: [MappedTable]) throws {
    let numbers = UndoNumbers(store)
    for table in tables {
      for remark in try restored[table.number].map({ try numbers.remarks(table, $0) }) ?? [] {
        result.remark(remark)
      }
    }
  }

  /// Each node once.
  mutating func leave(_ node: Node, because reason: String) {
    if left.insert(node).inserted { result.leave(node, node.json.text, because: reason) }
  }

  /// Returns why the database refuses it; then nothing of it was done.
  mutating func attempt(_ body: (inout Undo) throws -> Void) throws -> String? {
    var next = self
    do {
      try store.db.savepoint { try body(&next) }
      self = next
      return nil
    } catch let error as PostgresError where error.isAboutTheValue {
      return error.message
    }
  }
}
