internal import CascadeEngine
internal import CascadeModel
internal import CascadeSQLite
package import SQLiteBinding
internal import SQLiteEdges
internal import SQLiteJournal
internal import SQLiteRules
package import SQLiteTables

/// Rows that come back for others. The triggers tell that they do, so what follows them is found like the rest: by
/// the next job.
extension Writer {
  /// What was unmarked by these rows of `cascade_mark` brings back what was marked because of it alone. Returns how
  /// much that was, by collection.
  @discardableResult
  package func comeBack(_ events: Slice) throws -> [String: Int] {
    let unmarked = binding.marked.values.map { table in
      """
      SELECT e.collection, e.key FROM main.cascade_mark AS e CROSS JOIN \(table.nodes.rows) AS d
        ON \(table.nodes.hasKey("d", "e.key"))
      WHERE e.seq > \(events.low) AND e.seq <= \(events.high) AND e.collection = \(table.nodes.id)
      AND NOT \(table.isMarked("d"))
      """
    }.joined(separator: " UNION ")
    if unmarked.isEmpty { return [:] }
    // The application has unmarked them itself.
    _ = try group {
      try db.run(generated: "DELETE FROM cascade_marked WHERE (collection, key) IN (\(unmarked))")
    }
    return try takeBackAll(reasons: "(x.via_collection, x.via_key) IN (\(unmarked))")
  }

  package func takeBackAll(reasons: String) throws -> [String: Int] {
    var all: [String: Int] = [:]
    while let back = try takeBack(reasons: reasons) {
      all.merge(back, uniquingKeysWith: +)
      try yieldLock()
    }
    return all
  }

  /// Drops some of these reasons `x` for which rows are marked, and unmarks the rows that have no other. Returns how
  /// many these were; nil if there was no reason.
  private func takeBack(reasons: String) throws -> [String: Int]? {
    try group {
      try db.empty(.takenMarks)
      try db.run(
        generated: """
          INSERT INTO temp.taken_marks SELECT x.* FROM cascade_marked AS x WHERE \(reasons)
          LIMIT \(max(lock.fewNodes, lock.pace.rows))
          """)
      if db.changes == 0 { return nil }
      // A node that has an edge again which counts does not go for want of such edges.
      let isOfName = "t.collection = x.collection AND t.key = x.key AND t.rule = x.rule AND t.name = x.name"
      let isSame = "t.via_collection = x.via_collection AND t.via_key = x.via_key"
      try db.run(
        generated: """
          DELETE FROM cascade_marked AS x WHERE EXISTS (SELECT 1 FROM temp.taken_marks AS t
            WHERE \(isOfName) AND (x.rule & \(Rules.counting.rawValue) OR \(isSame)))
          """)
      let back = try binding.marked.values.map {
        ($0.nodes.collection, try unmarkTaken(in: $0))
      }
      return Dictionary(uniqueKeysWithValues: back.filter { $0.1 > 0 })
    }
  }

  private func unmarkTaken(in table: MarkedTable) throws -> Int {
    let nodes = table.nodes
    try db.run(
      generated: """
        UPDATE \(nodes.rows) AS d SET \(table.unmarking(replaced: "t.old"))
        FROM (SELECT key, max(old) AS old FROM temp.taken_marks WHERE collection = \(nodes.id) GROUP BY key) AS t
        WHERE \(nodes.hasKey("d", "t.key")) AND \(table.isMarked("d"))
        AND NOT EXISTS (SELECT 1 FROM cascade_marked AS x WHERE x.collection = \(nodes.id) AND x.key = t.key)
        """)
    return db.changes
  }
}
