internal import CascadeModel
internal import CascadeSQLite
package import CascadeStore
internal import SQLiteBinding
package import SQLiteTables
internal import SQLiteJournal
internal import SQLiteEdges
internal import SQLiteDeletion

/// Brings back what a batch deleted.
///
/// 1. No rule runs, and nothing that exists is replaced. What cannot come back is listed, stays in
///    the trash, and can be tried again.
/// 2. Foreign keys are not enforced: what the application itself deleted is not ours to bring back,
///    and a row that referred to it does come back. `dangling` lists such references.
/// 3. Triggers of the application run, as they did when the rows were deleted, but do not change
///    what comes back (`UndoTriggers.swift`). Ours do not run.
/// 4. A large batch comes back in steps, as it was deleted (`UndoSteps.swift`).
extension Writer {
  package func undo(
    _ batch: Int64, by author: String, at now: Int64, manners: StepPolicy = .none
  ) throws -> UndoResult {
    if attachment.isDetached { throw StoreError.detached }
    lock.policy = manners
    defer { lock.policy = .none }
    if try isOfMarks(batch) { return try undo(marksOf: batch, by: author, at: now) }
    let origin = try db.integer("SELECT origin FROM cascade_ledger WHERE seq = ?", .integer(batch))
    var undo = Undo(
      writer: self, batch: batch, origin: origin ?? batch, author: author, now: now,
      result: UndoResult(batch: batch, author: author))
    try undo.run()
    return undo.result
  }
}

extension Writer {
  func refuseIfOpen(_ batch: Int64) throws {
    if try db.meta(.sweepBatch) == batch {
      throw StoreError("the sweep of batch \(batch) has not finished yet")
    }
  }
}

/// One undo.
struct Undo {
  let writer: Writer
  let batch: Int64
  /// The batch in which it went: another one where it was separated from that.
  let origin: Int64
  let author: String
  let now: Int64
  var layouts: [NumberedLayout] = []
  var isStepped = false
  /// Whether an earlier daemon began it. What that one brought back is not in `temp.restored`.
  var isResumed = false
  var progress = WorkProgress(phase: .restoring)
  var result: UndoResult

  struct NumberedLayout {
    let number: Int64
    let layout: TrashLayout
    let collection: String
    let remaining: Int
    /// The batch and the number.
    let bound: [Value]
  }

  mutating func run() throws {
    try checkPossible()
    layouts = try readLayouts()
    isResumed = try writer.db.meta(.undoBatch) == batch
    isStepped = needsSteps
    try isStepped ? runInSteps() : runAtOnce()
    try findRepeatedNumbers()
  }

  private mutating func runAtOnce() throws {
    if writer.facts.hasTables { try writer.db.execute("PRAGMA foreign_keys = OFF") }
    defer { if writer.facts.hasTables { try? writer.db.execute("PRAGMA foreign_keys = ON") } }
    try writer.group {
      try restore()
      try end()
    }
  }

  /// Values come back before the edges that they hold, and edges when both of their ends exist.
  mutating func restore() throws {
    try writer.db.empty(.ownedBy(.undo))
    writer.identities.nodes.removeAllEntries()
    for layout in parentsFirst where [.row, .object].contains(layout.layout.kind) {
      try restore(layout)
    }
    for layout in layouts where layout.layout.kind == .side { try restore(layout) }
    // A row that lost a reference before it was deleted must not lose it again.
    let rows = layouts.filter { [.row, .side].contains($0.layout.kind) }
    let changed = Set(layouts.filter { $0.layout.kind == .change }.map(\.layout.subject))
    try finishRows(rows.filter { changed.contains($0.layout.subject) })
    for layout in layouts.reversed() where [.change, .value].contains(layout.layout.kind) {
      try restore(layout)
    }
    try finishRows(rows.filter { !changed.contains($0.layout.subject) })
    try restoreEdges()
    try rebuildRestoredReferences()
    try findDangling()
    try step(of: 1) { try $0.markSharedFilesForRestore() }
    try restoreFiles()
    if result.leftCount == 0 { try emptyTrash() }
  }

