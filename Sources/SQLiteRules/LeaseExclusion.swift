internal import CascadeEngine
internal import CascadeModel
package import CascadeSQLite
internal import CascadeStore
package import SQLiteBinding
internal import SQLiteTables

/// A lease holds a node as an edge would. No rule brings a leased node into D, so
/// nothing follows from it. An explicit deletion removes a node even if it is leased.
///
/// Leased nodes get their numbers before D is computed. A trigger on `temp.gone` then rejects them,
/// whichever statement inserts them, and records why each would have been deleted. The trigger
/// exists only while there are leases.
///
/// What waits for an approval, or was given up, is held in the same way against scans of whole tables
/// (`WaitingNodes.swift`). Nothing is remembered of such a node: its plan knows why it would go.
extension Connection {
  /// `now` is in milliseconds. A lease ends at a full second.
  package func findLeased(
    _ binding: Binding, _ known: NumberedTables? = nil, at now: Int64
  ) throws(SQLiteError) {
    try empty(.ownedBy(.leases))
    let now = Value.integer(now / 1_000)
    let areWaiting = try integer("SELECT 1 FROM temp.waiting_keys LIMIT 1") != nil
    let areLeased = try integer("SELECT 1 FROM temp.holds WHERE expires > ? LIMIT 1", now) != nil
    if !areLeased && !areWaiting {
      return try execute("DROP TRIGGER IF EXISTS temp.exclude_leased")
    }
    if areWaiting { try findWaiting(binding, known) }
    try findLeasedNodes(now)
    if !binding.collections.isEmpty {
      let numbers = if let known { known } else { try self.numbers(binding) }
      for table in binding.collections.values { try findLeasedRows(of: table, numbers, now) }
      try findProtected(binding, numbers)
    }
    try execute(
      """
      CREATE TEMP TRIGGER IF NOT EXISTS exclude_leased BEFORE INSERT ON gone
      WHEN NEW.rule <> 0 AND (NEW.id IN (SELECT id FROM leased)
        OR NEW.collection IN (SELECT id FROM leased_collection))
      BEGIN
        INSERT OR IGNORE INTO new_candidates(id, via, name, rule, collection)
        SELECT NEW.id, NEW.via, NEW.name, NEW.rule, NEW.collection
        WHERE NEW.id NOT IN (SELECT id FROM waiting_nodes);
        SELECT RAISE(IGNORE);
      END
      """)
  }

  /// Nothing is held back until it is found again what is leased.
  package func stopExcludingLeased() throws(SQLiteError) {
    try empty(.ownedBy(.leases))
    try execute("DROP TRIGGER IF EXISTS temp.exclude_leased")
  }

  private func findWaiting(_ binding: Binding, _ known: NumberedTables?) throws(SQLiteError) {
    let numbers = if let known { known } else { try self.numbers(binding) }
    try hold(keys: "temp.waiting_keys", as: "temp.waiting_nodes", binding, numbers)
  }

  /// Numbers the nodes that a table has by collection and key, and holds them.
  func hold(
    keys: String, as nodes: String, _ binding: Binding, _ numbers: NumberedTables
  ) throws(SQLiteError) {
    let move: String =
      "INSERT OR IGNORE INTO \(nodes) SELECT id FROM temp.staged WHERE id IS NOT NULL"
    for table in binding.collections.values {
      try run(
        generated: """
          INSERT INTO temp.staged(id, key, row, collection)
          SELECT \(table.numberKeyAndRow("d", numbers)), \(table.id)
          FROM \(keys) AS w CROSS JOIN \(table.rows) AS d ON \(table.hasKey("d", "w.key"))
          WHERE w.collection = \(table.id)
          """)
      try numberFound(movingBy: Query(move))
    }
    try run(
      generated: """
        INSERT OR IGNORE INTO \(nodes) SELECT n.id FROM \(keys) AS w
        CROSS JOIN main.cascade_node AS n ON n.collection = w.collection AND n.key = w.key
        """)
    try run(generated: "INSERT OR IGNORE INTO temp.leased SELECT id FROM \(nodes)")
  }

  /// For a row of the application, `cascade_node` has the number only if a stored edge names the
  /// row.
  private func findLeasedNodes(_ now: Value) throws(SQLiteError) {
    try run(
      """
      INSERT OR IGNORE INTO temp.leased
      SELECT n.id FROM cascade_lease AS l
      CROSS JOIN cascade_collection AS c ON c.name = l.collection
      CROSS JOIN cascade_node AS n ON n.collection = c.id AND n.key = CAST(l.key AS TEXT)
      WHERE l.key IS NOT NULL AND l.expires > ?
      """, now)
    try run(
      """
      INSERT OR IGNORE INTO temp.leased_collection
      SELECT c.id FROM cascade_lease AS l
      CROSS JOIN cascade_collection AS c ON c.name = l.collection
      WHERE l.key IS NULL AND l.expires > ?
      """, now)
  }

