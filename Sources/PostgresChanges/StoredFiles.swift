internal import CascadeModel
internal import CascadeEngine
internal import CascadePostgres
internal import CascadeStore
internal import PostgresBinding
internal import PostgresSweeps
internal import PostgresTables

/// The stored edges to files that a change file adds and removes, in tables like those of other stored
/// edges. No node follows from their loss, but the file may go: a trigger writes that down.
struct StoredFiles {
  private let store: StoreConnection
  private let batch: Int64
  private(set) var added = 0
  private(set) var removed = 0
  /// Whether a table was made.
  private(set) var hasNewTable = false

  init(_ store: StoreConnection, batch: Int64) { (self.store, self.batch) = (store, batch) }

  private var db: Session { _read { yield store.db } }

  struct Edge {
    let name: String
    let source: MappedTable
    let key: String
    let root: String
    let path: String

    /// Whether the row `e` is it, with its source as `$1` and its path as `$2`.
    fileprivate func isRow(of stored: StoredPaths) -> String {
      "\(stored.source.equal("e", text: "$1")) AND e.path = $2"
    }

    fileprivate var ends: [String] { [key, path] }
  }

  /// Begins anew, after a flush.
  mutating func begin() throws {
    for stored in store.binding.files.compactMap(\.stored) {
      try db.run("UPDATE \(stored.name) SET added = 0 WHERE added = \(batch)")
    }
    (added, removed) = (0, 0)
  }

  /// A new edge of a source that is not there has lost that end.
  func journalMissingSources(but spared: SparedCauses) throws {
    if added == 0 { return }
    for dangling in store.binding.files.compactMap(\.sourceless) {
      try db.run(
        """
        INSERT INTO cascade.work(what, subject, key, told, batch)
        SELECT DISTINCT \(JournalSubject.gone.rawValue), \(dangling.table.number), \(dangling.key),
        true, \(batch) FROM \(dangling.edges) WHERE e.added = \(batch) AND \(dangling.condition)
        AND NOT \(spared.ownsDeletion(dangling.key, of: "\(dangling.table.number)"))
        """)
    }
  }

  // MARK: - Tables

  private func relations(of edge: Edge) -> [FileRelation] {
    store.binding.files.filter {
      $0.stored != nil && $0.name == edge.name && $0.source.number == edge.source.number
        && $0.root == edge.root
    }
  }

  private mutating func relation(of edge: Edge, _ rules: Rules) throws -> FileRelation {
    if let relation = relations(of: edge).first(where: { $0.rules == rules }) { return relation }
    if let problem = store.model.problem(ofRoot: edge.root) { throw Rejection(.invalid, problem) }
    try Attachment.makeTable(
      ofEdges: [
        edge.name, edge.source.collection, FileRows.collection + edge.root,
        StoredPaths.part(edge.source, rules: rules),
      ], store)
    hasNewTable = true
    return relations(of: edge).first { $0.rules == rules }!
  }

  // MARK: - Adding

  /// An edge that was there when the transaction began was not added by it.
  mutating func add(_ edge: Edge, _ rules: Rules, isDeclared: Bool) throws {
    let relation = try relation(of: edge, rules)
    guard let stored = relation.stored else { return }
    var old: Int64?
    for other in relations(of: edge) where other.number != relation.number {
      old = try take(edge, from: other, isDeclared) ?? old
    }
    let key = stored.source.parts(of: "$1::text").joined(separator: ", ")
    let rows = try db.run(
      """
      INSERT INTO \(stored.name) SELECT \(key), $2::text, \(isDeclared), \(old ?? batch)
      ON CONFLICT DO NOTHING
      """, edge.ends
    ).changed
    if old == nil { added += rows }
  }

  /// Takes an edge from the table of other rules, to put it into another. Returns the batch that added
  /// it.
  private func take(
    _ edge: Edge, from relation: FileRelation, _ isDeclared: Bool
  ) throws -> Int64? {
    guard let stored = relation.stored else { return nil }
    let batch = try db.run(
      """
      DELETE FROM \(stored.name) e WHERE \(edge.isRow(of: stored)) AND e.is_declared = \(isDeclared)
      RETURNING e.added
      """, edge.ends
    ).integer
    if batch != nil { try forgetLoss(of: edge.path, relation) }
    return batch
  }

  /// A file whose edge never was has lost none.
  private func forgetLoss(of path: String, _ relation: FileRelation) throws {
    try db.run(
      """
      DELETE FROM cascade.file WHERE id = (SELECT max(f.id) FROM cascade.file f
        WHERE f.root = $1 AND f.path = $2 AND f.xid = pg_current_xact_id() AND f.batch IS NULL)
      """, [relation.root, path])
  }

  // MARK: - Removing

  /// Whether it was there. The file may go if the removal counts as a loss of the source.
  mutating func unlink(_ edge: Edge, as removal: Removal) throws -> Bool {
    var isAny = false
    for relation in relations(of: edge) {
      guard let stored = relation.stored else { continue }
      let isIt = "\(edge.isRow(of: stored)) AND NOT e.is_declared"
      let went = try remove(relation, stored, isIt, edge.ends)
      if went.old > 0 && removal != .sourceDeleted { try forgetLoss(of: edge.path, relation) }
      isAny = isAny || went.new + went.old > 0
    }
    return isAny
  }

  /// Removes the edges that a node declares, but for some.
  mutating func removeDeclared(
    of key: String, in table: MappedTable, but wanted: [Edge]
  ) throws {
    for relation in store.binding.files where relation.source.number == table.number {
      guard let stored = relation.stored else { continue }
      let paths = wanted.filter { $0.name == relation.name && $0.root == relation.root }
        .map(\.path)
      let isOther = """
        \(stored.source.equal("e", text: "$1")) AND e.is_declared AND NOT e.path = ANY($2::text[])
        """
      _ = try remove(relation, stored, isOther, [key, arrayText(paths)])
    }
  }

  /// Returns how many went that this batch has added, and how many others.
  private mutating func remove(
    _ relation: FileRelation, _ stored: StoredPaths, _ condition: String, _ values: [String?]
  ) throws -> (new: Int, old: Int) {
    let new = try db.run(
      "DELETE FROM \(stored.name) e WHERE \(condition) AND e.added = \(batch) RETURNING e.path",
      values
    ).texts
    for path in new { try forgetLoss(of: path, relation) }
    let old = try RowRemoval(store: store, batch: batch).unlink(
      relation, RowRemoval.Selection(row: "e", condition: condition, values: values))
    removed += new.count + old
    return (new.count, old)
  }
}
