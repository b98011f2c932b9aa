package import CascadeModel
package import CascadeSQLite
package import CascadeStore
internal import SQLiteTables
internal import SQLiteBinding

/// References to a node that no row is and that nobody saw go, if their value looks like "none". A
/// scan of whole tables finds them, and holds them: it does not count the node as gone.
extension Connection {
  /// Chooses among the missing nodes that a scan has found.
  func chooseHeldValues() throws(SQLiteError) {
    try run(
      generated: """
        INSERT INTO temp.held_values SELECT collection, key FROM temp.missing_values
        GROUP BY 1, 2 HAVING sum(referring) >= \(HeldValue.shared) OR \(looksLikeNone("key"))
        """)
    if changes == 0 { return }
    try run(
      generated: """
        DELETE FROM temp.held_values WHERE (collection, key) IN (
          SELECT w.meaning ->> 'rows', j.key FROM main.cascade_journal AS j
          JOIN main.cascade_watch AS w ON w.what = j.what)
        """)
    // A sweep that finds a node missing has its name in the trash, but not its row. The name of 0
    // or '' is no sign that there ever was such a row.
    try run(
      generated: """
        DELETE FROM temp.held_values
        WHERE (collection, key) IN (\(keysInTrash("kind IN ('row', 'object')")))
        OR NOT \(looksLikeNone("key")) AND (collection, key) IN (\(keysInTrash("kind = 'name'")))
        """)
  }

  private func keysInTrash(_ condition: String) -> String {
    """
    SELECT l.collection, t.c0 FROM main.cascade_trash_layout AS l
    CROSS JOIN main.cascade_trash AS t
      ON t.batch = l.batch AND t.layout = l.layout AND t.part = 0
    WHERE l.\(condition) AND l.keys <= 1
    """
  }

  private func looksLikeNone(_ key: String) -> String {
    let digits = ["-", "{", "}"].reduce("CAST(\(key) AS TEXT)") { "replace(\($0), '\($1)', '')" }
    let zeros = String(repeating: "0", count: 32)
    return "(\(key) IN (0, -1, '', '0', '-1', zeroblob(16)) OR \(digits) = '\(zeros)')"
  }

  /// Moves the missing nodes into `temp.staged`: those that are not held, or only the held ones of
  /// `released`.
  func stageMissing(releasing released: Set<Node>, _ model: StoreModel) throws(SQLiteError) {
    if released.isEmpty {
      return try run(
        """
        INSERT INTO temp.staged(collection, key)
        SELECT DISTINCT v.collection, v.key FROM temp.missing_values AS v WHERE NOT EXISTS (
          SELECT 1 FROM temp.held_values AS h WHERE h.collection = v.collection AND h.key = v.key)
        """)
    }
    let held = try all(
      """
      SELECT DISTINCT v.destination, v.key, v.collection FROM temp.held_values AS h
      CROSS JOIN temp.missing_values AS v ON v.collection = h.collection AND v.key = h.key
      """
    ) { (node: $0.node(0, model), collection: $0.integer(2), key: $0.value(1)) }
    for (node, collection, key) in held where released.contains(node) {
      try run(
        "INSERT INTO temp.staged(collection, key) VALUES(?, ?)", .integer(collection), key)
    }
  }

  /// What the last scan has held: the most frequent values of all relationships.
  package func heldValues(
    _ model: StoreModel, limit: Int64 = 100
  ) throws(SQLiteError) -> [HeldValue] {
    try all(
      """
      SELECT v.name, v.source, v.lost = 'source', v.destination, v.key, sum(v.referring)
      FROM temp.held_values AS h
      CROSS JOIN temp.missing_values AS v ON v.collection = h.collection AND v.key = h.key
      GROUP BY v.name, v.source, v.lost, v.collection, v.key ORDER BY 6 DESC, 1, 2, 5 LIMIT ?
      """, .integer(limit)
    ) { row in
      HeldValue(
        name: row.text(0), from: row.text(1), lacksSource: row.integer(2) != 0,
        missing: row.node(3, model), count: Int(row.integer(5)))
    }
  }
}
