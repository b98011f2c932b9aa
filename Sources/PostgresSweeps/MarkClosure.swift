internal import CascadeEngine
internal import CascadeModel
internal import CascadePostgres
package import CascadeStore
internal import PostgresBinding
package import PostgresTables

/// What is marked because other rows are (`softDelete`): found level by level in `cascade.marking`, and it only grows.
///
/// 1. What follows a marked row is what its deletion would take along; of that, only rows go on that can be marked.
/// 2. For marks, a marked row is no holder: it does not count, and it denies nothing.
/// 3. What is denied or protected is left out, and what follows from it alone: then it is found anew.
package struct MarkClosure {
  private let store: StoreConnection
  private let job: Int64
  private let relations: [EdgeRelation]
  private var db: Session { _read { yield store.db } }

  package init(_ store: StoreConnection, job: Int64) {
    (self.store, self.job) = (store, job)
    relations = store.binding.relations.filter { !$0.isTie }
  }

  private var marked: [Int64: MarkedTable] { store.binding.marked }
  private var tables: [MarkedTable] {
    marked.values.sorted { $0.table.number < $1.table.number }
  }

  /// Finds what follows from the marks that the job owns, and from what it marked before.
  package func find(batch: Int64?) throws {
    try db.run("DELETE FROM cascade.mark_denied")
    repeat {
      // That of a job that waits stays.
      try db.run("DELETE FROM cascade.marking WHERE job = \(job)")
      for table in ["mark_reason", "mark_counted"] { try db.run("DELETE FROM cascade.\(table)") }
      for table in tables { try begin(with: table, batch: batch) }
      try complete()
    } while try findDenied()
  }

  /// What rows of `cascade.mark` behind this one have marked, and must not be. An application's statement is refused by a
  /// trigger.
  package func denied(behind last: Int64) throws -> [Reason] {
    try db.run("DELETE FROM cascade.mark_denied")
    try db.run("DELETE FROM cascade.marking WHERE job = \(job)")
    for table in tables.map(\.table) {
      try db.run(
        """
        INSERT INTO cascade.marking(job, collection, key)
        SELECT \(job), e.collection, e.key FROM cascade.mark e
        WHERE e.seq > \(last) AND e.marked AND e.collection = \(table.number) ON CONFLICT DO NOTHING
        """)
    }
    _ = try findDenied("true")
    defer { _ = try? db.run("DELETE FROM cascade.marking WHERE job = \(job)") }
    return try denied()
  }

  private func begin(with marked: MarkedTable, batch: Int64?) throws {
    let (table, value, isMarked) = (marked.table, marked.value("s"), marked.isMarked("s"))
    if let batch {
      try db.run(
        """
        INSERT INTO cascade.marking(job, collection, key, value, type, is_done)
        SELECT DISTINCT \(job), x.collection, x.key, \(value.text), \(value.type), true
        FROM cascade.marked x JOIN \(table.name) s ON \(table.key.equal("s", text: "x.key"))
        WHERE x.batch = \(batch) AND x.collection = \(table.number) AND \(isMarked) ON CONFLICT DO NOTHING
        """)
    }
    try db.run(
      """
      INSERT INTO cascade.marking(job, collection, key, value, type, old)
      SELECT \(job), e.collection, e.key, \(value.text), \(value.type), e.old
      FROM cascade.mark e JOIN \(table.name) s ON \(table.key.equal("s", text: "e.key"))
      WHERE e.job = \(job) AND e.collection = \(table.number) AND \(isMarked)
      AND e.marked AND NOT EXISTS (SELECT FROM cascade.mark o
        WHERE o.seq > e.seq AND o.collection = e.collection AND o.key = e.key AND NOT o.marked)
      ORDER BY e.seq ON CONFLICT DO NOTHING
      """)
  }

  private func complete() throws {
    var low: Int64 = 0
    while let high = try last, high > low {
      let level = "m.seq > \(low) AND m.seq <= \(high)"
      try findReasons(level)
      try addFollowing(level)
      try addWithoutRemaining(level, high)
      low = high
    }
  }

  package var last: Int64? {
    get throws {
      try db.run("SELECT max(seq) FROM cascade.marking WHERE job = \(job)").integer
    }
  }

  // MARK: - What follows

  private func findReasons(_ isMeant: String) throws {
    for effect in RuleEffect.all(.delete) + RuleEffect.all(.deleteLast) {
      for relation in relations where relation.allRules.contains(effect.rule) {
        let (lost, other) = (effect.lostEnd, effect.affectedEnd)
        guard marked[relation.table(at: lost).number] != nil,
          case let table = relation.table(at: other), marked[table.number] != nil
        else { continue }
        let key = table.key.text(other.row)
        let isOther = "(m.collection, m.key) <> (\(table.number), \(key))"
        let elsewhere =
          lost == .destination ? relation.andNowhereElse(where: { isThere("a", $0) }) : ""
        try db.run(
          """
          INSERT INTO cascade.mark_reason SELECT \(table.number), \(key), \(effect.bit), $1, m.seq
          \(edges(of: relation, at: lost, "cascade.marking m")) AND m.job = \(job) AND \(isMeant)
          AND \(isOther)\(elsewhere) ON CONFLICT DO NOTHING
          """, [relation.name])
      }
    }
  }

  /// FROM and WHERE of the edges that rows `m` with the key of a node have at one end, with the rows `s` or `t` at the
  /// other.
  private func edges(of relation: EdgeRelation, at end: EdgeEnd, _ driver: String) -> String {
    let isNode = "m.collection = \(relation.table(at: end).number)"
    if end == .destination {
      return
        "FROM \(driver), \(relation.edges()) WHERE \(isNode) AND \(relation.leads(toText: "m.key"))"
    }
    let edges = relation.edges(ofText: "m.key")
    return """
      FROM \(driver), \(edges.from), \(relation.destination.name) t
      WHERE \(isNode) AND \(edges.condition) AND \(relation.leads(to: "t"))
      """
  }

  private func addFollowing(_ level: String) throws {
    for table in tables {
      try db.run(
        """
        INSERT INTO cascade.marking(job, collection, key, via, name, rule, value, type)
        SELECT \(job), r.collection, r.key, r.via, r.name, r.rule, m.value, m.type
        FROM cascade.marking m JOIN cascade.mark_reason r ON r.via = m.seq
        WHERE m.job = \(job) AND \(level) AND r.rule & \(Rules.cascading.rawValue) <> 0
        AND r.collection = \(table.table.number) AND \(canBeMarked("r", table))
        ORDER BY r.via ON CONFLICT DO NOTHING
        """)
    }
  }

  private func canBeMarked(_ row: String, _ marked: MarkedTable) -> String {
    let key = marked.table.key.equal("s", text: "\(row).key")
    return """
      EXISTS (SELECT FROM \(marked.table.name) s WHERE \(key) AND NOT \(marked.isMarked("s")))
      AND NOT EXISTS (SELECT FROM cascade.mark_denied d
        WHERE d.collection = \(row).collection AND d.key = \(row).key)
      """
  }

  // MARK: - What counts

  private func addWithoutRemaining(_ level: String, _ number: Int64) throws {
    let counted = try db.run(
      """
      INSERT INTO cascade.mark_counted(collection, key, rule, name, level)
      SELECT DISTINCT r.collection, r.key, r.rule, r.name, \(number)
      FROM cascade.marking m JOIN cascade.mark_reason r ON r.via = m.seq
      WHERE m.job = \(job) AND \(level) AND r.rule & \(Rules.counting.rawValue) <> 0
      ON CONFLICT(collection, key, rule, name) DO UPDATE SET level = excluded.level, remains = false
      """
    ).changed
    if counted == 0 { return }
    try countRemaining("m.level = \(number)")
    for table in tables {
      try db.run(
        """
        INSERT INTO cascade.marking(job, collection, key, via, name, rule, value, type)
        SELECT \(job), c.collection, c.key, r.via, c.name, c.rule, v.value, v.type
        FROM cascade.mark_counted c CROSS JOIN LATERAL (SELECT min(r.via) AS via FROM cascade.mark_reason r
          WHERE (r.collection, r.key, r.rule, r.name) = (c.collection, c.key, c.rule, c.name)) r
        JOIN cascade.marking v ON v.job = \(job) AND v.seq = r.via
        WHERE c.level = \(number) AND NOT c.remains AND c.collection = \(table.table.number)
        AND \(canBeMarked("c", table)) ORDER BY r.via ON CONFLICT DO NOTHING
        """)
    }
  }

  /// Sets `remains` of rows `m` of `cascade.mark_counted` that still have an edge of the name. What is in
  /// `cascade.marking` up to a place counts as marked.
  private func countRemaining(_ isMeant: String, upTo last: Int64 = .max) throws {
    let effects = RuleEffect.all(.deleteLast)
    for effect in effects {
      let end = effect.affectedEnd
      for relation in relations where marked[relation.table(at: end).number] != nil {
        let isThere = isThere(end.other.row, relation.table(at: end.other), upTo: last)
        try db.run(
          """
          UPDATE cascade.mark_counted c SET remains = true
          FROM (SELECT DISTINCT m.collection, m.key
            \(edges(of: relation, at: end, "cascade.mark_counted m")) AND \(isMeant)
            AND m.rule = \(effect.bit) AND m.name = $1 AND \(isThere)) h
          WHERE c.collection = h.collection AND c.key = h.key AND c.rule = \(effect.bit) AND c.name = $1
          """, [relation.name])
      }
    }
  }

  /// Whether a row is there for others.
  private func isThere(_ row: String, _ table: MappedTable, upTo last: Int64 = .max) -> String {
    guard let marked = marked[table.number] else { return "true" }
    return """
      NOT \(marked.isMarked(row)) AND NOT EXISTS (SELECT FROM cascade.marking x WHERE x.job = \(job)
        AND x.collection = \(table.number) AND x.key = \(table.key.text(row)) AND x.seq <= \(last))
      """
  }

  // MARK: - What must not be marked

  /// Returns whether something was found that is in `cascade.marking`.
  private func findDenied(_ isMeant: String = "m.via IS NOT NULL") throws -> Bool {
    let isFollower = "m.job = \(job) AND \(isMeant)"
    var found = 0
    for end in EdgeEnd.allCases {
      for relation in relations
      where relation.allRules.contains(end.denial) && marked[relation.table(at: end).number] != nil
      {
        let other = relation.table(at: end.other)
        let why = DenialText.held(
          by: "\(literal(other.collection + "/")) || \(other.key.text(end.other.row))",
          literal(relation.name), literal(end.denial.names.joined()), words: { literal($0) })
        found += try db.run(
          """
          INSERT INTO cascade.mark_denied SELECT m.collection, m.key, min(\(why.joined(separator: " || ")))
          \(edges(of: relation, at: end, "cascade.marking m")) AND \(isFollower)
          AND \(isThere(end.other.row, other)) GROUP BY 1, 2 ON CONFLICT DO NOTHING
          """
        ).changed
      }
    }
    found += try db.run(
      """
      INSERT INTO cascade.mark_denied SELECT m.collection, m.key, min(\(literal(DenialText.protected)) || t.reason)
      FROM cascade.marking m JOIN cascade.protected p ON p.collection = m.collection AND p.key = m.key
      JOIN cascade.protection t ON t.number = p.protection WHERE \(isFollower) GROUP BY 1, 2
      ON CONFLICT DO NOTHING
      """
    ).changed
    return found > 0
  }

  // MARK: - Looking again

  /// Takes rows of a slice out of `cascade.marking` that have no reason any more, because others have written since. Their
  /// rows are locked first: what begins to refer to one waits, or is seen.
  package func recheck(_ slice: Range<Int64>) throws {
    func isIn(_ place: String) -> String {
      "\(place) > \(slice.lowerBound) AND \(place) <= \(slice.upperBound)"
    }
    for table in tables.map(\.table) {
      try db.run(
        """
        SELECT 1 FROM \(table.name) s JOIN cascade.marking m ON \(table.key.equal("s", text: "m.key"))
        WHERE m.job = \(job) AND \(isIn("m.seq")) AND m.collection = \(table.number) AND m.via IS NOT NULL
        ORDER BY m.key FOR UPDATE OF s
        """)
    }
    let ofSlice =
      "SELECT collection, key FROM cascade.marking WHERE job = \(job) AND \(isIn("seq"))"
    try db.run("DELETE FROM cascade.mark_reason WHERE (collection, key) IN (\(ofSlice))")
    try findReasons(
      "m.seq IN (SELECT via FROM cascade.marking WHERE job = \(job) AND \(isIn("seq")))")
    try db.run(
      "UPDATE cascade.mark_counted SET remains = false WHERE (collection, key) IN (\(ofSlice))")
    try countRemaining("(m.collection, m.key) IN (\(ofSlice))", upTo: slice.upperBound)
    for table in tables {
      try db.run(
        """
        DELETE FROM cascade.marking m WHERE m.job = \(job) AND \(isIn("m.seq"))
        AND m.collection = \(table.table.number) AND m.via IS NOT NULL AND NOT (\(canBeMarked("m", table))
          AND EXISTS (SELECT FROM cascade.mark_reason r JOIN cascade.marking v ON v.job = \(job) AND v.seq = r.via
            WHERE r.collection = m.collection AND r.key = m.key AND v.seq < m.seq AND \(MarkClosure.isReason)))
        """)
    }
  }

  /// Whether an edge `r` by which a node follows is enough: the last one, if it counts.
  package static let isReason = """
    (r.rule & \(Rules.cascading.rawValue) <> 0 OR EXISTS (SELECT FROM cascade.mark_counted c
      WHERE (c.collection, c.key, c.rule, c.name) = (r.collection, r.key, r.rule, r.name) AND NOT c.remains))
    """

  // MARK: - Why

  /// Writes down that all ends that nodes `m` of `cascade.mark_counted` have lost are reasons for their marks, also those
  /// that were marked before: where one of them comes back, the node does. `end` completes the rows.
  package func writeCountedReasons(_ isMeant: String, _ end: String) throws {
    for effect in RuleEffect.all(.deleteLast) {
      let affected = effect.affectedEnd
      for relation in relations where marked[relation.table(at: affected).number] != nil {
        let other = relation.table(at: affected.other)
        guard let soft = marked[other.number] else { continue }
        let row = affected.other.row
        try db.run(
          """
          INSERT INTO cascade.marked
          SELECT DISTINCT m.collection, m.key, \(other.number), \(other.key.text(row)), m.name, m.rule, \(end),
            (SELECT w.old FROM cascade.marking w WHERE (w.job, w.collection, w.key) = (\(job), m.collection, m.key))
          \(edges(of: relation, at: affected, "cascade.mark_counted m")) AND NOT m.remains AND \(isMeant)
          AND m.rule = \(effect.bit) AND m.name = $1 AND \(soft.isMarked(row)) ON CONFLICT DO NOTHING
          """, [relation.name])
      }
    }
  }

  // MARK: - Notices

  /// Notices for the nodes that lose a neighbour with a slice. Returns how many there are.
  package func notices(_ slice: Range<Int64>, batch: Int64, at now: Int64) throws -> Int {
    var count = 0
    for effect in RuleEffect.all(.notify) {
      for relation in relations where relation.allRules.contains(effect.rule) {
        let (end, other) = (effect.affectedEnd, relation.table(at: effect.affectedEnd))
        if marked[relation.table(at: effect.lostEnd).number] == nil { continue }
        let far = other.key.text(end.row)
        let ends = effect.lostEnd == .source ? "m.key, \(far)" : "\(far), m.key"
        count += try db.run(
          """
          INSERT INTO cascade.notice(relation, source, destination, lost_source, batch, at)
          SELECT DISTINCT \(relation.number), \(ends), \(effect.lostEnd == .source), \(batch), \(now)
          \(edges(of: relation, at: effect.lostEnd, "cascade.marking m")) AND m.job = \(job)
          AND m.seq > \(slice.lowerBound) AND m.seq <= \(slice.upperBound) AND NOT m.is_done
          AND \(isThere(end.row, other))
          """
        ).changed
      }
    }
    return count
  }

  // MARK: - As a plan

  private static let isFollower = "m.via IS NOT NULL AND NOT m.is_done"

  /// How many rows are to be marked because of others, by collection.
  package func counts(_ slice: Range<Int64> = 0..<Int64.max) throws -> [String: Int] {
    let rows = try db.run(
      """
      SELECT m.collection, count(*) FROM cascade.marking m WHERE m.job = \(job) AND \(MarkClosure.isFollower)
      AND m.seq > \(slice.lowerBound) AND m.seq <= \(slice.upperBound) GROUP BY 1
      """
    ).rows
    return Dictionary(
      rows.compactMap { row in
        store.binding.table(Int64(row[0]!)!).map { ($0.collection, Int(row[1]!)!) }
      }, uniquingKeysWith: +)
  }

  package func plan() throws -> Plan {
    let rows = try db.run(
      """
      SELECT m.collection, m.key, m.rule, count(*) OVER (PARTITION BY m.rule) FROM cascade.marking m
      WHERE m.job = \(job) AND \(MarkClosure.isFollower) ORDER BY m.seq LIMIT \(Receipt.mostListed)
      """
    ).rows
    let steps = rows.compactMap { row in
      store.binding.table(Int64(row[0]!)!).map {
        Plan.Step(node: $0.node(row[1]!), edge: nil, rule: row[2].flatMap(Rules.name))
      }
    }
    let rules = rows.map { ($0[2].flatMap(Rules.name) ?? "", Int($0[3]!)!) }
    let counts = try counts()
    return Plan(
      steps: steps, deletedCount: counts.values.reduce(0, +), byCollection: counts,
      byRule: Dictionary(rules, uniquingKeysWith: { $1 }), denials: try denied(), files: 0,
      isOverLimit: true)
  }

  package func denied() throws -> [Reason] {
    try db.run("SELECT collection, key, why FROM cascade.mark_denied ORDER BY 1, 2").rows.compactMap
    {
      row in
      store.binding.table(Int64(row[0]!)!).map { .unmarkable($0.node(row[1]!), because: row[2]!) }
    }
  }
}

extension EdgeEnd {
  /// What the SQL calls the row at this end.
  fileprivate var row: String { self == .source ? "s" : "t" }
}
