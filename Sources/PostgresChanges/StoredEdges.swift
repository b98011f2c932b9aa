internal import CascadeModel
internal import CascadePostgres
internal import PostgresBinding
internal import PostgresSweeps
internal import PostgresTables

/// The stored edges that a change file adds and removes.
///
/// 1. Edges of one name between two collections are in one table for each set of rules. A table that
///    the model does not name is made when it is first needed.
/// 2. Two edges with the same name and ends are the same, if their source declares both or none of
///    them: adding it again replaces its rules, and runs none.
struct StoredEdges {
  private let store: StoreConnection
  private let batch: Int64
  private(set) var added = 0
  private(set) var removed = 0
  /// The ends of these edges, by the number of their table.
  private(set) var touched: [Int64: Set<String>] = [:]
  /// Whether a table was made.
  private(set) var hasNewTable = false

  init(_ store: StoreConnection, batch: Int64) { (self.store, self.batch) = (store, batch) }

  private var db: Session { _read { yield store.db } }

  struct Edge {
    let name: String
    let source: MappedTable
    let destination: MappedTable
    let ends: [String]

    /// Whether the row `e` is it, with its ends as `$1` and `$2`.
    fileprivate func isRow(of join: JoinTable) -> String {
      "\(join.source.equal("e", text: "$1")) AND \(join.destination.equal("e", text: "$2"))"
    }
  }

  /// Begins anew, after a flush.
  mutating func begin() throws {
    for join in store.binding.relations.compactMap(\.join) where join.isStored {
      try db.run("UPDATE \(join.name) SET added = 0 WHERE added = \(batch)")
    }
    (added, removed, touched) = (0, 0, [:])
  }

  private mutating func touch(_ edge: Edge) {
    touched[edge.source.number, default: []].insert(edge.ends[0])
    touched[edge.destination.number, default: []].insert(edge.ends[1])
  }

  // MARK: - Tables

  private func relations(of edge: Edge) -> [EdgeRelation] {
    store.binding.relations.filter {
      $0.isStored && $0.name == edge.name && $0.source.number == edge.source.number
        && $0.destination.number == edge.destination.number
    }
  }

  private mutating func relation(of edge: Edge, _ rules: Rules) throws -> EdgeRelation {
    if let relation = relations(of: edge).first(where: { $0.rules == rules }) { return relation }
    let part = JoinTable.part(edge.source, edge.destination, rules: rules)
    try Attachment.makeTable(
      ofEdges: [edge.name, edge.source.collection, edge.destination.collection, part], store)
    hasNewTable = true
    return relations(of: edge).first { $0.rules == rules }!
  }

  // MARK: - Adding

  /// An edge that was there when the transaction began was not added by it.
  mutating func add(_ edge: Edge, _ rules: Rules, isDeclared: Bool) throws {
    touch(edge)
    let relation = try relation(of: edge, rules)
    guard let join = relation.join else { return }
    var (old, isMoved): (Int64?, Bool) = (nil, false)
    for other in relations(of: edge) where other.number != relation.number {
      if let was = try replace(edge, other, isDeclared) { (old, isMoved) = (was, true) }
      if try forgetRemoval(edge, other, isDeclared) { old = 0 }
    }
    if try forgetRemoval(edge, relation, isDeclared) { old = 0 }
    let values = join.source.parts(of: "$1::text") + join.destination.parts(of: "$2::text")
    let rows = try db.run(
      """
      INSERT INTO \(join.name) SELECT \(values.joined(separator: ", ")), \(isDeclared),
      \(old ?? batch) ON CONFLICT DO NOTHING
      """, edge.ends
    ).changed
    if !isMoved { added += rows }
  }

  /// Takes an edge from the table of other rules. Returns the batch that added it.
  private func replace(_ edge: Edge, _ other: EdgeRelation, _ isDeclared: Bool) throws -> Int64? {
    guard let join = other.join else { return nil }
    return try db.run(
      """
      DELETE FROM \(join.name) e WHERE \(edge.isRow(of: join)) AND e.is_declared = \(isDeclared)
      RETURNING e.added
      """, edge.ends
    ).integer
  }

  /// What was removed and is added again was not removed.
  private func forgetRemoval(
    _ edge: Edge, _ relation: EdgeRelation, _ isDeclared: Bool
  ) throws -> Bool {
    try db.run(
      """
      DELETE FROM cascade.work j WHERE j.batch = \(batch) AND j.subject = \(relation.number)
      AND j.key = $1 AND j.other = $2 AND j.is_manual IS DISTINCT FROM \(isDeclared)
      AND j.what IN (\(JournalSubject.lost.rawValue), \(JournalSubject.widowed.rawValue))
      """, edge.ends
    ).changed > 0
  }

  // MARK: - Removing

  /// Whether it was there.
  mutating func unlink(_ edge: Edge, as removal: Removal) throws -> Bool {
    touch(edge)
    var went = 0
    for relation in relations(of: edge) {
      guard let join = relation.join else { continue }
      went += try remove(
        relation, join, "\(edge.isRow(of: join)) AND NOT e.is_declared", edge.ends, as: removal)
    }
    return went > 0
  }

  /// Removes the edges that a node declares, but for some.
  mutating func removeDeclared(
    of key: String, in table: MappedTable, but wanted: [Edge]
  ) throws {
    for relation in store.binding.relations(from: table) where relation.isStored {
      guard let join = relation.join else { continue }
      let keys = wanted.filter {
        $0.name == relation.name && $0.destination.number == relation.destination.number
      }.map { $0.ends[1] }
      let isOther = """
        \(join.source.equal("e", text: "$1")) AND e.is_declared
        AND NOT \(join.destination.isAny("e", "$2"))
        """
      _ = try remove(relation, join, isOther, [key, arrayText(keys)], as: .sourceDeleted)
    }
  }

  private mutating func remove(
    _ relation: EdgeRelation, _ join: JoinTable, _ condition: String, _ values: [String?],
    as removal: Removal
  ) throws -> Int {
    let what: JournalSubject? =
      switch removal {
      case .sourceDeleted: .lost
      case .destinationDeleted: .widowed
      case .edgeDeleted: nil
      }
    let went = try RowRemoval(store: store, batch: batch).unlink(
      relation, join, RowRemoval.Selection(row: "e", condition: condition, values: values),
      as: what,
      isRequest: true)
    removed += went
    return went
  }
}
