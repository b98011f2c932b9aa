internal import CascadeSQLite
internal import CascadeSystem
internal import SQLiteBinding

/// A database that is only read, beside the programs that use it.
final class Database {
  let db: Connection
  /// Whether other programs wait while a statement reads.
  private let isPaced: Bool
  /// Rows in the next part of a table.
  private var partRows = 1_000
  private let tick: () -> Void

  /// `tick` is called now and then while a statement runs.
  init(_ file: DatabaseFile, tick: @escaping () -> Void) throws {
    self.tick = tick
    isPaced = file.method == .paced
    db = try file.open()
    db.standInForUnknownCollations()
    try db.execute("PRAGMA cache_size = -65536")
  }

  /// How long a statement may keep others from committing.
  private static let longestLock = Duration.milliseconds(5)
  /// A part that takes less than this is followed by a larger one.
  private static let shortLock = Duration.milliseconds(2)
}

/// A part of a table, as a condition on the rows `c`.
struct Part {
  let condition: String
  let values: [Value]

  static let whole = Part(condition: "1", values: [])
}

extension Database {
  /// Reads a table, in parts if others would wait for it. `read` runs again, for a smaller part, if
  /// it takes too long. `take` gets what it returned. Stops when `take` returns false.
  func eachPart<T>(
    of source: RowSource, _ read: (Part) throws -> T, take: (T) -> Bool
  ) throws {
    guard isPaced, !source.key.isEmpty else {
      _ = take(try watched(limit: nil) { try read(.whole) })
      return
    }
    var after: [Value]? = nil
    repeat {
      let start = ContinuousClock.now
      guard let (found, end) = try part(of: source, after: after, read) else { continue }
      adapt(to: .now - start)
      if !take(found) { return }
      guard let end else { return }
      after = end
      pause()
    } while true
  }

  /// The sum of what each part returns.
  func sum(
    over source: RowSource, _ columns: Int, _ read: (Part) throws -> [Int]
  ) throws -> [Int] {
    var sums = Array(repeating: 0, count: columns)
    try eachPart(of: source, read) { part in
      for index in sums.indices { sums[index] += part[index] }
      return true
    }
    return sums
  }

  /// Nil if the time was over. Then the next part is smaller.
  private func part<T>(
    of source: RowSource, after: [Value]?, _ read: (Part) throws -> T
  ) throws -> (T, end: [Value]?)? {
    do {
      return try watched(limit: partRows > 1 ? Database.longestLock : nil) {
        let end = try self.end(of: source, after: after)
        return (try read(source.part(after: after, to: end)), end)
      }
    } catch let error as SQLiteError where error.isInterrupted {
      partRows = max(1, partRows / 4)
      pause()
      return nil
    }
  }

  /// The key of the last row of a part; nil for the last part.
  private func end(of source: RowSource, after: [Value]?) throws -> [Value]? {
    let part = source.part(after: after, to: nil)
    let key = source.key.joined(separator: ", ")
    let sql = """
      SELECT \(key) FROM \(source.name) AS c WHERE \(part.condition)
      ORDER BY \(key) LIMIT 1 OFFSET \(partRows - 1)
      """
    return try rows(sql, part.values).first
  }

  private func adapt(to time: Duration) {
    if time < Database.shortLock { partRows = min(partRows * 2, 1_000_000) }
  }

  /// Others, which try again every millisecond or so, get the lock.
  private func pause() { SystemClock.sleep(for: .milliseconds(2)) }

  private func watched<T>(limit: Duration?, _ body: () throws -> T) throws -> T {
    let deadline = limit.map { ContinuousClock.now + $0 }
    let tick = self.tick
    return try db.interrupting(
      when: {
        tick()
        return deadline.map { $0 < .now } ?? false
      }, body)
  }

  /// A statement that reads little.
  func rows(_ sql: String, _ values: [Value] = []) throws -> [[Value]] {
    try db.all(generated: sql, values) { row in row.columns.map(row.value) }
  }
}

/// Where rows `c` are read from, and the key that orders them.
struct RowSource {
  let name: String
  /// Empty if the rows cannot be read in parts.
  let key: [String]

  init(_ table: Table) {
    name = "main.\(quoted(table.name))"
    key = table.rowid.map { ["c.\($0)"] } ?? table.primaryKey.map { "c.\(quoted($0))" }
  }

  /// A temporary table that has one key.
  init(temporary name: String, key: String) {
    self.name = "temp.\(name)"
    self.key = ["c.\(key)"]
  }

  fileprivate func part(after: [Value]?, to end: [Value]?) -> Part {
    let key = "(\(self.key.joined(separator: ", ")))"
    var conditions: [String] = []
    var values: [Value] = []
    for (comparison, bound) in [(">", after), ("<=", end)] {
      guard let bound else { continue }
      let marks = bound.indices.map { "?\(values.count + $0 + 1)" }
      conditions.append("\(key) \(comparison) (\(marks.joined(separator: ", ")))")
      values += bound
    }
    if conditions.isEmpty { return .whole }
    return Part(condition: conditions.joined(separator: " AND "), values: values)
  }
}
