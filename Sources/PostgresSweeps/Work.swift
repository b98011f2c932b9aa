internal import CascadePostgres
internal import PostgresTables

/// What a batch still has to follow: rows of `work`, and what it has deleted itself.
struct Work {
  package let store: StoreConnection
  package let batch: Int64
  /// The last row of `deleted` that is of an earlier part of the batch.
  package let last: Int64
  /// How many rows a step worked on lately for each node that was gone, by the number of its table.
  var fanOut: [Int64: Int] = [:]
  /// The tables of which the batch deleted rows that may not be followed yet.
  var unfollowed: Set<Int64> = []

  private var db: Session { _read { yield store.db } }

  /// Some of the work, all of one kind and about one subject.
  struct Part {
    package let what: JournalSubject
    package let subject: Int64
    /// Whether they are in `work`, or else in `deleted`.
    let isWork: Bool
    /// The `id` of a row of `work` or of `deleted`.
    package let rows: [String]
    package let keys: [String]
    package let others: [String]

    var array: String { arrayText(rows) }

    private func only(_ indices: [Int]) -> Part {
      Part(
        what: what, subject: subject, isWork: isWork, rows: indices.map { rows[$0] },
        keys: indices.map { keys[$0] }, others: indices.map { others[$0] })
    }

    package func without(_ dropped: Set<String>) -> Part {
      only(rows.indices.filter { !dropped.contains(rows[$0]) })
    }

    func beginning(_ count: Int) -> Part { only(Array(rows.indices.prefix(max(1, count)))) }
  }

  private func mostNodes(_ table: Int64, _ limit: Int) -> Int {
    max(1, limit / max(1, fanOut[table] ?? 1))
  }

  private var isOpen: String { "j.batch = \(batch) AND NOT j.done" }

  /// Whether a row is one of a part whose ids are `$1`. With these conditions, the index that found
  /// them serves.
  private func isOne(of taken: Part) -> String {
    """
    \(isOpen) AND j.what = \(taken.what.rawValue) AND j.subject = \(taken.subject)
    AND j.id = ANY($1::bigint[])
    """
  }

  package func take(_ limit: Int) throws -> Part? {
    let next = try db.run(
      "SELECT j.what, j.subject FROM cascade.work j WHERE \(isOpen) ORDER BY 1, 2 LIMIT 1"
    ).rows.first
    guard let next, let what = JournalSubject(rawValue: Int(next[0]!)!) else { return nil }
    let subject = Int64(next[1]!)!
    let rows = try db.run(
      """
      SELECT j.id, j.key, j.other FROM cascade.work j
      WHERE \(isOpen) AND j.what = \(what.rawValue) AND j.subject = \(subject)
      ORDER BY j.id LIMIT \(what == .gone ? mostNodes(subject, limit) : limit)
      """
    ).rows
    return Part(
      what: what, subject: subject, isWork: true, rows: rows.map { $0[0]! },
      keys: rows.map { $0[1]! }, others: rows.map { $0[2] ?? "" })
  }

  /// Takes what this batch has deleted itself, behind what it has followed already.
  mutating func takeDeleted(_ limit: Int) throws -> Part? {
    for table in unfollowed.sorted() {
      let rows = try db.run(
        """
        SELECT k.id, k.keys[1] FROM cascade.deleted k
        WHERE k.batch = \(batch) AND k.collection = \(table) AND k.follows
        AND k.id > coalesce((SELECT f.id FROM cascade.followed f
          WHERE f.batch = \(batch) AND f.collection = \(table)), \(last))
        ORDER BY k.id LIMIT \(mostNodes(table, limit))
        """
      ).rows
      if rows.isEmpty {
        unfollowed.remove(table)
        continue
      }
      return Part(
        what: .gone, subject: table, isWork: false, rows: rows.map { $0[0]! },
        keys: rows.map { $0[1]! }, others: rows.map { _ in "" })
    }
    return nil
  }

  /// Removes those for which a condition holds, and returns the others.
  @discardableResult
  func drop(_ taken: Part, where condition: String = "true") throws -> Part {
    if !taken.isWork { return taken }
    let dropped = try db.run(
      "DELETE FROM cascade.work j WHERE \(isOne(of: taken)) AND \(condition) RETURNING j.id",
      [taken.array]
    ).texts
    return dropped.isEmpty ? taken : taken.without(Set(dropped))
  }

  package func close(_ taken: Part) throws {
    if taken.isWork {
      try db.run(
        "UPDATE cascade.work j SET done = true WHERE \(isOne(of: taken))", [taken.array])
    } else if let last = taken.rows.last {
      try db.run(
        """
        INSERT INTO cascade.followed VALUES(\(batch), \(taken.subject), \(last))
        ON CONFLICT(batch, collection) DO UPDATE SET id = excluded.id
        """)
    }
  }
}
