/// Nodes that a batch has deleted and followed, and to which no transaction can have referred meanwhile
/// unseen.
///
/// 1. A transaction that refers to a node, and does not see that it is gone, has a number that was
///    given before the node's deletion was committed. If all of these have ended when a later
///    transaction begins, that one sees their references, and follows them.
/// 2. So a node is settled if it was followed by a transaction that began when all those had ended
///    that were open when its deletion had been committed. It need not be looked for later.
/// 3. This is only kept in memory. A daemon that goes on after another looks for all of them.
struct SettledNodes {
  /// The first transaction, by its number, that began after the last deletion from a table.
  private var firstLater: [Int64: Int64] = [:]
  /// The tables from which this transaction has deleted.
  private var isFresh: Set<Int64> = []
  /// The oldest transaction that was open when this one began.
  private var oldest: Int64 = 0
  /// Rows of `deleted`, by their table.
  private var ranges: [Int64: [ClosedRange<Int64>]] = [:]
  /// The tables whose last range can be made longer.
  private var isOpen: Set<Int64> = []
  private static let mostRanges = 8

  /// `snapshot` is what a transaction sees when it begins, as PostgreSQL writes it.
  mutating func begin(_ snapshot: String) {
    let parts = snapshot.split(separator: ":", maxSplits: 2).compactMap { Int64($0) }
    guard parts.count >= 2 else { return }
    oldest = parts[0]
    for table in isFresh { firstLater[table] = parts[1] }
    isFresh = []
  }

  mutating func noteDeletion(from table: Int64) { isFresh.insert(table) }

  /// Rows from `first` to `last` of a table were followed, and none between them was left.
  mutating func noteFollowed(_ table: Int64, from first: Int64, to last: Int64) {
    let isSettled = !isFresh.contains(table) && firstLater[table].map { $0 <= oldest } ?? false
    var all = ranges[table] ?? []
    if !isSettled {
      isOpen.remove(table)
    } else if isOpen.contains(table), let range = all.popLast() {
      ranges[table] = all + [range.lowerBound...max(range.upperBound, last)]
    } else if all.count < SettledNodes.mostRanges {
      all.append(first...max(first, last))
      ranges[table] = all
      isOpen.insert(table)
    }
  }

  /// What to append to a condition for a row `k` of `deleted`, so that it is none of them.
  func andNotSettled(_ table: Int64) -> String {
    (ranges[table] ?? []).map {
      " AND NOT k.id BETWEEN \($0.lowerBound) AND \($0.upperBound)"
    }.joined()
  }
}
