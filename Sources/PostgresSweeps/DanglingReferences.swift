package import CascadeModel
internal import CascadePostgres
package import CascadeStore
package import PostgresBinding
package import PostgresTables

/// References to nothing, in whole tables.
package struct DanglingReferences {
  private let store: StoreConnection

  package init(_ store: StoreConnection) { self.store = store }

  /// An end of edges that does not exist, and how many edges name it.
  package struct Missing {
    package let relation: EdgeRelation
    package let end: EdgeEnd
    package let table: MappedTable
    package let value: String
    package let count: Int
    /// Whether no trigger saw it go.
    package let isUnseen: Bool
    /// Whether Cascade has deleted such a row.
    fileprivate let wasDeleted: Bool
    /// Whether its value may mean "none", so that nothing follows without an approval.
    package fileprivate(set) var isHeld = false

    package var node: Node { table.node(value) }

    package var held: HeldValue {
      HeldValue(
        name: relation.name, from: relation.source.collection, lacksSource: end == .source,
        missing: node, count: count)
    }
  }

  /// Only of relationships whose rules follow from a reference to nothing, and of join rows. Every
  /// other one may dangle.
  private func relations(telling: Bool) -> [EdgeRelation] {
    let following: Rules = [
      .deleteSourceIfDestinationDeleted, .deleteSourceIfAllDestinationsDeleted,
      .nullifySourceIfDestinationDeleted, telling ? .notifyIfDestinationDeleted : [],
    ]
    return store.binding.relations.filter {
      $0.join != nil ? $0.looseJoin != nil : !$0.rules.isDisjoint(with: following)
    }
  }

  /// `telling`: also those from which only notices follow. Nothing records for which there were
  /// notices, so this is for references that may have lost their destination while there were no triggers.
  package func find(telling: Bool = false) throws -> [Missing] {
    let spared = try SparedCauses(store)
    let all = try store.readingWholeTables {
      try relations(telling: telling).flatMap { relation in
        try (relation.join == nil ? [.destination] : EdgeEnd.allCases).flatMap {
          try find(relation, $0, but: spared)
        }
      }
    }
    return hold(all)
  }

  private func find(
    _ relation: EdgeRelation, _ end: EdgeEnd, but spared: SparedCauses
  ) throws -> [Missing] {
    let dangling = relation.dangling(at: end)
    let table = dangling.table
    let tables = end == .destination ? relation.destinationNumbers : "\(table.number)"
    let isKnown = """
      FROM cascade.deleted_node k WHERE k.collection IN (\(tables)) AND k.key = d.value
      """
    let rows = try store.db.run(
      """
      SELECT d.value, d.count, NOT EXISTS (SELECT \(isKnown)) AND NOT EXISTS (
          SELECT FROM cascade.journal j
          WHERE j.what = \(JournalSubject.gone.rawValue) AND j.subject IN (\(tables)) AND j.key = d.value),
        EXISTS (SELECT \(isKnown) AND k.is_own) OR EXISTS (SELECT FROM cascade.journal j
          WHERE j.what = \(JournalSubject.gone.rawValue) AND j.subject IN (\(tables)) AND j.key = d.value)
      FROM (SELECT \(dangling.key) AS value, count(*) AS count FROM \(dangling.edges)
        WHERE \(dangling.condition) AND NOT (\(mayStay(relation)))
        AND \(relation.standsForNothing) AND \(relation.join?.mayBeLost("e") ?? "true")
        AND NOT \(spared.ownsDeletion(dangling.key, of: tables))
        AND NOT \(spared.tellOfLoss(of: relation.numbers, from: relation.from(), to: relation.to()))
        GROUP BY 1) d
      """
    ).rows
    return rows.map { row in
      Missing(
        relation: relation, end: end, table: table, value: row[0]!, count: Int(row[1]!)!,
        isUnseen: row[2] == "t", wasDeleted: row[3] == "t")
    }
  }

  /// A missing node is held with all references to it. That a sweep once found 0 or '' missing is no
  /// sign that there ever was such a row.
  private func hold(_ all: [Missing]) -> [Missing] {
    let counts = Dictionary(all.map { ($0.node, $0.count) }, uniquingKeysWith: +)
    return all.map { missing in
      var missing = missing
      let looksLikeNone = missing.value.looksLikeNone
      missing.isHeld =
        looksLikeNone
        ? !missing.wasDeleted
        : missing.isUnseen && counts[missing.node]! >= HeldValue.shared
      return missing
    }
  }

  /// Whether the reference of the row `s` may lead to nothing, because the row has another of the
  /// same name. An earlier sweep has told of it.
  private func mayStay(_ relation: EdgeRelation) -> String {
    relation.staysDangling ? store.binding.hasDestination(relation) : "false"
  }

  /// Journals what is missing, as if its deletion were seen now.
  package func journal(_ missing: [Missing], for causes: Causes) throws {
    let (edges, ends) = (
      missing.filter(\.relation.staysDangling), missing.filter { !$0.relation.staysDangling }
    )
    for group in Dictionary(grouping: ends, by: \.table.number) {
      try store.db.run(
        """
        INSERT INTO cascade.journal(what, subject, key, plan)
        SELECT \(JournalSubject.gone.rawValue), \(group.key), v, \(causes.plan)::bigint FROM unnest($1::text[]) v
        WHERE NOT EXISTS (SELECT FROM cascade.journal j
          WHERE j.what = \(JournalSubject.gone.rawValue) AND j.subject = \(group.key) AND j.key = v)
        """, [arrayText(Set(group.value.map(\.value)).sorted())])
    }
    for group in Dictionary(grouping: edges, by: \.relation.number).values {
      try journalEdges(group[0].relation, group.map(\.value), causes)
    }
  }

  /// Other references to the same node stay, and were told already.
  private func journalEdges(
    _ relation: EdgeRelation, _ values: [String], _ causes: Causes
  ) throws {
    try store.db.run(
      """
      INSERT INTO cascade.journal(what, subject, key, other, plan)
      SELECT \(JournalSubject.widowed.rawValue), \(relation.number),
        \(relation.source.key.text("s")), \(relation.to()), \(causes.plan)::bigint
      FROM \(relation.edges()) WHERE \(relation.leads(toAny: "$1")) AND \(relation.isDangling)
      AND NOT \(mayStay(relation))
      """, [arrayText(values)])
  }
}
