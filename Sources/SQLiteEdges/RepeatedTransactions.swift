internal import CascadeModel
internal import CascadeSQLite
internal import CascadeEngine
package import SQLiteBinding
package import SQLiteTables
internal import SQLiteJournal

/// Does much work of one kind beside other writers. Each transaction does small
/// portions, one after the other, as long as there is time.
extension Writer {
  /// `body` does one small portion and returns whether there may be more.
  package func repeatInTransactions(_ body: () throws -> Bool) throws {
    defer { removeBarrier() }
    var isMore = true
    while isMore {
      isMore = try group(isStep: true) {
        lock.pace.noteForeignCommits(foreignCommits: try foreignCommits())
        return try repeatWithinBudget(body)
      }
      if isMore { try yieldLock() }
    }
    try checkpointAfterSweep()
  }

  /// Half of the budget is left for the commit.
  package func repeatWithinBudget(_ body: () throws -> Bool) throws -> Bool {
    let end = ContinuousClock.now + lock.pace.budget / 2
    while try body() {
      if .now >= end || lock.pace.rowsToAStep != nil { return true }
    }
    return false
  }

  /// Passes the rows that `ids` selects to `body`, in the order of their ids. If there are none, no
  /// transaction begins.
  package func forEachSlice(of ids: String, _ body: (Slice) throws -> Void) throws {
    var rest = try slices(of: ids)
    if rest.isEmpty { return }
    try repeatInTransactions { try rest.takeFirst(body) }
  }

  /// The clock is read after so many rows.
  package var rowsPerClockCheck: Int64 { lock.pace.rowsToAStep ?? 256 }

  package func slices(of ids: String) throws -> [Slice] {
    var low = Int64.min
    return try db.all(
      generated: """
        SELECT max(id) FROM (
          SELECT id, (row_number() OVER (ORDER BY id) - 1) / ? AS part FROM (\(ids)))
        GROUP BY part ORDER BY part
        """, [.integer(rowsPerClockCheck)]
    ) { row in
      defer { low = row.integer(0) }
      return Slice(low: low, high: row.integer(0))
    }
  }
}

extension [Slice] {
  /// Returns whether there are more.
  package mutating func takeFirst(_ body: (Slice) throws -> Void) rethrows -> Bool {
    try body(removeFirst())
    return !isEmpty
  }
}
