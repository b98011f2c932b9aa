internal import CascadeSQLite

/// What kinds of nodes a slice has, why they go, and how many there are. Statements for kinds that
/// do not occur are not run.
struct Ends {
  struct Kind: Hashable {
    let collection: Int64
    let form: Numbered
    /// Zero for nodes that no rule brought in.
    let rule: Int64
    /// Whether these nodes existed.
    let counts: Bool
  }

  private(set) var rows: [Kind: Int] = [:]

  func has(rule: Int64) -> Bool { rows.keys.contains { $0.rule == rule } }

  func has(_ table: NodeTable) -> Bool { rows.keys.contains { $0.collection == table.id } }

  func forms(of table: NodeTable) -> [Numbered] {
    Numbered.allCases.filter { form in
      rows.keys.contains { $0.collection == table.id && $0.form == form }
    }
  }

  func rowsThere(of table: NodeTable) -> Int {
    rows.filter { $0.key.counts && $0.key.collection == table.id }.values.reduce(0, +)
  }

  var areAllByRow: Bool { rows.keys.allSatisfy { $0.form == .byRow } }

  fileprivate mutating func add(_ other: Ends) { rows.merge(other.rows, uniquingKeysWith: +) }
}

extension [Closure.Level] {
  /// The ends of all levels together.
  var ends: Ends { reduce(into: Ends()) { $0.add($1.ends) } }

  /// The ends of the level that contains the slice. They tell which kinds may be in the slice, but
  /// not how many nodes.
  func endsOfLevel(around slice: Slice) -> Ends? {
    first { $0.slice.low <= slice.low && slice.high <= $0.slice.high }?.ends
  }
}

extension Connection {
  func ends(in slice: Slice) throws(SQLiteError) -> Ends {
    if slice.high - slice.low > 500, let ends = try onlyEnds(in: slice) { return ends }
    let kinds = try all(
      """
      SELECT collection, id < 0, rule, counts, count(*) FROM temp.gone
      WHERE seq > ? AND seq <= ? GROUP BY 1, 2, 3, 4
      """, .integer(slice.low), .integer(slice.high)
    ) { (Ends.Kind($0), Int($0.integer(4))) }
    return Ends(rows: Dictionary(uniqueKeysWithValues: kinds))
  }

  /// The ends of a slice whose nodes are all of one kind; nil otherwise. Large slices mostly are,
  /// and then need no sorting.
  private func onlyEnds(in slice: Slice) throws(SQLiteError) -> Ends? {
    let kinds = try all(
      """
      SELECT DISTINCT collection, id < 0, rule, counts FROM temp.gone
      WHERE seq > ? AND seq <= ? LIMIT 2
      """, .integer(slice.low), .integer(slice.high), as: Ends.Kind.init)
    if kinds.count != 1 { return nil }
    let rows = try integer(
      "SELECT count(*) FROM temp.gone WHERE seq > ? AND seq <= ?", .integer(slice.low),
      .integer(slice.high))
    return Ends(rows: [kinds[0]: Int(rows ?? 0)])
  }
}

extension Ends.Kind {
  fileprivate init(_ row: Row) {
    collection = row.integer(0)
    form = row.integer(1) == 0 ? .byName : .byRow
    rule = row.integer(2)
    counts = row.integer(3) != 0
  }
}
