internal import CascadeModel
internal import CascadePostgres
internal import PostgresBinding
internal import PostgresTables

/// Rows and objects whose references a change file writes. The triggers are quiet for it.
///
/// 1. Before a row is written for the first time, the edges that it has are journaled as lost. Those
///    that it has again at the end are not lost.
/// 2. What a row refers to when it is deleted, its deletion journals.
struct WrittenRows {
  private let store: StoreConnection
  private let batch: Int64
  /// By the number of their table.
  private(set) var keys: [Int64: Set<String>] = [:]
  /// Keys of rows that were deleted before they were written.
  private var deleted: [Int64: Set<String>] = [:]
  /// The rows of `cascade.work` that rule 1 wrote. An edge in one of them was removed before its row
  /// was deleted, unless the deletion journals it, too.
  private(set) var before: [Int64] = []

  init(_ store: StoreConnection, batch: Int64) { (self.store, self.batch) = (store, batch) }

  // MARK: - Before

  /// `made` are nodes that the file has made. A reference that may lead to any of several tables was
  /// no edge to them before.
  mutating func willWrite(_ key: String, of table: MappedTable, made: Set<Node>) throws {
    let isFirst = keys[table.number, default: []].insert(key).inserted
    if !isFirst || deleted[table.number]?.contains(key) == true { return }
    for relation in store.binding.relations(heldBy: table) {
      let new = relation.alternatives.isEmpty ? [] : keys(of: relation.destination, in: made)
      before += try store.db.run(
        """
        INSERT INTO cascade.work(what, subject, key, other, batch, done)
        SELECT \(JournalSubject.lost.rawValue), \(relation.number), \(relation.from()),
          \(relation.to()), \(batch), \(!relation.isFollowed(.lost))
        FROM \(relation.edges())
        WHERE \(table.key.equal(relation.holderRow, text: "$1::text")) AND \(relation.isListed)
        AND NOT \(relation.to()) = ANY($2::text[]) RETURNING id
        """, [key, arrayText(new)]
      ).rows.map { Int64($0[0]!)! }
    }
  }

  private func keys(of table: MappedTable, in nodes: Set<Node>) -> [String] {
    nodes.filter { $0.collection == table.collection }.compactMap { table.key.text($0.key) }
  }

  /// What a row referred to that is deleted, its deletion journals.
  mutating func note(_ key: String, of table: MappedTable) {
    deleted[table.number, default: []].insert(key)
  }

  // MARK: - At the end

  /// How many edges the file has added and removed in rows that are there. Journals the ends of
  /// edges that are not there.
  func finish() throws -> (added: Int, removed: Int) {
    var (added, removed) = (0, 0)
    for (number, keys) in keys {
      guard let table = store.binding.table(number) else { continue }
      let keys = arrayText(keys.sorted())
      for relation in store.binding.relations(from: table) where relation.join == nil {
        try journalMissing(relation, keys)
      }
      for relation in store.binding.relations(heldBy: table) {
        added += try countAdded(relation, keys)
        if relation.join == nil { removed += try countRemoved(relation) }
      }
    }
    for relation in store.binding.relations where relation.join?.nodes != nil {
      removed += try countRemovedJoins(relation)
    }
    return (added, removed)
  }

  /// Of a reference that leads to several tables only one edge counts.
  private func countAdded(_ relation: EdgeRelation, _ keys: String) throws -> Int {
    if !relation.countsReferences { return 0 }
    return try Int(
      store.db.run(
        """
        SELECT count(*) FROM \(relation.edges())
        WHERE \(relation.lostWith.key.isAny(relation.holderRow, "$1")) AND \(relation.isEdge())
        AND NOT EXISTS (SELECT FROM cascade.work j WHERE \(isLost(relation.numbers))
          AND j.key = \(relation.from()) AND j.other = \(relation.to()))
        """, [keys]
      ).integer ?? 0)
  }

  private func countRemoved(_ relation: EdgeRelation) throws -> Int {
    try Int(
      store.db.run(
        """
        SELECT count(*) FROM cascade.work j WHERE \(isLost("\(relation.number)"))
        \(isFirst(relation)) AND \(relation.source.has("j.key")) AND NOT \(relation.hasEdge("j.key", "j.other"))
        """
      ).integer ?? 0)
  }

  /// Also those whose rows were deleted.
  private func countRemovedJoins(_ relation: EdgeRelation) throws -> Int {
    try Int(
      store.db.run(
        """
        SELECT count(*) FROM (SELECT DISTINCT j.key, j.other FROM cascade.work j
          WHERE \(isLost("\(relation.number)"))) j WHERE NOT \(relation.hasEdge("j.key", "j.other"))
        """
      ).integer ?? 0)
  }

  private func isLost(_ relations: String, _ row: String = "j") -> String {
    """
    \(row).what = \(JournalSubject.lost.rawValue) AND \(row).subject IN (\(relations))
    AND \(row).batch = \(batch)
    """
  }

  /// What to append to the condition for a row `j` of the journal, so that none of an earlier relation
  /// is of the same reference.
  private func isFirst(_ relation: EdgeRelation) -> String {
    let earlier = relation.alternatives.filter(\.isBefore).map { "\($0.number)" }
    if earlier.isEmpty { return "" }
    return """
      AND NOT EXISTS (SELECT FROM cascade.work i
        WHERE \(isLost(earlier.joined(separator: ", "), "i")) AND i.key = j.key AND i.other = j.other)
      """
  }

  private func journalMissing(_ relation: EdgeRelation, _ keys: String) throws {
    let dangling = relation.dangling(at: .destination)
    let row =
      relation.staysDangling
      ? """
      \(JournalSubject.widowed.rawValue), \(relation.number), \(relation.source.key.text("s")),
      \(relation.to())
      """ : "\(JournalSubject.gone.rawValue), \(dangling.table.number), \(dangling.key), NULL"
    try store.db.run(
      """
      INSERT INTO cascade.work(what, subject, key, other, batch)
      SELECT DISTINCT \(row), \(batch) FROM \(dangling.edges)
      WHERE \(relation.source.key.isAny("s", "$1")) AND \(dangling.condition)
      AND \(relation.standsForNothing)
      """, [keys])
  }
}
