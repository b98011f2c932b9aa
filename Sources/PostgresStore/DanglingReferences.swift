internal import CascadeModel
internal import CascadePostgres
internal import CascadeStore

/// References to nothing, in whole tables.
struct DanglingReferences {
  private let store: StoreConnection

  init(_ store: StoreConnection) { self.store = store }

  /// A destination that does not exist, and how many references name it.
  struct Missing {
    let relation: ColumnRelation
    let value: String
    let count: Int
    /// No trigger saw it go, and its value may mean "none".
    let isDoubtful: Bool
  }

  /// Only of relationships whose rules remove a reference to nothing. Every other one may dangle.
  private var relations: [ColumnRelation] {
    store.binding.relations(with: [
      .deleteSourceIfDestinationDeleted, .deleteSourceIfAllDestinationsDeleted,
      .nullifySourceIfDestinationDeleted,
    ])
  }

  func find() throws -> [Missing] {
    try store.readingWholeTables { try relations.flatMap(find) }
  }

  private func find(_ relation: ColumnRelation) throws -> [Missing] {
    let table = relation.destination
    let rows = try store.db.run(
      """
      SELECT d.value, d.count, NOT EXISTS (SELECT FROM cascade.deleted k
          WHERE k.collection = \(table.number) AND k.key = d.value)
        AND NOT EXISTS (SELECT FROM cascade.journal j
          WHERE j.what = 1 AND j.subject = \(table.number) AND j.key = d.value)
      FROM (SELECT x.\(relation.column)::text AS value, count(*) AS count
        FROM \(relation.source.name) x WHERE x.\(relation.column) IS NOT NULL
        AND NOT EXISTS (SELECT FROM \(table.name) t WHERE t.\(table.key) = x.\(relation.column))
        AND NOT (\(mayStay(relation))) GROUP BY 1) d
      """
    ).rows
    return rows.map { row in
      let count = Int(row[1]!)!
      return Missing(
        relation: relation, value: row[0]!, count: count,
        isDoubtful: row[2] == "t" && (count >= 10 || Self.nothings.contains(row[0]!)))
    }
  }

  /// Whether the reference of the row `x` may lead to nothing, because the row has another of the
  /// same name. An earlier sweep has told of it.
  private func mayStay(_ relation: ColumnRelation) -> String {
    relation.rules.isDisjoint(with: .removingSource)
      ? store.binding.hasDestination(relation) : "false"
  }

  private static let nothings: Set<String> = [
    "0", "-1", "", "00000000-0000-0000-0000-000000000000",
  ]

  /// Journals what is missing, as if its deletion were seen now.
  func journal(_ missing: [Missing]) throws {
    for group in Dictionary(grouping: missing, by: \.relation.destination.number) {
      try store.db.run(
        """
        INSERT INTO cascade.journal(what, subject, key)
        SELECT \(JournalSubject.gone.rawValue), \(group.key), v FROM unnest($1::text[]) v
        """, [arrayText(Set(group.value.map(\.value)).sorted())])
    }
  }
}

extension DanglingReferences.Missing {
  var reason: Reason {
    let what = "\(count.counted("reference", "references")) of \"\(relation.relationship.from)\""
    return Reason(
      .invalid,
      "\(what) by \"\(relation.name)\" to \(relation.destination.node(value)), which does not "
        + "exist and may mean \"none\": left alone")
  }
}