  private mutating func restore(_ kept: NumberedLayout) throws {
    switch kept.layout.kind {
    case .row, .side: try restoreRows(kept)
    case .object: try restoreObjects(kept)
    case .change: try restoreChanges(kept)
    case .value: try restoreValues(kept)
    case .name, .edges: break
    }
  }

  /// Parents come before their children, as foreign keys require: others may look between the
  /// steps.
  private var parentsFirst: [NumberedLayout] {
    if !writer.binding.hasForeignKeys { return layouts }
    let order = writer.binding.childrenFirst.reversed().map(\.id)
    let places = layouts.map { kept in order.firstIndex { $0 == kept.layout.collection } ?? .max }
    return zip(places, layouts).sorted { $0.0 < $1.0 }.map(\.1)
  }

  private func readLayouts() throws -> [NumberedLayout] {
    try writer.db.all(
      """
      SELECT l.kind, l.collection, l.subject, l.columns, l.keys, l.types, l.layout, l.remaining, c.name
      FROM cascade_trash_layout AS l LEFT JOIN cascade_collection AS c ON c.id = l.collection
      WHERE l.batch = ? ORDER BY l.layout
      """, .integer(batch)
    ) { row in
      TrashLayout(row: row).map {
        NumberedLayout(
          number: row.integer(6), layout: $0, collection: row.text(8),
          remaining: Int(row.integer(7)), bound: [.integer(batch), row.value(6)])
      }
    }.compactMap { $0 }
  }

  private func checkPossible() throws {
    try writer.refuseIfOpen(batch)
    let entry = try writer.db.first(
      """
      SELECT undone_at, undone_by,
        EXISTS (SELECT 1 FROM cascade_trash_layout WHERE batch = ?1 AND remaining > 0),
        EXISTS (SELECT 1 FROM cascade_trash_layout WHERE batch = ?1 AND remaining < 0)
      FROM cascade_ledger WHERE seq = ?1
      """, .integer(batch)
    ) { row in
      (
        isUndone: !row.isNull(0), at: row.integer(0), by: row.text(1),
        hasTrash: row.integer(2) != 0, isBeingForgotten: row.integer(3) != 0
      )
    }
    guard let entry else { throw UndoUnavailable.unknown }
    if entry.isBeingForgotten { throw UndoUnavailable.notInTrash }
    let keepsFiles = try writer.model.trash > .zero && writer.hasRestorableFiles(of: batch)
    if try entry.hasTrash || keepsFiles || writer.db.meta(.undoBatch) == batch {
      return
    }
    throw entry.isUndone
      ? UndoUnavailable.undone(at: entry.at, by: entry.by) : UndoUnavailable.notInTrash
  }

  /// Ends the undo. What came back is no longer in the trash.
  func end() throws {
    try countWhatIsLeft()
    if result.leftCount > 0 { try keepNamesOfCauses() }
    try writer.db.deleteMeta(.undoBatch, ifEqual: batch)
    if result.restoredNothing && !isResumed { return }
    try writer.db.run(
      "UPDATE cascade_ledger SET undone_at = ?, undone_by = ? WHERE seq = ?", .integer(now),
      .text(author), .integer(batch))
  }

  private func countWhatIsLeft() throws {
    try writer.db.run(
      """
      UPDATE cascade_trash_layout SET remaining = iif(kind = 'edges',
        (SELECT count(*) FROM cascade_trash_edge WHERE batch = ?1),
        (SELECT count(*) FROM temp.left_alone AS a CROSS JOIN cascade_trash AS t
          ON t.batch = ?1 AND t.id = a.id AND t.part = 0
          AND t.layout = cascade_trash_layout.layout))
      WHERE batch = ?1
      """, .integer(batch))
  }