  private func findLeasedRows(
    of table: NodeTable, _ numbers: NumberedTables, _ now: Value
  ) throws(SQLiteError) {
    for key in table.leasedKeys("l") {
      try run(
        generated: """
          INSERT INTO temp.staged(id, key, row, collection)
          SELECT \(table.numberKeyAndRow("d", numbers)), \(table.id)
          FROM main.cascade_lease AS l CROSS JOIN \(table.rows) AS d ON \(table.hasKey("d", key))
          WHERE l.collection = ?1 AND l.key IS NOT NULL AND l.expires > ?2
          """, [.text(table.collection), now])
    }
    try numberFound(
      movingBy: "INSERT OR IGNORE INTO temp.leased SELECT id FROM temp.staged WHERE id IS NOT NULL")
  }

  /// A node that stays because of a lease may refer to another one by a foreign key of the
  /// application. SQLite would delete the node with the one it refers to, so that one must stay
  /// too.
  func leaseDenials(_ binding: Binding) throws -> [Denial] {
    let follow =
      "SELECT 1 FROM temp.new_candidates WHERE rule = \(Rules.deleteSourceIfDestinationDeleted.bits) LIMIT 1"
    if try integer(generated: follow) == nil { return [] }
    var denials: [Denial] = []
    for relation in binding.impliedRelations where relation.isForeignKey {
      denials += try leaseDenials(relation.name, relation.nameId, of: relation.source, binding)
    }
    guard let detour = binding.foreignKeyPathName else { return denials }
    return try binding.collections.values.reduce(into: denials) {
      $0 += try leaseDenials("FOREIGN KEY", detour, of: $1, binding)
    }
  }

  private func leaseDenials(
    _ name: String, _ number: Int64, of source: NodeTable, _ binding: Binding
  ) throws -> [Denial] {
    let bound: [Value] = [.integer(number), .integer(source.id)]
    let rule = Rules.deleteSourceIfDestinationDeleted
    let isOne = "rule = \(rule.bits) AND name = ?1 AND collection = ?2"
    try storeKeysOfRows(
      binding,
      """
      SELECT via AS id FROM temp.new_candidates WHERE \(isOne) AND via < 0
      UNION SELECT id FROM temp.new_candidates WHERE \(isOne) AND id < 0
      """, bound)
    return try all(
      generated: """
        SELECT s.via, c.name, coalesce(k.key, n.key), sc.name, coalesce(sk.key, sn.key),
          s.id IN (SELECT id FROM temp.protected_nodes)
        FROM temp.new_candidates AS s CROSS JOIN temp.gone AS g ON g.id = s.via AND g.counts
        JOIN cascade_collection AS c ON c.id = g.collection
        JOIN cascade_collection AS sc ON sc.id = s.collection
        LEFT JOIN temp.known AS k ON k.id = s.via LEFT JOIN cascade_node AS n ON n.id = s.via
        LEFT JOIN temp.known AS sk ON sk.id = s.id LEFT JOIN cascade_node AS sn ON sn.id = s.id
        WHERE s.rule = \(rule.bits) AND s.name = ? AND s.collection = ?
        AND s.id NOT IN (SELECT id FROM temp.blocked)
        """, bound
    ) { row in
      let (denied, held) = (row.node(1, binding.model), row.node(3, binding.model))
      let isHeld = row.integer(5) == 0 ? "leased" : "protected"
      return Denial(
        denied: row.integer(0),
        reason: .mustStay(
          denied,
          because: "\(held) is \(isHeld), and would be deleted with it by \"\(name)\""))
    }
  }

  package var hasNewCandidates: Bool {
    get throws(SQLiteError) { try integer("SELECT 1 FROM temp.new_candidates LIMIT 1") != nil }
  }

  package var hasLeases: Bool {
    get throws(SQLiteError) {
      try integer(
        "SELECT 1 FROM (SELECT id FROM temp.leased UNION ALL SELECT id FROM temp.leased_collection)"
      ) != nil
    }
  }
}

extension NodeTable {
  /// The key that an application wrote into a lease. It may be anything. A key part that reads x'00'
  /// in a list may also be meant as text. Both forms are held.
  package func leasedKeys(_ lease: String) -> [String] {
    if !isComposite { return [asKey("\(lease).key")] }
    let key = "iif(json_valid(\(lease).key), \(lease).key, '[]')"
    return [key, CompositeKeyPart.asTexts(key)]
  }
}
