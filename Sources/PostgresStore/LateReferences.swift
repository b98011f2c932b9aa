internal import CascadeModel
internal import CascadePostgres

/// References to what a sweep deleted, from transactions that could not see the deletion.
///
/// A transaction that was open while a node went may have inserted a reference to it, and neither saw
/// the other. Once all transactions that were open then have ended, each later one sees that the node
/// is gone. So what went is looked for once more at that time, and then never again.
struct LateReferences {
  private let store: StoreConnection

  init(_ store: StoreConnection) { self.store = store }

  private var relations: [ColumnRelation] { store.binding.relations(with: .losingDestination) }

  /// Those whose rules remove a reference to nothing. Of the others, what was told already cannot be
  /// told from what came late.
  private var removing: [ColumnRelation] { store.binding.relations(with: .removingSource) }

  /// Remembers what went, in the transaction that ends a batch.
  func remember(_ batch: Int64) throws {
    for table in Set(removing.map(\.destination.number)) {
      try store.db.run(
        """
        INSERT INTO cascade.recheck(collection, key)
        SELECT DISTINCT j.subject, j.key FROM cascade.journal j
        WHERE j.what = \(JournalSubject.gone.rawValue) AND j.done AND j.batch = \(batch)
        AND j.subject = \(table)
        """)
    }
  }

  static let isDue = "xid < pg_snapshot_xmin(pg_current_snapshot())"

  /// Journals what is referred to again, in a transaction of its own. Whether there is any.
  func journalDue() throws -> Bool {
    try store.db.transaction {
      let due = try store.db.run(
        "DELETE FROM cascade.recheck WHERE \(LateReferences.isDue) RETURNING collection, key"
      ).rows
      let keys = Dictionary(grouping: due) { Int64($0[0]!)! }.mapValues { $0.map { $0[1]! } }
      return try removing.reduce(false) { isAny, relation in
        guard let keys = keys[relation.destination.number] else { return isAny }
        return try journal(relation, keys) || isAny
      }
    }
  }

  private func journal(_ relation: ColumnRelation, _ keys: [String]) throws -> Bool {
    let table = relation.destination
    return try store.db.run(
      """
      INSERT INTO cascade.journal(what, subject, key)
      SELECT DISTINCT \(JournalSubject.gone.rawValue), \(table.number), x.\(relation.column)::text
      FROM \(relation.source.name) x
      WHERE x.\(relation.column) = ANY\("$1".array(of: table.family))
      AND NOT EXISTS (SELECT FROM \(table.name) t WHERE t.\(table.key) = x.\(relation.column))
      """, [arrayText(keys)]
    ).changed > 0
  }

  /// References that came when their destination was gone. One to what was deleted before is as if
  /// the deletion were seen now; others to nothing are left to a search for them.
  func journalArrived() throws {
    for relation in relations {
      let table = relation.destination.number
      try store.db.run(
        """
        INSERT INTO cascade.journal(what, subject, key)
        SELECT DISTINCT \(JournalSubject.gone.rawValue), \(table), j.other FROM cascade.journal j
        WHERE j.what = \(JournalSubject.arrived.rawValue) AND j.subject = \(relation.number)
        AND EXISTS (SELECT FROM cascade.deleted k
          WHERE k.collection = \(table) AND k.key = j.other)
        """)
    }
    try store.db.run(
      "DELETE FROM cascade.journal WHERE what = \(JournalSubject.arrived.rawValue)")
  }
}
