internal import CascadePostgres
internal import PostgresTables

/// What a batch still has to follow: rows of `work`, and what it has deleted itself.
struct Work {
  let store: StoreConnection
  let batch: Int64
  /// The last row of `deleted` that is of an earlier part of the batch.
  let last: Int64
  /// How many rows a step worked on lately for each node that was gone, by the number of its table.
  var fanOut: [Int64: Int] = [:]
  /// The tables of which the batch deleted rows that may not be followed yet.
  var unfollowed: Set<Int64> = []
  /// The table whose nodes were taken last.
  private var lastTable: Int64?
  /// Statements whose answers are not needed. They are sent with the next one.
  var pending: [String] = []

  init(store: StoreConnection, batch: Int64, last: Int64) {
    (self.store, self.batch, self.last) = (store, batch, last)
  }

  private mutating func ask(_ statement: String) throws -> Rows {
    defer { pending = [] }
    return try store.db.runEach(pending + [statement]).last!
  }

  /// What is pending is to be sent by the caller.
  mutating func takePending() -> [String] {
    defer { pending = [] }
    return pending
  }

  mutating func send() throws {
    if !pending.isEmpty { _ = try store.db.runEach(takePending()) }
  }

  /// Some of the work, all of one kind and about one subject.
  struct Part {
    let what: JournalSubject
    let subject: Int64
    /// Whether they are in `work`, or else in `deleted`.
    let isWork: Bool
    /// The `id` of a row of `work` or of `deleted`, for each key.
    let rows: [String]
    let keys: [String]
    let others: [String]

    /// Which rows of `deleted` they are.
    var deletedRows: ClosedRange<Int64>? {
      guard !isWork, let first = rows.first, let last = rows.last else { return nil }
      return Int64(first)!...Int64(last)!
    }

    fileprivate var ids: String { "'{\(rows.joined(separator: ","))}'::bigint[]" }

    private func only(_ indices: [Int]) -> Part {
      Part(
        what: what, subject: subject, isWork: isWork, rows: indices.map { rows[$0] },
        keys: indices.map { keys[$0] }, others: indices.map { others[$0] })
    }

    func without(_ dropped: Set<String>) -> Part {
      only(rows.indices.filter { !dropped.contains(rows[$0]) })
    }

    /// About so many, and all that share a row with the last of them.
    func beginning(_ count: Int) -> Part {
      var end = min(rows.count, max(1, count))
      while end < rows.count && rows[end] == rows[end - 1] { end += 1 }
      return only(Array(rows.indices.prefix(end)))
    }
  }

  /// Of a table whose nodes were not met yet, some tell how many rows there are to each.
  private func mostNodes(_ table: Int64, _ limit: Int) -> Int {
    guard let fanOut = fanOut[table] else { return min(limit, max(64, limit / 16)) }
    return max(1, limit / max(1, fanOut))
  }

  private var isOpen: String { "j.batch = \(batch) AND NOT j.done" }

  /// Whether a row is one of a part. With these conditions, the index that found them serves.
  private func isOne(of taken: Part) -> String {
    """
    \(isOpen) AND j.what = \(taken.what.rawValue) AND j.subject = \(taken.subject)
    AND j.id = ANY(\(taken.ids))
    """
  }

  mutating func take(_ limit: Int) throws -> Part? {
    let most = lastTable.map { mostNodes($0, limit) } ?? limit
    let all = try ask(
      """
      SELECT j.what, j.subject, j.id, j.key, j.other FROM cascade.work j WHERE \(isOpen)
      ORDER BY 1, 2, 3 LIMIT \(most)
      """
    ).rows
    guard let first = all.first, let what = JournalSubject(rawValue: Int(first[0]!)!) else {
      return nil
    }
    let subject = Int64(first[1]!)!
    if what == .gone { lastTable = subject }
    let rows = all.prefix { $0[0] == first[0] && $0[1] == first[1] }
      .prefix(what == .gone ? mostNodes(subject, limit) : limit)
    return Part(
      what: what, subject: subject, isWork: true, rows: rows.map { $0[2]! },
      keys: rows.map { $0[3]! }, others: rows.map { $0[4] ?? "" })
  }

  /// Takes what this batch has deleted itself, behind what it has followed already.
  mutating func takeDeleted(_ limit: Int) throws -> Part? {
    for table in unfollowed.sorted() {
      let most = mostNodes(table, limit)
      let rows = try ask(
        """
        SELECT k.id, unnest(k.keys) FROM (
          SELECT n.id, n.keys, sum(n.size) OVER (ORDER BY n.id) - n.size AS before FROM (
            SELECT k.id, k.keys, k.size FROM cascade.deleted k
            WHERE k.batch = \(batch) AND k.collection = \(table) AND k.follows
            AND k.id > coalesce((SELECT f.id FROM cascade.followed f
              WHERE f.batch = \(batch) AND f.collection = \(table)), \(last))
            ORDER BY k.id LIMIT \(most)) n) k
        WHERE k.before < \(most) ORDER BY k.id
        """
      ).rows
      if rows.count < most { unfollowed.remove(table) }
      if rows.isEmpty { continue }
      return Part(
        what: .gone, subject: table, isWork: false, rows: rows.map { $0[0]! },
        keys: rows.map { $0[1]! }, others: rows.map { _ in "" })
    }
    return nil
  }

  /// Removes nodes that are there again. What is done for the others looks at each of them anyway.
  mutating func drop(returned taken: Part, of table: MappedTable) {
    if !taken.isWork { return }
    pending.append(
      "DELETE FROM cascade.work j WHERE \(isOne(of: taken)) AND \(table.has("j.key"))")
  }

  /// Removes those for which a condition holds, and returns the others.
  @discardableResult
  mutating func drop(_ taken: Part, where condition: String = "true") throws -> Part {
    if !taken.isWork { return taken }
    let dropped = try ask(
      "DELETE FROM cascade.work j WHERE \(isOne(of: taken)) AND \(condition) RETURNING j.id"
    ).texts
    return dropped.isEmpty ? taken : taken.without(Set(dropped))
  }

  mutating func close(_ taken: Part) {
    if taken.isWork {
      pending.append("UPDATE cascade.work j SET done = true WHERE \(isOne(of: taken))")
    } else if let last = taken.rows.last {
      pending.append(
        """
        INSERT INTO cascade.followed VALUES(\(batch), \(taken.subject), \(last))
        ON CONFLICT(batch, collection) DO UPDATE SET id = excluded.id
        """)
    }
  }

  /// A part that was not followed to its end is taken once more.
  mutating func keep(_ taken: Part) {
    if !taken.isWork { unfollowed.insert(taken.subject) }
  }
}
