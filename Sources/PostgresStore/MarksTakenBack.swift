internal import CascadeEngine
internal import CascadeModel
internal import CascadePostgres
internal import CascadeStore
internal import PostgresBinding
internal import PostgresTables

/// Rows that come back for others.
///
/// 1. What was marked because of them comes back if no other marked row is a reason, which itself does not come back
///    with it: rows that are reasons for each other do not keep each other.
/// 2. An edge that counts is a reason with all of its name: where one of these ends comes back, so does the node.
/// 3. A row that an application has marked again itself stays marked.
/// 4. Triggers tell of each row that comes back, so a daemon that is stopped goes on with what follows these.
extension PostgresWriter {
  /// What was unmarked, by the rows of `cascade.mark` that a job owns, or since, brings back what was marked because of it
  /// alone.
  func comeBack(ofJob job: Int64) throws {
    let unmarked = store.binding.marked.values.map { marked in
      """
      SELECT e.collection, e.key FROM cascade.mark e JOIN \(marked.table.name) s
        ON \(marked.table.key.equal("s", text: "e.key"))
      WHERE (e.job = \(job) OR e.job IS NULL) AND e.collection = \(marked.table.number) AND NOT \(marked.isMarked("s"))
      """
    }
    if unmarked.isEmpty { return }
    _ = try bringBack(unmarked.joined(separator: " UNION "))
  }

  /// Unmarks these nodes, as far as they are marked, and what was marked because of them alone. Returns how many rows
  /// these were, by collection.
  func bringBack(_ nodes: String) throws -> [String: Int] {
    try store.transaction { try findComingBack(nodes) }
    let ends = try db.run("SELECT min(seq), max(seq) FROM cascade.coming_back").rows[0]
    guard let first = ends[0].flatMap({ Int64($0) }), let last = ends[1].flatMap({ Int64($0) })
    else { return [:] }
    var (back, low): ([String: Int], Int64) = ([:], first - 1)
    while low < last {
      let slice = low..<min(last, low + Int64(rowsToAStep ?? pace.limit))
      back.merge(try store.transaction { try unmark(slice) }, uniquingKeysWith: +)
      low = slice.upperBound
    }
    try store.transaction { try forgetReasons() }
    return back
  }

  private func findComingBack(_ nodes: String) throws {
    try db.run("DELETE FROM cascade.coming_back")
    try db.run(
      "INSERT INTO cascade.coming_back(collection, key, is_first) SELECT DISTINCT n.collection, n.key, true FROM (\(nodes)) n "
        + "WHERE EXISTS (SELECT FROM cascade.marked x WHERE x.collection = n.collection AND x.key = n.key) "
        + "OR EXISTS (SELECT FROM cascade.marked x WHERE x.via_collection = n.collection AND x.via_key = n.key)"
    )
    while try db.run(
      """
      INSERT INTO cascade.coming_back(collection, key)
      SELECT DISTINCT x.collection, x.key FROM cascade.coming_back b
      JOIN cascade.marked x ON x.via_collection = b.collection AND x.via_key = b.key
      WHERE x.rule <> \(Rules.none.rawValue) AND NOT EXISTS (SELECT FROM cascade.marked o
        WHERE o.collection = x.collection AND o.key = x.key AND o.rule = \(Rules.none.rawValue))
      AND NOT EXISTS (SELECT FROM cascade.mark e
        WHERE e.collection = x.collection AND e.key = x.key AND e.marked)
      ON CONFLICT DO NOTHING
      """
    ).changed > 0 {}
    while try db.run(
      """
      DELETE FROM cascade.coming_back b WHERE NOT b.is_first AND EXISTS (
        SELECT FROM cascade.marked x WHERE x.collection = b.collection AND x.key = b.key
        AND NOT EXISTS (SELECT FROM cascade.marked y
          JOIN cascade.coming_back v ON v.collection = y.via_collection AND v.key = y.via_key
          WHERE (y.collection, y.key, y.rule, y.name) = (x.collection, x.key, x.rule, x.name)
          AND (y.rule & \(Rules.counting.rawValue) <> 0
            OR (y.via_collection, y.via_key) = (x.via_collection, x.via_key))))
      """
    ).changed > 0 {}
  }

