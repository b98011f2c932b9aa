package import CascadeModel
package import CascadeSQLite
package import SQLiteBinding

/// What kinds of nodes a slice has, why they go, and how many there are. Statements for kinds that
/// do not occur are not run.
package struct NodeCounts {
  package struct Kind: Hashable {
    package let collection: Int64
    let form: NumberForm
    /// Zero for nodes that no rule brought in.
    package let rule: Int64
    /// Whether these nodes existed.
    package let existed: Bool

    fileprivate init(_ row: Row) {
      collection = row.integer(0)
      form = row.integer(1) == 0 ? .byKey : .byRowid
      rule = row.integer(2)
      existed = row.integer(3) != 0
    }
  }

  package fileprivate(set) var rows: [Kind: Int] = [:]

  package var collections: Set<Int64> { Set(rows.keys.map(\.collection)) }

  /// Whether some of them go by this rule, or by none.
  package func has(_ rule: Rules) -> Bool { rows.keys.contains { $0.rule == rule.bits } }

  package func has(_ table: NodeTable) -> Bool { rows.keys.contains { $0.collection == table.id } }

  package func forms(of table: NodeTable) -> [NumberForm] {
    NumberForm.allCases.filter { form in
      rows.keys.contains { $0.collection == table.id && $0.form == form }
    }
  }

  package func rowsThere(of table: NodeTable) -> Int {
    rows.filter { $0.key.existed && $0.key.collection == table.id }.values.reduce(0, +)
  }

  func byRow(of table: NodeTable) -> Int64 {
    Int64(
      rows.filter { $0.key.form == .byRowid && $0.key.collection == table.id }.values.reduce(0, +))
  }

  package var areAllByRow: Bool { rows.keys.allSatisfy { $0.form == .byRowid } }
}

extension [Closure.Level] {
  package var nodeCounts: NodeCounts {
    reduce(into: NodeCounts()) { $0.rows.merge($1.ends.rows, uniquingKeysWith: +) }
  }

  /// The same levels, some nodes of which were taken out.
  package func countedAgain(_ db: borrowing Connection) throws(SQLiteError) -> [Closure.Level] {
    var levels = self
    for index in levels.indices { levels[index].ends = try db.nodeCounts(in: levels[index].slice) }
    return levels
  }

  /// The ends of the level that contains the slice. They tell which kinds may be in the slice, but
  /// not how many nodes.
  package func nodeCountsOfLevel(around slice: Slice) -> NodeCounts? {
    first { $0.slice.low <= slice.low && slice.high <= $0.slice.high }?.ends
  }
}

extension Connection {
  package func nodeCounts(in slice: Slice) throws(SQLiteError) -> NodeCounts {
    if slice.high - slice.low > 500, let ends = try nodeCountsOfSingleKind(in: slice) {
      return ends
    }
    let kinds = try all(
      """
      SELECT collection, id < 0, rule, counts, count(*) FROM temp.gone
      WHERE seq > ? AND seq <= ? GROUP BY 1, 2, 3, 4
      """, .integer(slice.low), .integer(slice.high)
    ) { (NodeCounts.Kind($0), Int($0.integer(4))) }
    return NodeCounts(rows: Dictionary(uniqueKeysWithValues: kinds))
  }

  /// The ends of a slice whose nodes are all of one kind; nil otherwise. Large slices mostly are,
  /// and then need no sorting.
  private func nodeCountsOfSingleKind(in slice: Slice) throws(SQLiteError) -> NodeCounts? {
    let kinds = try all(
      """
      SELECT DISTINCT collection, id < 0, rule, counts FROM temp.gone
      WHERE seq > ? AND seq <= ? LIMIT 2
      """, .integer(slice.low), .integer(slice.high), as: NodeCounts.Kind.init)
    if kinds.count != 1 { return nil }
    let rows = try integer("SELECT count(*) FROM temp.gone WHERE \(slice.contains("seq"))")
    return NodeCounts(rows: [kinds[0]: Int(rows ?? 0)])
  }
}
