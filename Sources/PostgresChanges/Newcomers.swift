internal import CascadeModel
internal import CascadePostgres
internal import PostgresBinding
internal import PostgresTables

/// Nodes that a change file has made, and references that led to nothing at the last flush.
///
/// 1. Such a reference was no edge until its node came. So nothing was lost with it before: neither when the
///    file wrote its row for the first time, nor when the file deleted the row before the node came.
/// 2. What the file has written since the last flush is an edge also to a node that comes later.
struct Newcomers {
  private var clock = 0
  /// When nodes came, and when rows were deleted for the first time, by table and key.
  private var arrivals: [Int64: [String: Int]] = [:]
  private var deletions: [Int64: [String: Int]] = [:]
  /// When all rows of a table were deleted.
  private var emptied: [Int64: Int] = [:]

  func haveDeleted(_ key: String, of table: MappedTable) -> Bool {
    emptied[table.number] != nil || deletions[table.number]?[key] != nil
  }

  private mutating func tick() -> Int {
    clock += 1
    return clock
  }

  private static func note(
    _ key: String, _ table: MappedTable, _ now: Int, _ all: inout [Int64: [String: Int]]
  ) {
    if all[table.number]?[key] == nil { all[table.number, default: [:]][key] = now }
  }

  mutating func noteArrival(of key: String, in table: MappedTable) {
    Newcomers.note(key, table, tick(), &arrivals)
  }

  mutating func noteDeletion(of key: String, from table: MappedTable) {
    Newcomers.note(key, table, tick(), &deletions)
  }

  mutating func noteDeletion(ofAllIn table: MappedTable) {
    if emptied[table.number] == nil { emptied[table.number] = tick() }
  }

  /// At the end of a flush.
  func forgetLosses(before written: WrittenRows, _ store: StoreConnection, _ batch: Int64) throws {
    for (number, nodes) in arrivals {
      guard let table = store.binding.table(number) else { continue }
      for relation in store.binding.relations(to: table) where relation.holder != nil {
        try forgetLosses(of: relation, to: nodes, written, store, batch)
      }
    }
  }

  private func forgetLosses(
    of relation: EdgeRelation, to nodes: [String: Int], _ written: WrittenRows,
    _ store: StoreConnection, _ batch: Int64
  ) throws {
    let source = relation.source.number
    let keys = written.writtenKeys(relation)
    let gone = (deletions[source] ?? [:]).filter { !keys.contains($0.key) }
    if written.before.isEmpty && gone.isEmpty && emptied[source] == nil { return }
    try store.db.run(
      """
      DELETE FROM cascade.work j USING unnest($1::text[], $2::bigint[]) n(key, at)
      WHERE j.batch = \(batch) AND j.what = \(JournalSubject.lost.rawValue)
      AND j.subject = \(relation.number) AND j.other = n.key
      AND (j.id = ANY($3::bigint[]) OR NOT j.key = ANY($4::text[])
        AND (n.at > \(emptied[source] ?? .max) OR EXISTS (
          SELECT FROM unnest($5::text[], $6::bigint[]) d(key, at) WHERE d.key = j.key AND d.at < n.at)))
      """,
      [
        arrayText(nodes.map(\.key)), arrayText(nodes.map { "\($0.value)" }),
        arrayText(written.before.map { "\($0)" }), arrayText(keys.sorted()),
        arrayText(gone.map(\.key)), arrayText(gone.map { "\($0.value)" }),
      ])
  }
}