  private func unmark(_ slice: Range<Int64>) throws -> [String: Int] {
    var back: [String: Int] = [:]
    let start = try db.run("SELECT coalesce(max(seq), 0) FROM cascade.mark").integer!
    let isIn = "c.seq > \(slice.lowerBound) AND c.seq <= \(slice.upperBound)"
    for marked in store.binding.marked.values {
      let table = marked.table
      let replaced = """
        (SELECT c.key, (SELECT max(x.old) FROM cascade.marked x
            WHERE x.collection = c.collection AND x.key = c.key) AS old
          FROM cascade.coming_back c WHERE c.collection = \(table.number) AND \(isIn)) b
        """
      let count = try db.run(
        store.binding.update(
          table.name, "s", set: marked.unmarking(replaced: "b.old"), from: replaced,
          where: "\(table.key.equal("s", text: "b.key")) AND \(marked.isMarked("s"))",
          returning: ["b.key"])
      ).rows.count
      if count > 0 { back[table.collection] = count }
    }
    try db.run(
      """
      DELETE FROM cascade.marked m USING cascade.coming_back c
      WHERE m.collection = c.collection AND m.key = c.key AND \(isIn)
      """)
    try db.run(
      """
      UPDATE cascade.coming_back c SET event = e.seq FROM cascade.mark e
      WHERE e.seq > \(start) AND e.collection = c.collection AND e.key = c.key AND \(isIn)
      """)
    return back
  }

  /// What has come back is no reason any more. What the triggers told of it was followed.
  private func forgetReasons() throws {
    let isReason = "b.collection = y.via_collection AND b.key = y.via_key"
    try db.run(
      """
      DELETE FROM cascade.marked x USING cascade.coming_back b, cascade.marked y WHERE \(isReason)
      AND (x.collection, x.key, x.rule, x.name) = (y.collection, y.key, y.rule, y.name)
      AND y.rule & \(Rules.counting.rawValue) <> 0
      """)
    try db.run(
      "DELETE FROM cascade.marked y USING cascade.coming_back b WHERE \(isReason) AND y.rule <> \(Rules.none.rawValue)"
    )
    try db.run("DELETE FROM cascade.mark e USING cascade.coming_back b WHERE e.seq = b.event")
  }

  // MARK: - Undo

  func isOfMarks(_ batch: Int64) throws -> Bool {
    try db.run(
      """
      SELECT EXISTS (SELECT FROM cascade.ledger
        WHERE batch = \(batch) AND part = \(Submission.Kind.marked.part))
      """
    ).bool
  }

  /// Takes back what a batch has marked, the rows with which it began among it, and what was marked because of these.
  func undo(marksOf batch: Int64, by author: String, at now: Int64) throws -> UndoResult {
    let all = "SELECT DISTINCT collection, key FROM cascade.marked WHERE batch = \(batch)"
    let first = "\(all) AND rule = \(Rules.none.rawValue)"
    let back = try bringBack(db.run("SELECT EXISTS (\(first))").bool ? first : all)
    if back.isEmpty { throw try refusal(of: batch) }
    try db.run(
      "UPDATE cascade.ledger SET undone_at = \(now), undone_by = $1 WHERE batch = \(batch)",
      [author])
    var result = UndoResult(batch: batch, author: author)
    (result.restored, result.byCollection) = (back.values.reduce(0, +), back)
    return result
  }

  private func refusal(of batch: Int64) throws -> UndoUnavailable {
    let row = try db.run(
      "SELECT undone_at, undone_by FROM cascade.ledger WHERE batch = \(batch) AND undone_at IS NOT NULL"
    ).rows.first
    return row.map { .undone(at: Int64($0[0]!)!, by: $0[1] ?? "") } ?? .notInTrash
  }

  /// The batch of its own of a node that is marked; nil if it is not. Called within a transaction.
  func separateMarks(of node: Node) throws -> Int64? {
    guard let table = store.binding.tables[node.collection],
      let marked = store.binding.marked[table.number], let key = table.key.text(node.key)
    else { return nil }
    let at = try db.run(
      """
      SELECT max(x.at) FROM cascade.marked x WHERE x.collection = \(table.number) AND x.key = $1
      AND EXISTS (SELECT FROM \(table.name) s WHERE \(table.key.equal("s", text: "$1")) AND \(marked.isMarked("s")))
      """, [key]
    ).integer
    guard let at else { return nil }
    let batch = try nextBatch()
    let submission = Submission(.marked, id: "marked-\(batch)", by: "softDelete", at: at)
    try Ledger(store).add(
      submission, batch: batch, deleted: 0, edges: 0, notices: 0, skipped: 0)
    try db.run(
      "UPDATE cascade.marked SET batch = \(batch) WHERE collection = \(table.number) AND key = $1",
      [key])
    return batch
  }
}
