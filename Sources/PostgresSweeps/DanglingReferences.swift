internal import CascadeModel
internal import CascadePostgres
package import CascadeStore
package import PostgresTables

/// References to nothing, in whole tables.
package struct DanglingReferences {
  private let store: StoreConnection

  package init(_ store: StoreConnection) { self.store = store }

  /// An end of edges that does not exist, and how many edges name it.
  package struct Missing {
    package let relation: EdgeRelation
    package let table: MappedTable
    package let value: String
    package let count: Int
    /// No trigger saw it go, and its value may mean "none".
    package let isDoubtful: Bool
  }

  /// Only of relationships whose rules remove a reference to nothing, and of join rows. Every other
  /// one may dangle.
  private var relations: [EdgeRelation] {
    store.binding.relations.filter {
      if $0.join != nil { return $0.looseJoin != nil }
      return !$0.rules.isDisjoint(with: [
        .deleteSourceIfDestinationDeleted, .deleteSourceIfAllDestinationsDeleted,
        .nullifySourceIfDestinationDeleted,
      ])
    }
  }

  package func find() throws -> [Missing] {
    try store.readingWholeTables {
      try relations.flatMap { relation in
        try (relation.join == nil ? [.destination] : EdgeEnd.allCases).flatMap {
          try find(relation, $0)
        }
      }
    }
  }

  private func find(_ relation: EdgeRelation, _ end: EdgeEnd) throws -> [Missing] {
    let dangling = relation.dangling(at: end)
    let table = dangling.table
    let tables = end == .destination ? relation.destinationNumbers : "\(table.number)"
    let rows = try store.db.run(
      """
      SELECT d.value, d.count, NOT EXISTS (SELECT FROM cascade.deleted_node k
          WHERE k.collection IN (\(tables)) AND k.key = d.value)
        AND NOT EXISTS (SELECT FROM cascade.journal j
          WHERE j.what = 1 AND j.subject IN (\(tables)) AND j.key = d.value)
      FROM (SELECT \(dangling.key) AS value, count(*) AS count FROM \(dangling.edges)
        WHERE \(dangling.condition) AND NOT (\(mayStay(relation)))
        AND \(relation.standsForNothing) GROUP BY 1) d
      """
    ).rows
    return rows.map { row in
      let count = Int(row[1]!)!
      return Missing(
        relation: relation, table: table, value: row[0]!, count: count,
        isDoubtful: row[2] == "t" && (count >= 10 || Self.nothings.contains(row[0]!)))
    }
  }

  /// Whether the reference of the row `s` may lead to nothing, because the row has another of the
  /// same name. An earlier sweep has told of it.
  private func mayStay(_ relation: EdgeRelation) -> String {
    relation.staysDangling ? store.binding.hasDestination(relation) : "false"
  }

  private static let nothings: Set<String> = [
    "0", "-1", "", "00000000-0000-0000-0000-000000000000",
  ]

  /// Journals what is missing, as if its deletion were seen now.
  package func journal(_ missing: [Missing]) throws {
    let (edges, ends) = (
      missing.filter(\.relation.staysDangling), missing.filter { !$0.relation.staysDangling }
    )
    for group in Dictionary(grouping: ends, by: \.table.number) {
      try store.db.run(
        """
        INSERT INTO cascade.journal(what, subject, key)
        SELECT \(JournalSubject.gone.rawValue), \(group.key), v FROM unnest($1::text[]) v
        WHERE NOT EXISTS (SELECT FROM cascade.journal j
          WHERE j.what = 1 AND j.subject = \(group.key) AND j.key = v)
        """, [arrayText(Set(group.value.map(\.value)).sorted())])
    }
    for group in Dictionary(grouping: edges, by: \.relation.number).values {
      try journalEdges(group[0].relation, group.map(\.value))
    }
  }

  /// Other references to the same node stay, and were told already.
  private func journalEdges(_ relation: EdgeRelation, _ values: [String]) throws {
    try store.db.run(
      """
      INSERT INTO cascade.journal(what, subject, key, other)
      SELECT \(JournalSubject.widowed.rawValue), \(relation.number),
        \(relation.source.key.text("s")), \(relation.to())
      FROM \(relation.edges()) WHERE \(relation.leads(toAny: "$1")) AND \(relation.isDangling)
      AND NOT \(mayStay(relation))
      """, [arrayText(values)])
  }
}

extension DanglingReferences.Missing {
  package var reason: Reason {
    let what = "\(count.counted("reference", "references")) of \"\(relation.source.collection)\""
    return Reason(
      .invalid,
      "\(what) by \"\(relation.name)\" to \(table.node(value)), which does not "
        + "exist and may mean \"none\": left alone")
  }
}
