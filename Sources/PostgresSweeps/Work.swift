internal import CascadePostgres
internal import PostgresBinding
internal import PostgresTables

/// What a batch still has to follow: rows of `work`, and what it has deleted itself.
struct Work {
  let store: StoreConnection
  let batch: Int64
  /// The last row of `deleted` that is of an earlier part of the batch.
  let last: Int64
  /// How many rows a step worked on lately for each node that was gone, by the number of its table.
  var fanOut: [Int64: Int] = [:]
  /// What the batch has deleted and not followed yet, by the number of the table, in the order in which
  /// it went.
  private var unfollowed: [Int64: ArraySlice<Group>] = [:]
  /// The table whose nodes were taken last.
  private var lastTable: Int64?
  /// Statements whose answers are not needed. They are sent with the next one.
  var pending: [Statement] = []

  init(store: StoreConnection, batch: Int64, last: Int64) {
    (self.store, self.batch, self.last) = (store, batch, last)
  }

  /// Nodes that share a row of `deleted`.
  struct Group {
    /// Of that row.
    let id: Int64
    let size: Int
  }

  mutating func note(_ groups: [Group], of table: Int64) {
    unfollowed[table, default: []] += groups
  }

  /// Finds what another daemon has left to be followed.
  mutating func resume() throws {
    for row in try ask(
      """
      SELECT k.collection, k.id, k.size FROM cascade.deleted k
      LEFT JOIN cascade.followed f ON f.batch = k.batch AND f.collection = k.collection
      WHERE k.batch = $1 AND k.follows AND k.id > coalesce(f.id, 0) ORDER BY k.id
      """
    ).rows {
      note([Group(id: Int64(row[1]!)!, size: Int(row[2]!)!)], of: Int64(row[0]!)!)
    }
  }

  /// `$1` is the batch, as in all that is pending.
  private mutating func ask(_ query: String, _ values: [String?] = []) throws -> Rows {
    try store.db.runEach(takePending() + [statement(query, values)]).last!
  }

  private func statement(_ sql: String, _ values: [String?] = []) -> Statement {
    Statement(sql, ["\(batch)"] + values)
  }

  /// What is pending is to be sent by the caller.
  mutating func takePending() -> [Statement] {
    defer { pending = [] }
    return pending
  }

  mutating func send() throws {
    if !pending.isEmpty { try store.db.runEach(takePending()) }
  }

  /// Some of the work, all of one kind and about one subject.
  struct Part {
    let what: JournalSubject
    let subject: Int64
    /// The `id` of a row of `work`, for each key.
    let rows: [String]
    let keys: [String]
    let others: [String]

    fileprivate var ids: String { "{\(rows.joined(separator: ","))}" }

    private func only(_ indices: [Int]) -> Part {
      Part(
        what: what, subject: subject, rows: indices.map { rows[$0] },
        keys: indices.map { keys[$0] }, others: indices.map { others[$0] })
    }

    func without(_ dropped: Set<String>) -> Part {
      only(rows.indices.filter { !dropped.contains(rows[$0]) })
    }

    fileprivate func beginning(_ count: Int) -> Part { only(Array(rows.indices.prefix(count))) }
  }

  /// Nodes of a table that are gone.
  enum Gone {
    case work(Part)
    /// Some rows of `deleted`.
    case deleted(table: Int64, ArraySlice<Group>)

    var count: Int {
      switch self {
      case .work(let part): part.rows.count
      case .deleted(_, let groups): groups.reduce(0) { $0 + $1.size }
      }
    }

    var table: Int64 {
      switch self {
      case .work(let part): part.subject
      case .deleted(let table, _): table
      }
    }

    /// About so many; all that share a row go together.
    func beginning(_ count: Int) -> Gone {
      switch self {
      case .work(let part): .work(part.beginning(max(1, count)))
      case .deleted(let table, let groups): .deleted(table: table, groups.beginning(count))
      }
    }

    /// Which rows of `deleted` they are.
    var deletedRows: ClosedRange<Int64>? {
      guard case .deleted(_, let groups) = self, let first = groups.first, let last = groups.last
      else { return nil }
      return first.id...last.id
    }
  }

  /// What the batch has deleted itself is not sent to and fro.
  func keys(of gone: Gone) -> KeyArray {
    switch gone {
    case .work(let part): return KeyArray(part.keys)
    case .deleted(let table, let groups):
      return KeyArray(
        sql: """
          ARRAY(SELECT unnest(k.keys) FROM cascade.deleted k WHERE k.batch = $1::bigint
            AND k.collection = \(table) AND k.follows AND k.id BETWEEN $2::bigint AND $3::bigint)
          """, values: [batch, groups.first!.id, groups.last!.id].map { "\($0)" })
    }
  }

  /// Of a table whose nodes were not met yet, some tell how many rows there are to each.
  private func mostNodes(_ table: Int64, _ limit: Int) -> Int {
    guard let fanOut = fanOut[table] else { return min(limit, max(64, limit / 16)) }
    return max(1, limit / max(1, fanOut))
  }

  private var isOpen: String { "j.batch = $1 AND NOT j.done" }