  /// Keeps the names of restored nodes whose deletion had taken along what is left: they still
  /// explain it.
  private func keepNamesOfCauses() throws {
    try writer.db.run(
      """
      INSERT OR IGNORE INTO cascade_trash_node
      SELECT t.batch, r.id, l.collection, r.key FROM temp.left_alone AS a
      CROSS JOIN cascade_trash AS t ON t.batch = ?1 AND t.id = a.id AND t.part = 0
      CROSS JOIN temp.restored AS r ON r.id = t.via
      CROSS JOIN cascade_trash_layout AS l ON l.batch = ?1 AND l.layout = r.layout
      """, .integer(batch))
  }

  /// A file that several rows shared was trashed with the last of them. An undo that brings back
  /// another of these rows finds the file in the trash of that batch.
  func markSharedFilesForRestore() throws {
    if writer.model.files.isEmpty { return }
    let others = """
      FROM (SELECT DISTINCT batch FROM cascade_trash_file WHERE batch <> ?1) AS b
      """
    for relation in writer.binding.edgeRelations where relation.leadsToFiles {
      for layout in layouts
      where layout.layout.kind == .row && layout.collection == relation.source.collection {
        try markForRestore(
          """
          SELECT b.batch, \(relation.destination.id), \(relation.destinationKey) \(others)
          CROSS JOIN temp.restored AS r
          CROSS JOIN \(relation.source.rows) AS s ON \(relation.source.hasKey("s", "r.key"))
          \(relation.references) WHERE r.layout = \(layout.number) AND \(relation.isEdge)
          """)
      }
    }
    try markForRestore(
      """
      SELECT b.batch, f.collection, f.key \(others) CROSS JOIN temp.restored AS r
      CROSS JOIN cascade_edge AS e ON e.source = r.id
      CROSS JOIN cascade_node AS f ON f.id = e.destination
      WHERE f.collection IN (\(Writer.fileCollections))
      """)
  }

  /// Marks files to be moved back after the commit.
  private func markForRestore(_ files: String) throws {
    try writer.db.run(
      generated: """
        UPDATE cascade_trash_file SET fate = \(FileFate.toRestore.rawValue)
        WHERE fate = \(FileFate.trashed.rawValue) AND (batch, collection, path) IN (\(files))
        """, [.integer(batch)])
  }

  /// Leaves one thing in the trash, and lists it.
  mutating func leaveInTrash(_ id: Int64, _ layout: NumberedLayout, because reason: String) throws {
    try writer.db.run("INSERT OR IGNORE INTO temp.left_alone VALUES(?)", .integer(id))
    let key = try writer.db.all(
      generated: """
        SELECT \(TrashLayout.key(keys: "?2")) FROM main.cascade_trash AS t
        WHERE t.batch = ?1 AND t.id = ?3 AND t.part = 0
        """, [.integer(batch), .integer(Int64(layout.layout.keys)), .integer(id)]
    ) { $0.key(0, in: layout.collection, writer.model) }.first
    let node = layout.isOfNodes ? key.map { Node(layout.collection, $0) } : nil
    result.leave(node, layout.described(node), because: reason)
  }
}

extension Undo.NumberedLayout {
  func bound(_ slice: Slice) -> [Value] { bound + slice.bound }

  /// A query: all objects of the same collection.
  var objectsOfCollection: Query {
    "SELECT id FROM main.cascade_node WHERE collection = \(layout.collection ?? 0)"
  }

  var isOfNodes: Bool {
    layout.collection != nil && [.row, .object, .change].contains(layout.kind)
  }

  func described(_ node: Node?) -> String {
    switch layout.kind {
    case .change: "the references of \(node.map { "\($0)" } ?? "a row of \"\(layout.subject)\"")"
    case .value: "the references of an object"
    default: node.map { "\($0)" } ?? "a row of \"\(layout.subject)\""
    }
  }
}
