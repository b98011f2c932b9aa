internal import CascadeModel
internal import CascadeEngine
internal import CascadePostgres
package import CascadeStore
internal import PostgresBinding
package import PostgresTables

/// Finds the nodes that violate what the model demands.
package struct Validation {
  private let store: StoreConnection

  package init(store: StoreConnection) { self.store = store }

  package enum Scope {
    case all
    /// The nodes in the scratch table `touched`, and the destinations of sources among them.
    case touched
  }

  /// The first nodes that violate a demand, and how many there are.
  package func violations(_ scope: Scope, limit: Int) throws -> (list: [Reason], total: Int) {
    var (list, total): ([Reason], Int) = ([], 0)
    for judgement in store.binding.judgements {
      let sql = text(judgement, scope)
      total += Int(try store.db.run("SELECT count(*) FROM (\(sql)) v").integer ?? 0)
      let rows = try store.db.run("\(sql) ORDER BY 1 LIMIT \(max(0, limit - list.count))").rows
      list += rows.map { judgement.reason(judgement.subject.node($0[0]!), Int($0[1]!)!) }
    }
    return (list, total)
  }

  // MARK: - The query

  /// Rows of key and count.
  private func text(_ judgement: Judgement, _ scope: Scope) -> String {
    let subject = judgement.subject
    let ends =
      judgement.outgoing.map { "\(destinations($0)) AND \(judgement.counts($0.destination, "t"))" }
      + judgement.incoming.map { "\(sources($0)) AND \(judgement.counts($0.source, "s"))" }
    let none = "SELECT 0, '' WHERE false"
    let isMeant = scope == .all ? "true" : isTouched(judgement)
    return """
      SELECT v.key, v.others FROM (SELECT \(subject.key.text("n")) AS key,
        (SELECT count(*) FROM (\(([none] + ends).joined(separator: " UNION "))) o) AS others
        FROM \(subject.name) n WHERE \(isMeant) AND \(judgement.judges("n"))) v
      WHERE \(judgement.isViolation)
      """
  }

  /// The other ends of the edges of the row `n`.
  private func destinations(_ relation: EdgeRelation) -> String {
    let table = relation.destination
    return """
      SELECT \(table.number), \(table.key.text("t")) FROM \(relation.edges()), \(table.name) t
      WHERE \(relation.source.key.equal("s", relation.source.key, "n")) AND \(relation.leads(to: "t"))
      """
  }

  private func sources(_ relation: EdgeRelation) -> String {
    """
    SELECT \(relation.source.number), \(relation.source.key.text("s")) FROM \(relation.edges())
    WHERE \(relation.leads(to: "n"))
    """
  }

  private func isTouched(_ judgement: Judgement) -> String {
    let own = judgement.subject.key.isIn("n", touched(judgement.subject))
    if !judgement.isUnique { return own }
    let byEdges = judgement.incoming.map { relation in
      judgement.subject.key.isIn(
        "n",
        """
        SELECT \(relation.to()) FROM \(relation.edges()) WHERE \(relation.isEdge())
        AND \(relation.source.key.isIn("s", touched(relation.source)))
        """)
    }
    return "(\(([own] + byEdges).joined(separator: " OR ")))"
  }

  private func touched(_ table: MappedTable) -> String {
    "SELECT c.key FROM \(store.scratch[.touched]) c WHERE c.collection = \(table.number)"
  }
}

extension Judgement {
  fileprivate var isViolation: String {
    if isUnique { return "v.others > 1" }
    let (first, last) = demand.constraint.tooFew
    return "v.others BETWEEN \(first) AND \(last)"
      + (demand.constraint.max.map { " OR v.others > \($0)" } ?? "")
  }

  fileprivate func reason(_ node: Node, _ count: Int) -> Reason {
    demand.violation(by: node, "\(node)", count: count, isUnique: isUnique)
  }
}

// MARK: - A change file

extension Validation {
  func begin() throws {
    try store.begin([.touched])
  }

  /// Notes the nodes whose edges the transaction of a batch changes, when all is deleted that has to
  /// go, and no reference is set to null.
  func touch(_ batch: Int64, _ nodes: [Int64: Set<String>]) throws {
    for (table, keys) in nodes {
      try touch(table, "SELECT unnest($1::text[])", [arrayText(keys.sorted())])
    }
    let bySource = store.binding.needed(by: .source)
    let needed = bySource.union(store.binding.needed(by: .destination))
    for relation in store.binding.relations where relation.join?.nodes != nil {
      try touchJoined(relation)
    }
    for judgement in store.binding.judgements where judgement.demand.dependsOnTypes {
      for relation in judgement.outgoing + judgement.incoming {
        try touchNeighbours(relation, nodes)
      }
    }
    for relation in store.binding.relations where needed.contains(relation.number) {
      let lost =
        "FROM cascade.work j WHERE j.batch = \(batch) AND j.subject = \(relation.number)"
      let isEdge = "j.what IN (\(JournalSubject.lost.rawValue), \(JournalSubject.widowed.rawValue))"
      try touch(relation.source.number, "SELECT j.key \(lost) AND \(isEdge)")
      try touch(relation.destination.number, "SELECT j.other \(lost) AND \(isEdge)")
      try touchReferring(relation, batch)
    }
  }

  private func touchReferring(_ relation: EdgeRelation, _ batch: Int64) throws {
    if relation.join != nil { return }
    let gone = """
      SELECT j.key FROM cascade.work j WHERE j.batch = \(batch)
      AND j.what = \(JournalSubject.gone.rawValue) AND j.subject = \(relation.destination.number)
      """
    try touch(
      relation.source.number,
      """
      SELECT \(relation.source.key.text("s")) FROM \(relation.edges())
      WHERE \(relation.leads(toAny: "$1"))
      """, [arrayText(try store.db.run(gone).texts)])
  }

  /// The other ends of edges of these nodes, which may be of another type by now.
  private func touchNeighbours(_ relation: EdgeRelation, _ nodes: [Int64: Set<String>]) throws {
    let (source, table) = (relation.source, relation.destination)
    if let keys = nodes[source.number], source.isManaged {
      try touch(
        table.number,
        """
        SELECT \(relation.to()) FROM \(relation.edges())
        WHERE \(relation.isEdge()) AND \(source.key.isAny("s", "$1"))
        """, [arrayText(keys.sorted())])
    }
    if let keys = nodes[table.number], table.isManaged {
      try touch(
        source.number,
        """
        SELECT \(source.key.text("s")) FROM \(relation.edges()) WHERE \(relation.leads(toAny: "$1"))
        """, [arrayText(keys.sorted())])
    }
  }

  /// The ends of the join rows that were written.
  private func touchJoined(_ relation: EdgeRelation) throws {
    guard let join = relation.join, let nodes = join.nodes else { return }
    for end in EdgeEnd.allCases {
      let columns = join.columns(at: end)
      try touch(
        relation.table(at: end).number,
        """
        SELECT \(columns.text("e")) FROM \(join.name) e
        WHERE \(nodes.key.isIn("e", touched(nodes))) AND \(columns.isComplete("e"))
        """)
    }
  }

  private func touch(_ table: Int64, _ keys: String, _ values: [String?] = []) throws {
    try store.db.run(
      "INSERT INTO \(store.scratch.into(.touched)) SELECT \(table), k.key FROM (\(keys)) k(key) ON CONFLICT DO NOTHING",
      values)
  }
}
