package import CascadeModel
internal import CascadeEngine
package import CascadeSQLite
package import SQLiteBinding
internal import SQLiteTables

/// What is marked because other rows are (`softDelete`).
///
/// 1. It is found in `temp.marking` as the set D is found in `temp.gone`: level by level, and it only grows. What
///    follows a marked row is what its deletion would take along; of that, only rows go on that can be marked.
/// 2. For marks, a marked row is no holder: it does not count, and it denies nothing.
/// 3. What is denied or protected is left out, and what follows from it alone: then it is found anew.
package struct MarkClosure {
  let binding: Binding
  /// The rules that some stored edge ever had.
  let rulesSeen: Rules
  let relations: [EdgeRelation]

  package init(_ binding: Binding, rulesSeen: Rules) {
    (self.binding, self.rulesSeen) = (binding, rulesSeen)
    relations = binding.edgeRelations.filter { !$0.leadsToFiles }
  }

  private var tables: [MarkedTable] { binding.marked.values.sorted { $0.nodes.id < $1.nodes.id } }

  /// Finds what follows from the rows that were marked by these rows of `cascade_mark`, and from what a job
  /// marked before.
  package func find(
    _ events: Slice, batch: Int64?, _ db: borrowing Connection
  ) throws {
    try db.empty(.ownedBy(.marks))
    repeat {
      for table in ["marking", "mark_reason", "mark_counted"] {
        try db.run(generated: "DELETE FROM temp.\(table)")
      }
      for table in tables { try begin(with: table, events, batch: batch, db) }
      try complete(db)
    } while try findDenied(db)
  }

  /// What these rows of `cascade_mark` have marked, and must not be. An application's statement is refused by a trigger.
  package func findDenied(among events: Slice, _ db: borrowing Connection) throws {
    try db.empty(.ownedBy(.marks))
    for table in tables { try begin(with: table, events, batch: nil, db) }
    _ = try findDenied(db, "1")
  }

  private func begin(
    with table: MarkedTable, _ events: Slice, batch: Int64?, _ db: borrowing Connection
  ) throws {
    let (nodes, value) = (table.nodes, table.value("d"))
    let isMarked = table.isMarked("d")
    if let batch {
      try db.run(
        generated: """
          INSERT OR IGNORE INTO temp.marking(collection, key, value, is_done)
          SELECT x.collection, x.key, \(value), 1 FROM main.cascade_marked AS x
          CROSS JOIN \(nodes.rows) AS d ON \(nodes.hasKey("d", "x.key"))
          WHERE x.batch = \(batch) AND x.collection = \(nodes.id) AND \(isMarked)
          """)
    }
    try db.run(
      generated: """
        INSERT OR IGNORE INTO temp.marking(collection, key, value, old)
        SELECT \(nodes.id), e.key, \(value), e.old FROM main.cascade_mark AS e
        CROSS JOIN \(nodes.rows) AS d ON \(nodes.hasKey("d", "e.key"))
        WHERE e.seq > \(events.low) AND e.seq <= \(events.high) AND e.collection = \(nodes.id) AND \(isMarked)
        AND e.marked AND NOT EXISTS (SELECT 1 FROM main.cascade_mark AS o
          WHERE o.seq > e.seq AND o.collection = e.collection AND o.key = e.key AND NOT o.marked)
        ORDER BY e.seq
        """)
  }

  private func complete(_ db: borrowing Connection) throws {
    var low: Int64 = 0
    while let high = try db.integer("SELECT max(seq) FROM temp.marking"), high > low {
      let level = Slice(low: low, high: high)
      try findReasons(level.contains("m.seq"), db)
      try addFollowing(level, db)
      try addWithoutRemaining(level, db)
      low = high
    }
  }

  // MARK: - What follows

  /// Puts the edges of rows `m` of `temp.marking` into `temp.mark_reason` by which others follow these.
  private func findReasons(_ isMeant: Query, _ db: borrowing Connection) throws {
    let effects = RuleEffect.all(.delete) + RuleEffect.all(.deleteLast)
    for effect in effects {
      for relation in relations where relation.rules.contains(effect.rule) {
        try findReasons(of: relation, effect, isMeant, db)
      }
      if !rulesSeen.contains(effect.rule) { continue }
      try db.run(
        """
        INSERT OR IGNORE INTO temp.mark_reason
        SELECT o.collection, o.key, \(effect.bit), e.name, m.seq
        \(storedEdges(at: effect.lostEnd, from: "temp.marking AS m")) AND e.rules & \(effect.bit)
        AND \(isMeant) AND o.id <> n.id AND o.collection IN (\(numbers)) AND \(binding.nodeExists("o"))
        """)
    }
  }

  private func findReasons(
    of relation: EdgeRelation, _ effect: RuleEffect, _ isMeant: Query, _ db: borrowing Connection
  ) throws {
    let (lost, other) = (relation[effect.lostEnd], relation[effect.affectedEnd])
    if binding.marked[lost.id] == nil || binding.marked[other.id] == nil { return }
    let key = other.key(effect.affectedEnd.alias)
    let isOther = lost == other ? "AND \(key) IS NOT m.key" : ""
    let elsewhere = effect.lostEnd == .destination ? andNowhereElse(relation) : ""
    try db.run(
      """
      INSERT OR IGNORE INTO temp.mark_reason
      SELECT \(other.id), \(key), \(effect.bit), \(relation.nameId), m.seq
      \(relation.edges(at: effect.lostEnd, ofKeysIn: "temp.marking AS m")) AND \(isMeant)
      \(isOther)\(elsewhere)
      """)
  }

  /// Where nothing tells to which table a reference leads, it is lost when the last row is marked.
  private func andNowhereElse(_ relation: EdgeRelation) -> String {
    relation.alternatives.filter { $0 != relation.destination }.map { table in
      """
       AND NOT EXISTS (SELECT 1 FROM \(table.rows) AS a
        WHERE \(table.hasKey("a", relation.reference)) AND \(isThere("a", table)))
      """
    }.joined()
  }

  private func addFollowing(_ level: Slice, _ db: borrowing Connection) throws {
    let rules = Rules.cascading.rawValue
    for table in tables {
      try db.run(
        """
        INSERT OR IGNORE INTO temp.marking(collection, key, via, name, rule, value)
        SELECT r.collection, r.key, r.via, r.name, r.rule, m.value
        FROM temp.marking AS m CROSS JOIN temp.mark_reason AS r ON r.via = m.seq
        WHERE \(level.contains("m.seq")) AND r.rule & \(rules) AND r.collection = \(table.nodes.id)
        AND \(canBeMarked("r", table)) ORDER BY r.via
        """)
    }
  }

  /// A row `r` of a table with the keys of nodes is there, not marked, and may be marked.
  private func canBeMarked(_ row: String, _ table: MarkedTable) -> String {
    """
    EXISTS (SELECT 1 FROM \(table.nodes.rows) AS d
      WHERE \(table.nodes.hasKey("d", "\(row).key")) AND NOT \(table.isMarked("d")))
    AND (\(row).collection, \(row).key) NOT IN (SELECT collection, key FROM temp.mark_denied)
    """
  }

  // MARK: - What counts

  private func addWithoutRemaining(_ level: Slice, _ db: borrowing Connection) throws {
    try db.run(
      """
      INSERT INTO temp.mark_counted(collection, key, rule, name, level)
      SELECT DISTINCT r.collection, r.key, r.rule, r.name, \(level.high)
      FROM temp.mark_reason AS r WHERE \(level.contains("r.via")) AND r.rule & \(Rules.counting.rawValue)
      ON CONFLICT DO UPDATE SET level = excluded.level, remains = 0
      """)
    if db.changes == 0 { return }
    try countRemaining("m.level = \(level.high)", upTo: .max, db)
    for table in tables {
      try db.run(
        """
        INSERT OR IGNORE INTO temp.marking(collection, key, via, name, rule, value)
        SELECT c.collection, c.key, min(r.via), c.name, c.rule, v.value FROM temp.mark_counted AS c
        CROSS JOIN temp.mark_reason AS r ON r.collection = c.collection AND r.key = c.key
          AND r.rule = c.rule AND r.name = c.name
        CROSS JOIN temp.marking AS v ON v.seq = r.via
        WHERE c.level = \(level.high) AND NOT c.remains AND c.collection = \(table.nodes.id)
        AND \(canBeMarked("c", table)) GROUP BY c.id ORDER BY 3
        """)
    }
  }

  /// The references that count, of rows that can be marked.
  func counted(_ effect: RuleEffect) -> [EdgeRelation] {
    binding.counted(effect, stored: rulesSeen, following: .all).filter {
      $0.relationship != nil && binding.marked[$0[effect.affectedEnd].id] != nil
    }
  }

  /// Sets `remains` of rows `m` of `temp.mark_counted` that still have an edge of the name. What is in
  /// `temp.marking` up to a place counts as marked.
  private func countRemaining(
    _ isMeant: Query, upTo last: Int64, _ db: borrowing Connection
  ) throws {
    for effect in RuleEffect.all(.deleteLast) {
      let end = effect.affectedEnd
      for relation in counted(effect) {
        let other = relation[end.other]
        let isThere = other.kind == .files ? "1" : isThere(end.other.alias, other, upTo: last)
        try db.run(
          """
          UPDATE temp.mark_counted SET remains = 1 WHERE id IN (SELECT m.id
            \(relation.edges(at: end, ofKeysIn: "temp.mark_counted AS m")) AND \(isMeant)
            AND m.rule = \(effect.bit) AND m.name = \(relation.nameId) AND \(isThere))
          """)
      }
      if rulesSeen.isEmpty { continue }
      try db.run(
        """
        UPDATE temp.mark_counted SET remains = 1 WHERE id IN (SELECT m.id
          \(storedEdges(at: end, from: "temp.mark_counted AS m")) AND \(isMeant)
          AND m.rule = \(effect.bit) AND m.name = e.name AND \(isStoredThere(upTo: last)))
        """)
    }
  }

  /// Whether a row is there for others.
  func isThere(_ row: String, _ table: NodeTable, upTo last: Int64 = .max) -> String {
    guard let marked = binding.marked[table.id] else { return "1" }
    return """
      NOT \(marked.isMarked(row)) AND NOT EXISTS (SELECT 1 FROM temp.marking AS x
        WHERE x.collection = \(table.id) AND x.key = +\(table.key(row)) AND x.seq <= \(last))
      """
  }

  // MARK: - Stored edges

  var numbers: String { tables.map { "\($0.nodes.id)" }.joined(separator: ", ") }

  /// Of rows `m` with keys, with the nodes `o` at their other ends.
  func storedEdges(at end: EdgeEnd, from driver: String) -> String {
    """
    FROM \(driver) CROSS JOIN main.cascade_node AS n ON n.collection = m.collection AND n.key = +m.key
    CROSS JOIN main.cascade_edge AS e ON e.\(end) = n.id
    CROSS JOIN main.cascade_node AS o ON o.id = e.\(end.other) WHERE 1
    """
  }

  func isStoredThere(upTo last: Int64) -> String {
    let cases = tables.map { table in
      """
      WHEN \(table.nodes.id) THEN EXISTS (SELECT 1 FROM \(table.nodes.rows) AS d
        WHERE \(table.nodes.hasKey("d", "o.key")) AND \(isThere("d", table.nodes, upTo: last)))
      """
    }
    return
      "(CASE o.collection \(cases.joined(separator: " ")) ELSE \(binding.nodeExists("o")) END)"
  }

  // MARK: - What must not be marked

  /// Returns whether something was found that is in `temp.marking`.
  private func findDenied(
    _ db: borrowing Connection, _ isFollower: Query = "m.via IS NOT NULL"
  ) throws -> Bool {
    var found = false
    func add(_ rows: Query) throws {
      try db.run("INSERT OR IGNORE INTO temp.mark_denied \(rows)")
      found = found || db.changes > 0
    }
    for end in EdgeEnd.allCases {
      for relation in relations
      where relation.rules.contains(end.denial) && binding.marked[relation[end].id] != nil {
        let other = relation[end.other]
        try add(
          """
          SELECT m.collection, m.key, \(why(other.key(end.other.alias), relation.name, end.denial, other))
          \(relation.edges(at: end, ofKeysIn: "temp.marking AS m")) AND \(isFollower)
          AND \(isThere(end.other.alias, other))
          """)
      }
      if !rulesSeen.contains(end.denial) { continue }
      try add(
        """
        SELECT m.collection, m.key, \(whyStored(end.denial))
        \(storedEdges(at: end, from: "temp.marking AS m")) AND \(isFollower)
        AND e.rules & \(end.denial.rawValue) AND \(isStoredThere(upTo: .max))
        """)
    }
    try add(
      """
      SELECT m.collection, m.key, \(literal(DenialText.protected)) || t.reason FROM temp.marking AS m
      CROSS JOIN main.cascade_protected AS p ON p.collection = m.collection AND p.key = +m.key
      CROSS JOIN main.cascade_protection AS t ON t.protection = p.protection WHERE \(isFollower)
      """)
    return found
  }

  private func why(
    _ key: String, _ name: String, _ rule: Rules, _ holder: NodeTable
  ) -> String {
    DenialText.held(
      by: "\(literal(holder.collection + "/")) || \(key)", literal(name),
      literal(rule.names.joined()), words: { literal($0) }
    ).joined(separator: " || ")
  }

  private func whyStored(_ rule: Rules) -> String {
    DenialText.held(
      by: "(SELECT name FROM main.cascade_collection WHERE id = o.collection) || '/' || o.key",
      "(SELECT name FROM main.cascade_name WHERE id = e.name)", literal(rule.names.joined()),
      words: { literal($0) }
    ).joined(separator: " || ")
  }

  // MARK: - Looking again

  /// Takes rows of a slice out of `temp.marking` that have no reason any more, because others have written
  /// since: the row is gone or marked, or what it followed is not there or not marked.
  package func recheck(_ slice: Slice, _ db: borrowing Connection) throws {
    try db.run(
      """
      DELETE FROM temp.mark_reason WHERE (collection, key) IN (
        SELECT m.collection, m.key FROM temp.marking AS m WHERE \(slice.contains("m.seq")))
      """)
    try findReasons(
      "m.seq IN (SELECT via FROM temp.marking WHERE \(slice.contains("seq")))", db)
    let isInSlice: Query = """
      EXISTS (SELECT 1 FROM temp.marking AS y WHERE y.collection = m.collection AND y.key = m.key
        AND \(slice.contains("y.seq")))
      """
    try db.run("UPDATE temp.mark_counted AS m SET remains = 0 WHERE \(isInSlice)")
    try countRemaining(isInSlice, upTo: slice.high, db)
    for table in tables {
      try db.run(
        """
        DELETE FROM temp.marking AS m WHERE \(slice.contains("m.seq")) AND m.collection = \(table.nodes.id)
        AND m.via IS NOT NULL AND NOT (\(canBeMarked("m", table)) AND EXISTS (
          SELECT 1 FROM temp.mark_reason AS r CROSS JOIN temp.marking AS v ON v.seq = r.via
          WHERE r.collection = m.collection AND r.key = m.key AND v.seq < m.seq AND \(MarkClosure.isReason)))
        """)
    }
  }

  /// Whether an edge `r` by which a node follows is enough: the last one, if it counts.
  package static let isReason = """
    (r.rule & \(Rules.cascading.rawValue) OR EXISTS (SELECT 1 FROM temp.mark_counted AS c
      WHERE c.collection = r.collection AND c.key = r.key AND c.rule = r.rule AND c.name = r.name
      AND NOT c.remains))
    """
}

extension EdgeRelation {
  /// FROM and WHERE of the edges that rows `m` with the key of a node have at one end, with the rows `s` or `d` at the
  /// other.
  func edges(at end: EdgeEnd, ofKeysIn driver: String) -> String {
    let isNode = "m.collection = \(self[end].id)"
    if end == .source {
      let rows =
        if let sourceReference, let joinTable {
          "main.\(quoted(joinTable.name)) AS j ON \(source.referenceHasKey("m.key", of: sourceReference))"
        } else {
          "\(source.rows) AS s ON \(source.hasKey("s", "m.key")) \(references)"
        }
      return "FROM \(driver) CROSS JOIN \(rows) \(destinationRow) WHERE \(isEdge) AND \(isNode)"
    }
    if !isInLists { return "FROM \(driver) CROSS JOIN \(sources(of: "m")) AND \(isNode)" }
    let isIt = destination.keyEqualsReference("m.key", by: reference.value)
    return """
      FROM \(source.rows) AS s \(references) CROSS JOIN \(driver) ON \(isNode) AND \(isIt)
      WHERE \(isEdge) AND \(source.isNode("s"))
      """
  }
}
