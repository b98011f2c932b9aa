internal import CascadeEngine
internal import CascadeModel
internal import CascadePostgres
internal import CascadeStore
internal import PostgresBinding
internal import PostgresTables

/// Rows that come back for others. The triggers tell that they do, so what follows them is found like the rest: by
/// the next job.
extension PostgresWriter {
  /// What was unmarked, by rows `e` of `cascade.mark`, brings back what was marked because of it alone. Returns how much
  /// that was, by collection.
  @discardableResult
  func comeBack(_ isMeant: String) throws -> [String: Int] {
    let unmarked = store.binding.marked.values.map { marked in
      """
      SELECT e.collection, e.key FROM cascade.mark e JOIN \(marked.table.name) s
        ON \(marked.table.key.equal("s", text: "e.key"))
      WHERE \(isMeant) AND e.collection = \(marked.table.number) AND NOT \(marked.isMarked("s"))
      """
    }.joined(separator: " UNION ")
    if unmarked.isEmpty { return [:] }
    // The application has unmarked them itself.
    try db.run("DELETE FROM cascade.marked WHERE (collection, key) IN (\(unmarked))")
    return try takeBackAll(reasons: "(x.via_collection, x.via_key) IN (\(unmarked))")
  }

  func takeBackAll(reasons: String) throws -> [String: Int] {
    var all: [String: Int] = [:]
    while let back = try takeBack(reasons: reasons) { all.merge(back, uniquingKeysWith: +) }
    return all
  }

  /// Drops some of these reasons `x` for which rows are marked, and unmarks the rows that have no other. Returns how
  /// many these were; nil if there was no reason.
  private func takeBack(reasons: String) throws -> [String: Int]? {
    try store.transaction {
      try db.run("DELETE FROM cascade.mark_taken")
      let taken = try db.run(
        """
        INSERT INTO cascade.mark_taken SELECT x.* FROM cascade.marked x WHERE \(reasons)
        LIMIT \(rowsToAStep ?? pace.limit)
        """
      ).changed
      if taken == 0 { return nil }
      // A node that has an edge again which counts does not go for want of such edges.
      try db.run(
        """
        DELETE FROM cascade.marked x USING cascade.mark_taken t
        WHERE (t.collection, t.key, t.rule, t.name) = (x.collection, x.key, x.rule, x.name)
        AND (x.rule & \(Rules.counting.rawValue) <> 0
          OR (t.via_collection, t.via_key) = (x.via_collection, x.via_key))
        """)
      let back = try store.binding.marked.values.map { ($0.table.collection, try unmarkTaken(in: $0)) }
      return Dictionary(uniqueKeysWithValues: back.filter { $0.1 > 0 })
    }
  }

  private func unmarkTaken(in marked: MarkedTable) throws -> Int {
    let table = marked.table
    let taken = """
      (SELECT key, max(old) AS old FROM cascade.mark_taken WHERE collection = \(table.number) GROUP BY key) t
      """
    return try db.run(
      store.binding.update(
        table.name, "s", set: marked.unmarking(replaced: "t.old"), from: taken,
        where: """
          \(table.key.equal("s", text: "t.key")) AND \(marked.isMarked("s"))
          AND NOT EXISTS (SELECT FROM cascade.marked x WHERE x.collection = \(table.number) AND x.key = t.key)
          """, returning: ["t.key"])
    ).rows.count
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
    let first = try lastMark
    var back = try takeBackAll(reasons: "x.batch = \(batch)")
    if back.isEmpty { throw try refusal(of: batch) }
    // Triggers have told what came back, and may tell what follows.
    var seen = first
    while case let last = try lastMark, last > seen {
      back.merge(
        try comeBack("e.seq > \(seen) AND e.seq <= \(last)"), uniquingKeysWith: +)
      seen = last
    }
    try db.run(
      "UPDATE cascade.ledger SET undone_at = \(now), undone_by = $1 WHERE batch = \(batch)", [author])
    var result = UndoResult(batch: batch, author: author)
    (result.restored, result.byCollection) = (back.values.reduce(0, +), back)
    return result
  }

  private var lastMark: Int64 {
    get throws { try db.run("SELECT coalesce(max(seq), 0) FROM cascade.mark").integer ?? 0 }
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
      "UPDATE cascade.marked SET batch = \(batch) WHERE collection = \(table.number) AND key = $1", [key])
    return batch
  }
}
