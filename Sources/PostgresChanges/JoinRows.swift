internal import CascadeModel
internal import CascadePostgres
internal import PostgresBinding
internal import PostgresSweeps
internal import PostgresTables

/// Rows that a change file adds to join tables, and removes there, where the rows are no nodes.
///
/// An edge that was added and is removed before the next flush never was.
struct JoinRows {
  private let store: StoreConnection
  private let batch: Int64
  private(set) var added = 0
  private(set) var removed = 0
  /// The ends of edges, by the number of their table.
  private(set) var touched: [Int64: Set<String>] = [:]
  /// The ends of edges that were added since the last flush, by the number of their relation.
  private(set) var ends: [Int64: [[String]]] = [:]

  init(_ store: StoreConnection, batch: Int64) { (self.store, self.batch) = (store, batch) }

  private var db: Session { _read { yield store.db } }

  /// Begins anew, after a flush.
  mutating func begin() { self = JoinRows(store, batch: batch) }

  private mutating func touch(_ relation: EdgeRelation, _ ends: [String]) {
    touched[relation.source.number, default: []].insert(ends[0])
    touched[relation.destination.number, default: []].insert(ends[1])
  }

  mutating func insert(_ relation: EdgeRelation, _ join: JoinTable, _ ends: [String]) throws {
    touch(relation, ends)
    try store.writing(join.name) { _ = try db.run(store.binding.insertion(into: join), ends) }
    if try forgetRemoval(relation, ends) { return removed -= 1 }
    self.ends[relation.number, default: []].append(ends)
    added += 1
  }

  private func forgetRemoval(_ relation: EdgeRelation, _ ends: [String]) throws -> Bool {
    try db.run(
      """
      DELETE FROM cascade.work j WHERE j.batch = \(batch) AND j.subject = \(relation.number)
      AND j.key = $1 AND j.other = $2
      AND j.what IN (\(JournalSubject.lost.rawValue), \(JournalSubject.widowed.rawValue))
      """, ends
    ).changed > 0
  }

  mutating func delete(
    _ relation: EdgeRelation, _ join: JoinTable, _ ends: [String], as removal: Removal
  ) throws {
    touch(relation, ends)
    let place = self.ends[relation.number]?.firstIndex(of: ends)
    let what: JournalSubject? =
      switch removal {
      case _ where place != nil: nil
      case .sourceDeleted: .lost
      case .destinationDeleted: .widowed
      case .edgeDeleted: nil
      }
    _ = try RowRemoval(store: store, batch: batch).unlink(
      relation, join,
      RowRemoval.Selection(row: "e", condition: join.isBetween("e"), values: ends), as: what)
    if let place {
      self.ends[relation.number]?.remove(at: place)
      added -= 1
    } else {
      removed += 1
    }
  }

  /// A new edge to what is not there has lost that end. Others that lead there were told before.
  func journalMissingEnds(but spared: SparedCauses) throws {
    for (number, ends) in ends {
      guard let relation = store.binding.relation(number), let join = relation.join else {
        continue
      }
      for end in EdgeEnd.allCases {
        let dangling = relation.dangling(at: end)
        try store.journalMissing(
          dangling, of: relation, at: end, batch,
          where: """
            (\(join.source.text("e")), \(join.destination.text("e")))
            IN (SELECT * FROM unnest($1::text[], $2::text[]))
            AND NOT \(spared.spare(dangling, of: relation, at: end))
            """, [0, 1].map { end in arrayText(ends.map { $0[end] }) })
      }
    }
  }
}

extension StoreConnection {
  /// Journals join rows `e` that have lost an end which is not there, and that end, with which they go.
  /// References of others to it were lost before.
  func journalMissing(
    _ dangling: DanglingEdges, of relation: EdgeRelation, at end: EdgeEnd, _ batch: Int64,
    where condition: String, _ values: [String?] = []
  ) throws {
    let (gone, ends) = (JournalSubject.gone.rawValue, "\(relation.from()), \(relation.to())")
    let isManual = relation.join?.isManual("e") ?? "NULL"
    for row in [
      "\(gone), \(dangling.table.number), \(dangling.key), NULL, true, NULL::boolean",
      "\(end.lost.rawValue), \(relation.number), \(ends), false, \(isManual)",
    ] {
      try db.run(
        """
        INSERT INTO cascade.work(what, subject, key, other, told, is_manual, batch)
        SELECT DISTINCT \(row), \(batch) FROM \(dangling.edges)
        WHERE \(dangling.condition) AND \(condition)
        """, values)
    }
  }
}

extension Binding {
  /// Inserts the row between the keys of `$1` and `$2`.
  func insertion(into join: JoinTable, returning results: [String] = []) -> String {
    insertion(
      into: join.name, (join.source.all + join.destination.all).map(\.name),
      join.source.parts(of: "$1::text") + join.destination.parts(of: "$2::text"),
      returning: results)
  }
}

extension JoinTable {
  /// Whether a row is between these keys.
  func isBetween(_ row: String) -> String {
    "\(source.equal(row, text: "$1")) AND \(destination.equal(row, text: "$2"))"
  }
}
