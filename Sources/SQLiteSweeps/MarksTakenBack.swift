internal import CascadeEngine
internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding
internal import SQLiteEdges
internal import SQLiteJournal
internal import SQLiteRules
package import SQLiteTables

/// Rows that come back for others.
///
/// 1. What was marked because of them comes back if no other marked row is a reason, which itself does not come back
///    with it: rows that are reasons for each other do not keep each other.
/// 2. An edge that counts is a reason with all of its name: where one of these ends comes back, so does the node.
/// 3. A row that an application has marked again itself stays marked.
/// 4. Triggers tell of each row that comes back, so a daemon that is stopped goes on with what follows these.
extension Writer {
  /// What was unmarked by these rows of `cascade_mark` brings back what was marked because of it alone.
  func comeBack(_ events: Slice) throws {
    let unmarked = binding.marked.values.map { table in
      """
      SELECT e.collection, e.key FROM main.cascade_mark AS e CROSS JOIN \(table.nodes.rows) AS d
        ON \(table.nodes.hasKey("d", "e.key"))
      WHERE e.seq > \(events.low) AND e.seq <= \(events.high) AND e.collection = \(table.nodes.id)
      AND NOT \(table.isMarked("d"))
      """
    }
    if unmarked.isEmpty { return }
    _ = try bringBack(unmarked.joined(separator: " UNION "))
  }

  /// Unmarks these nodes, as far as they are marked, and what was marked because of them alone. Returns how many rows
  /// these were, by collection.
  package func bringBack(_ nodes: String) throws -> [String: Int] {
    try group { try findComingBack(nodes) }
    defer { try? db.empty(.comingBack) }
    let last = try db.integer("SELECT max(seq) FROM temp.coming_back") ?? 0
    var back: [String: Int] = [:]
    var low = try firstToUnmark().map { $0 - 1 } ?? last
    while low < last {
      let slice = Slice(low: low, high: min(last, low + max(lock.fewNodes, lock.pace.rows)))
      back.merge(try group { try unmark(slice) }, uniquingKeysWith: +)
      low = slice.high
      try yieldLock()
    }
    try group { try forgetReasons() }
    return back
  }

  /// What an application has unmarked itself is done already.
  private func firstToUnmark() throws -> Int64? {
    try db.integer(
      """
      SELECT min(b.seq) FROM temp.coming_back AS b CROSS JOIN cascade_marked AS x
        ON x.collection = b.collection AND x.key = b.key
      """)
  }

  private func findComingBack(_ nodes: String) throws {
    try db.empty(.comingBack)
    try db.run(
      generated: """
        INSERT OR IGNORE INTO temp.coming_back(collection, key, is_first)
        SELECT n.collection, n.key, 1 FROM (\(nodes)) AS n
        WHERE EXISTS (SELECT 1 FROM cascade_marked AS x WHERE x.collection = n.collection AND x.key = n.key)
        OR EXISTS (SELECT 1 FROM cascade_marked AS x WHERE x.via_collection = n.collection AND x.via_key = n.key)
        """)
    repeat {
      try db.run(
        """
        INSERT OR IGNORE INTO temp.coming_back(collection, key)
        SELECT x.collection, x.key FROM temp.coming_back AS b
        CROSS JOIN cascade_marked AS x ON x.via_collection = b.collection AND x.via_key = b.key
        WHERE x.rule AND NOT EXISTS (SELECT 1 FROM cascade_marked AS o
          WHERE o.collection = x.collection AND o.key = x.key AND NOT o.rule)
        AND NOT EXISTS (SELECT 1 FROM cascade_mark AS e
          WHERE e.collection = x.collection AND e.key = x.key AND e.marked)
        """)
    } while db.changes > 0
    repeat {
      try db.run(
        """
        DELETE FROM temp.coming_back AS b WHERE NOT b.is_first AND EXISTS (
          SELECT 1 FROM cascade_marked AS x WHERE x.collection = b.collection AND x.key = b.key
          AND NOT EXISTS (SELECT 1 FROM cascade_marked AS y
            CROSS JOIN temp.coming_back AS v ON v.collection = y.via_collection AND v.key = y.via_key
            WHERE y.collection = x.collection AND y.key = x.key AND y.rule = x.rule AND y.name = x.name
            AND (y.rule & \(Rules.counting.rawValue)
              OR y.via_collection = x.via_collection AND y.via_key = x.via_key)))
        """)
    } while db.changes > 0
  }

  private func unmark(_ slice: Slice) throws -> [String: Int] {
    var back: [String: Int] = [:]
    let start = try lastMark
    for table in binding.marked.values {
      let nodes = table.nodes
      try db.run(
        """
        UPDATE \(nodes.rows) AS d SET \(table.unmarking(replaced: "b.old"))
        FROM (SELECT key, (SELECT max(x.old) FROM cascade_marked AS x
            WHERE x.collection = \(nodes.id) AND x.key = c.key) AS old
          FROM temp.coming_back AS c WHERE c.collection = \(nodes.id) AND \(slice.contains("c.seq"))) AS b
        WHERE \(nodes.hasKey("d", "b.key")) AND \(table.isMarked("d"))
        """)
      if db.changes > 0 { back[nodes.collection] = db.changes }
    }
    try db.run(
      """
      DELETE FROM cascade_marked WHERE (collection, key) IN (
        SELECT c.collection, c.key FROM temp.coming_back AS c WHERE \(slice.contains("c.seq")))
      """)
    try db.run(
      """
      UPDATE temp.coming_back AS c SET event = (SELECT e.seq FROM cascade_mark AS e
        WHERE e.seq > \(bind: start) AND e.collection = c.collection AND e.key = c.key)
      WHERE \(slice.contains("c.seq"))
      """)
    return back
  }

  /// What has come back is no reason any more. What the triggers told of it was followed.
  private func forgetReasons() throws {
    try db.run(
      """
      DELETE FROM cascade_marked WHERE (collection, key, rule, name) IN (
        SELECT y.collection, y.key, y.rule, y.name FROM temp.coming_back AS b CROSS JOIN cascade_marked AS y
          ON y.via_collection = b.collection AND y.via_key = b.key
        WHERE y.rule & \(Rules.counting.rawValue))
      OR rule AND (via_collection, via_key) IN (SELECT collection, key FROM temp.coming_back)
      """)
    try db.run(
      """
      DELETE FROM cascade_mark WHERE seq IN (SELECT event FROM temp.coming_back WHERE event IS NOT NULL)
      """)
  }
}
