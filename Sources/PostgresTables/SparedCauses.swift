package import CascadeModel
internal import CascadePostgres
package import PostgresBinding

/// What no search of whole tables may take: what only a held plan would let go, and what was given up
/// when a plan was rejected.
///
/// 1. A held plan owns rows of the journal, and of what waits. A reference to a node whose deletion a plan
///    owns is the plan's. What these rows tell is in a table of its own, too: an index of the journal by
///    what a search asks for would cost each row that a trigger writes.
/// 2. What was given up is kept edge by edge, so that a reference that is changed is not given up any more.
package struct SparedCauses {
  static let sql = """
    -- What the causes tell that a held plan got: `what` is a JournalSubject.
    CREATE TABLE cascade.held_cause(
      plan bigint NOT NULL, what smallint NOT NULL, subject int NOT NULL, key text NOT NULL, other text);
    CREATE INDEX held_cause_keys ON cascade.held_cause(what, subject, key);
    CREATE INDEX held_cause_others ON cascade.held_cause(what, subject, other) WHERE other IS NOT NULL;
    -- Edges that were given up when a plan was rejected: `what` is a JournalSubject.
    CREATE TABLE cascade.given_up(
      what smallint NOT NULL, subject int NOT NULL, key text NOT NULL, other text NOT NULL,
      PRIMARY KEY(what, subject, key, other));
    CREATE INDEX given_up_others ON cascade.given_up(what, subject, other);
    -- The answers to rejected plans; `file` is null for those of sweeps.
    CREATE TABLE cascade.rejected_plan(
      number bigint PRIMARY KEY, file text, given_up bigint NOT NULL, restored bigint NOT NULL);
    """

  package let areAny: Bool

  package init(areAny: Bool) { self.areAny = areAny }

  package init(_ store: StoreConnection) throws {
    self.init(areAny: try store.db.run("SELECT \(SparedCauses.exist)").bool)
  }

  package static let exist = """
    (EXISTS (SELECT FROM cascade.held_cause) OR EXISTS (SELECT FROM cascade.given_up))
    """

  private static let held = "SELECT c.what, c.subject, c.key, c.other FROM cascade.held_cause c"

  /// Has rows `c` that a query returns told by a plan, too.
  package static func adding(_ rows: String, to plan: Int64) -> String {
    let whats = [JournalSubject.gone, .lost, .widowed].map { "\($0.rawValue)" }
    return """
      INSERT INTO cascade.held_cause(plan, what, subject, key, other)
      SELECT DISTINCT \(plan), c.what, c.subject, c.key, c.other FROM \(rows) c
      WHERE c.what IN (\(whats.joined(separator: ", ")))
      """
  }

  /// The plan is answered, and its causes have passed or were given up.
  package static func forget(_ plan: Int64, _ store: StoreConnection) throws {
    try store.db.run("DELETE FROM cascade.held_cause WHERE plan = \(plan)")
  }

  /// All of them `h`, for FROM.
  package static let rows = """
    (\(held) UNION ALL SELECT g.what, g.subject, g.key, g.other FROM cascade.given_up g) h
    """

  /// Whether a held plan owns the deletion of a node of these tables, or what it left is a cause still.
  package func ownsDeletion(_ key: String, of tables: String) -> String {
    if !areAny { return "false" }
    return """
      EXISTS (SELECT FROM (\(SparedCauses.held)) h WHERE h.what = \(JournalSubject.gone.rawValue)
        AND h.subject IN (\(tables)) AND h.key = \(key))
      """
  }

  /// Whether edges to a missing end are spared: what a change file adds to them takes only its own.
  package func spare(_ dangling: DanglingEdges, of relation: EdgeRelation, at end: EdgeEnd)
    -> String
  {
    if !areAny { return "false" }
    let tables = end == .destination ? relation.destinationNumbers : "\(dangling.table.number)"
    let hasLost = tellOfLoss(
      of: relation.numbers, from: end == .source ? dangling.key : nil,
      to: end == .destination ? dangling.key : nil)
    return "(\(ownsDeletion(dangling.key, of: tables)) OR \(hasLost))"
  }

  /// Whether one of them tells that an edge of these relations lost an end; nil is any end.
  package func tellOfLoss(
    of relations: String, from key: String? = nil, to other: String? = nil,
    as whats: [JournalSubject] = [.lost, .widowed]
  ) -> String {
    if !areAny || relations.isEmpty { return "false" }
    let ends =
      (key.map { " AND h.key = \($0)" } ?? "") + (other.map { " AND h.other = \($0)" } ?? "")
    let numbers = whats.map { "\($0.rawValue)" }.joined(separator: ", ")
    return """
      EXISTS (SELECT FROM \(SparedCauses.rows) WHERE h.what IN (\(numbers))
        AND h.subject IN (\(relations))\(ends))
      """
  }
}