  /// Whether a row is one of a part, whose `ids` are `$2`. With these conditions, the index that found
  /// them serves.
  private func isOne(of taken: Part) -> String {
    """
    \(isOpen) AND j.what = \(taken.what.rawValue) AND j.subject = \(taken.subject)
    AND j.id = ANY($2::bigint[])
    """
  }

  mutating func take(_ limit: Int) throws -> Part? {
    let most = lastTable.map { mostNodes($0, limit) } ?? limit
    let all = try ask(
      """
      SELECT j.what, j.subject, j.id, j.key, j.other FROM cascade.work j WHERE \(isOpen)
      ORDER BY 1, 2, 3 LIMIT $2::bigint
      """, ["\(most)"]
    ).rows
    guard let first = all.first, let what = JournalSubject(rawValue: Int(first[0]!)!) else {
      return nil
    }
    let subject = Int64(first[1]!)!
    if what == .gone { lastTable = subject }
    let rows = all.prefix { $0[0] == first[0] && $0[1] == first[1] }
      .prefix(what == .gone ? mostNodes(subject, limit) : limit)
    return Part(
      what: what, subject: subject, rows: rows.map { $0[2]! },
      keys: rows.map { $0[3]! }, others: rows.map { $0[4] ?? "" })
  }

  /// Takes what this batch has deleted itself, behind what it has followed already.
  func takeDeleted(_ limit: Int) -> Gone? {
    for (table, groups) in unfollowed.sorted(by: { $0.key < $1.key }) where !groups.isEmpty {
      return .deleted(table: table, groups.beginning(mostNodes(table, limit)))
    }
    return nil
  }

  /// Removes nodes that are there again. What is done for the others looks at each of them anyway.
  mutating func drop(returned gone: Gone, of table: MappedTable) {
    guard case .work(let taken) = gone else { return }
    let sql = "DELETE FROM cascade.work j WHERE \(isOne(of: taken)) AND \(table.has("j.key"))"
    pending.append(statement(sql, [taken.ids]))
  }

  /// Removes those for which a condition holds, and returns the others.
  @discardableResult
  mutating func drop(_ taken: Part, where condition: String = "true") throws -> Part {
    let dropped = try ask(
      "DELETE FROM cascade.work j WHERE \(isOne(of: taken)) AND \(condition) RETURNING j.id",
      [taken.ids]
    ).texts
    return dropped.isEmpty ? taken : taken.without(Set(dropped))
  }

  // MARK: - What is stopped

  /// Drops what is about nothing that is bound. What is only stopped waits in the journal.
  mutating func giveBack(_ taken: Part) throws {
    pending.append(
      statement(
        """
        INSERT INTO cascade.journal(what, subject, key, other, told, is_manual)
        SELECT j.what, j.subject, j.key, j.other, j.told, j.is_manual FROM cascade.work j
        WHERE \(isOne(of: taken)) AND \(store.binding.waits("j"))
        """, [taken.ids]))
    try drop(taken)
  }

  mutating func giveBack(_ gone: Gone) throws {
    switch gone {
    case .work(let part): try giveBack(part)
    case .deleted(let table, let groups):
      if store.binding.stopped.collections.contains(table) {
        pending.append(
          statement(
            """
            INSERT INTO cascade.journal(what, subject, key)
            SELECT \(JournalSubject.gone.rawValue), k.collection, unnest(k.keys)
            FROM cascade.deleted k WHERE k.batch = $1 AND k.id = ANY($2::bigint[])
            """, [arrayText(groups.map { "\($0.id)" })]))
      }
      close(gone)
    }
  }

  /// The edges that the batch has lost of relations that were stopped since, at its end.
  mutating func giveBackStopped() throws {
    if store.binding.stopped.relations.isEmpty { return }
    let edges = [JournalSubject.lost, .widowed].map { "\($0.rawValue)" }.joined(separator: ", ")
    _ = try ask(
      """
      INSERT INTO cascade.journal(what, subject, key, other, told, is_manual)
      SELECT j.what, j.subject, j.key, j.other, j.told, j.is_manual FROM cascade.work j
      WHERE j.batch = $1 AND j.done AND j.what IN (\(edges)) AND \(store.binding.waits("j"))
      """)
  }

  mutating func close(_ taken: Part) {
    let sql = "UPDATE cascade.work j SET done = true WHERE \(isOne(of: taken))"
    pending.append(statement(sql, [taken.ids]))
  }

  /// What was not followed to its end is taken once more.
  mutating func close(_ gone: Gone) {
    switch gone {
    case .work(let part): close(part)
    case .deleted(let table, let groups):
      guard let last = groups.last?.id else { return }
      unfollowed[table]?.removeFirst(groups.count)
      let sql = """
        INSERT INTO cascade.followed VALUES($1, $2, $3)
        ON CONFLICT(batch, collection) DO UPDATE SET id = excluded.id
        """
      pending.append(statement(sql, ["\(table)", "\(last)"]))
    }
  }
}

extension ArraySlice<Work.Group> {
  /// As many as have about so many nodes, and at least one.
  fileprivate func beginning(_ nodes: Int) -> ArraySlice {
    var before = 0
    return prefix { group in
      defer { before += group.size }
      return before < Swift.max(1, nodes)
    }
  }
}
