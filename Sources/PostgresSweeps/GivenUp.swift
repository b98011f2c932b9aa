package import CascadeModel
internal import CascadePostgres
package import CascadeStore
package import PostgresBinding
package import PostgresTables

/// What stays after a plan was rejected: no search of whole tables takes it (`SparedCauses`).
///
/// 1. A reference to nothing, or a join row without an end, until it is changed.
/// 2. A node that lost an edge, until it is given one; and a node that a search of all nodes has found.
package struct GivenUp {
  private let store: StoreConnection
  private var db: Session { _read { yield store.db } }

  package init(_ store: StoreConnection) { self.store = store }

  /// Whether an edge of a relation is given up.
  package static func has(_ relation: EdgeRelation) -> String {
    """
    EXISTS (SELECT FROM cascade.given_up u WHERE u.subject IN (\(relation.numbers))
      AND u.what <> \(JournalSubject.gone.rawValue) AND u.key = \(relation.from())
      AND u.other = \(relation.to()))
    """
  }

  // MARK: - A plan that owns its causes

  /// Returns how many edges and nodes there are. Nothing is a cause any more that the plan owned.
  package func giveUp(plan: Int64) throws -> Int {
    var count = 0
    // A join row that is a node refers to its ends.
    for relation in store.binding.relations where relation.join?.nodes == nil {
      for end in relation.danglingEnds {
        let table = relation.dangling(at: end).table
        count += try giveUp(relation, end, keys(.gone, table.number, "c.key", of: plan))
      }
    }
    for relation in store.binding.relations { count += try giveUpLosses(relation, of: plan) }
    try db.run("DELETE FROM cascade.journal j WHERE j.plan = \(plan)")
    try db.run(
      "DELETE FROM cascade.work w WHERE w.batch = \(BlockedNodes.waiting) AND w.plan = \(plan)")
    try FileRows(store: store).giveUp(plan)
    return count
  }

  private func causes(of plan: Int64) -> String {
    """
    (SELECT j.what, j.subject, j.key, j.other FROM cascade.journal j WHERE j.plan = \(plan)
      UNION ALL SELECT w.what, w.subject, w.key, w.other FROM cascade.work w
      WHERE w.batch = \(BlockedNodes.waiting) AND NOT w.done AND w.plan = \(plan)) c
    """
  }

  private func keys(
    _ what: JournalSubject, _ subject: Int64, _ key: String, of plan: Int64
  ) throws -> [String] {
    try db.run(
      """
      SELECT DISTINCT \(key) FROM \(causes(of: plan))
      WHERE c.what = \(what.rawValue) AND c.subject = \(subject)
      """
    ).texts
  }

  private func giveUpLosses(_ relation: EdgeRelation, of plan: Int64) throws -> Int {
    var count = 0
    for (what, isThere) in [
      (JournalSubject.lost, relation.destination.has("c.other")),
      (.widowed, relation.source.has("c.key")),
    ] {
      count += try db.run(
        """
        INSERT INTO cascade.given_up(what, subject, key, other)
        SELECT DISTINCT c.what, c.subject, c.key, c.other FROM \(causes(of: plan))
        WHERE c.what = \(what.rawValue) AND c.subject = \(relation.number) AND c.other IS NOT NULL
        AND \(isThere) ON CONFLICT DO NOTHING
        """
      ).changed
    }
    return count
  }

  // MARK: - What a search has found

  package func giveUp(_ missing: [DanglingReferences.Missing]) throws -> Int {
    try missing.reduce(0) { try $0 + giveUp($1.relation, $1.end, [$1.value]) }
  }

  /// The edges of a relation that lack an end with one of these keys.
  private func giveUp(_ relation: EdgeRelation, _ end: EdgeEnd, _ keys: [String]) throws -> Int {
    if keys.isEmpty { return 0 }
    let dangling = relation.dangling(at: end)
    let what = end == .source ? JournalSubject.lost : .widowed
    return try db.run(
      """
      INSERT INTO cascade.given_up(what, subject, key, other)
      SELECT DISTINCT \(what.rawValue), \(relation.number), \(relation.from()), \(relation.to())
      FROM \(dangling.edges) WHERE \(dangling.isAny("$1")) AND \(dangling.condition)
      AND \(relation.from()) IS NOT NULL AND \(relation.to()) IS NOT NULL ON CONFLICT DO NOTHING
      """, [arrayText(keys)]
    ).changed
  }

  /// The nodes with which a closure began.
  package func giveUp(_ closure: Closure) throws -> Int {
    try db.run(
      """
      INSERT INTO cascade.given_up(what, subject, key, other)
      SELECT \(JournalSubject.gone.rawValue), g.collection, g.key, '' FROM \(store.scratch[.gone]) g
      WHERE g.rule IS NULL ON CONFLICT DO NOTHING
      """
    ).changed
  }

  // MARK: - What is given up still

  /// Whether a row `u` of `given_up` about a relation still is: the edge is as it was, or the node has none.
  private func isStill(_ relation: EdgeRelation) -> String {
    let dangles = relation.danglingEnds.map { end in
      let dangling = relation.dangling(at: end)
      return """
        EXISTS (SELECT FROM \(dangling.edges) WHERE \(dangling.condition)
          AND \(relation.from()) = u.key AND \(relation.to()) = u.other)
        """
    }
    let hasEdge =
      "EXISTS (SELECT FROM \(relation.edges()) WHERE \(relation.leads(toText: "u.other")))"
    let isLost = """
      u.what = \(JournalSubject.lost.rawValue) AND \(relation.destination.has("u.other")) AND NOT \(hasEdge)
      """
    return "(\((dangles + [isLost]).joined(separator: " OR ")))"
  }

  private func isAbout(_ relation: EdgeRelation) -> String {
    "u.subject = \(relation.number) AND u.what <> \(JournalSubject.gone.rawValue)"
  }

  private func isAbout(_ table: MappedTable) -> String {
    "u.subject = \(table.number) AND u.what = \(JournalSubject.gone.rawValue)"
  }

  /// A database that is only judged need not have the table.
  package var isAny: Bool {
    get throws {
      try db.run("SELECT to_regclass('cascade.given_up') IS NOT NULL").bool
        && db.run("SELECT EXISTS (SELECT FROM cascade.given_up)").bool
    }
  }

  package func count() throws -> Int {
    try Int(db.run("SELECT count(*) FROM cascade.given_up").integer ?? 0)
  }

  /// Forgets references that were changed, and nodes that went or were given an edge.
  package func forgetChanged() throws {
    if try !isAny { return }
    for relation in store.binding.relations {
      try db.run(
        """
        DELETE FROM cascade.given_up u WHERE \(isAbout(relation)) AND NOT \(isStill(relation))
        """)
    }
    for table in store.binding.tables.values {
      try db.run(
        "DELETE FROM cascade.given_up u WHERE \(isAbout(table)) AND NOT \(table.has("u.key"))")
    }
  }

  /// Adds what is given up to what a check finds.
  package func add(to findings: inout Findings, _ limit: Int) throws {
    if try !isAny { return }
    for relation in store.binding.relations where !relation.isTie {
      let isOne = "\(isAbout(relation)) AND \(isStill(relation))"
      for row in try rows(isOne, &findings, limit) { findings.list.append(finding(relation, row)) }
    }
    for table in store.binding.tables.values.sorted(by: { $0.number < $1.number }) {
      let isOne = "\(isAbout(table)) AND \(table.has("u.key"))"
      for row in try rows(isOne, &findings, limit) {
        let node = table.node(row[1]!)
        findings.list.append(
          Finding(kind: "givenUp", message: "\(node) stays: its plan was rejected", node: node))
      }
    }
  }

  private func rows(
    _ condition: String, _ findings: inout Findings, _ limit: Int
  ) throws -> [[String?]] {
    let rows = try db.run(
      """
      SELECT u.what, u.key, u.other, count(*) OVER () FROM cascade.given_up u WHERE \(condition)
      ORDER BY 1, 2, 3 LIMIT \(max(1, limit - findings.list.count))
      """
    ).rows
    findings.total += Int(rows.first?[3] ?? "0")!
    return Array(rows.prefix(max(0, limit - findings.list.count)))
  }

  private func finding(_ relation: EdgeRelation, _ row: [String?]) -> Finding {
    let edge = relation.edge(row[1]!, row[2]!)
    if row[0] == "\(JournalSubject.widowed.rawValue)" {
      let message =
        "\(edge.source) refers by \"\(relation.name)\" to \(edge.destination.json.text), which is "
        + "gone, and stays: the plan was rejected"
      return Finding(kind: "givenUp", message: message, node: edge.source, edge: edge)
    }
    let node = relation.destination.node(row[2]!)
    let message =
      "\(node) has lost the edge \"\(relation.name)\" from \(edge.source), and stays: the plan was "
      + "rejected"
    return Finding(kind: "givenUp", message: message, node: node, edge: edge)
  }
}

extension EdgeRelation {
  /// The ends that an edge may lack.
  package var danglingEnds: [EdgeEnd] { join == nil ? [.destination] : EdgeEnd.allCases }
}
