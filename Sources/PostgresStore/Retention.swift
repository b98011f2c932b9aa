package import CascadeModel
internal import CascadeEngine
internal import CascadePostgres
package import CascadeStore
internal import PostgresBinding
internal import PostgresSweeps
internal import PostgresTables

/// Deletes what is past its time (`CascadeEngine.Retention`), in transactions of their own.
struct ExpiredRows {
  private let store: StoreConnection
  private let now: Int64
  private let retention: Retention
  /// How many batches, notices or entries a transaction takes. All of a batch goes together, so that none
  /// is undone in part.
  private var most = ExpiredRows.firstMost
  private static let firstMost = 64

  init(_ store: StoreConnection, at now: Int64) {
    (self.store, self.now, retention) = (store, now, Retention(store.model, at: now))
  }

  private var db: Session { _read { yield store.db } }

  /// Returns how many batches left the trash. A transaction is to take no longer than `budget`.
  mutating func delete(within budget: Duration, _ manners: StepPolicy) throws -> Int {
    var (search, batches) = (Retention.Search(), 0)
    while let (kept, numbers) = try retention.next(&search, find) {
      if [.trash, .files].contains(kept) { try ArchivedBatch.archive(numbers, store) }
      var rest = numbers[...]
      while !rest.isEmpty {
        let start = ContinuousClock.now
        try store.transaction { try delete(Array(rest.prefix(most)), kept) }
        rest = rest.dropFirst(most)
        let time = ContinuousClock.now - start
        if time > budget { most = max(1, most / 2) }
        if time < budget / 4 { most = min(2 * most, Retention.page) }
        try manners.pause(.zero)
      }
      if [.trash, .files].contains(kept) { batches += numbers.count }
    }
    try forgetMarksOfGone()
    return batches
  }

  /// Why rows were marked that have gone, and cannot come back any more.
  private func forgetMarksOfGone() throws {
    let time = now - store.model.trash.inMilliseconds
    for table in store.binding.marked.values.map(\.table) {
      try db.run(
        """
        DELETE FROM cascade.marked x
        WHERE x.collection = \(table.number) AND x.at < \(time) AND NOT \(table.has("x.key"))
        """)
    }
  }

  private func delete(_ numbers: [Int64], _ kept: Retention.Kept) throws {
    let statements =
      switch kept {
      case .trash:
        ["deleted", "nullified", "unlinked"].map {
          "DELETE FROM cascade.\($0) WHERE batch = ANY($1::bigint[])"
        } + [ExpiredRows.releasing]
      case .files: [ExpiredRows.releasing]
      case .notices: ["DELETE FROM cascade.notice WHERE id = ANY($1::bigint[])"]
      case .deleted: DeletedNumbers.forgetting
      case .entries: ["DELETE FROM cascade.ledger WHERE batch = ANY($1::bigint[])"]
      }
    let all = arrayText(numbers.map { "\($0)" })
    try db.runEach(statements.map { Statement($0, [all]) })
  }

  private static let releasing = """
    UPDATE cascade.file SET state = \(FileState.toDelete.rawValue)
    WHERE state = \(FileState.trashed.rawValue) AND batch = ANY($1::bigint[])
    """

  // MARK: - The next page

  private func find(_ kept: Retention.Kept, behind number: Int64) throws -> [Retention.Item] {
    try db.run(query(kept), ["\(number)"]).rows.map { row in
      Retention.Item(
        number: Int64(row[0]!)!, at: row[1].flatMap { Int64($0) },
        ties: Retention.Ties(rawValue: Int(row[2]!)!))
    }
  }

  private func query(_ kept: Retention.Kept) -> String {
    switch kept {
    case .trash: batches(of: ["deleted", "nullified", "unlinked"])
    case .files: batches(of: ["file"], " AND k.state = \(FileState.trashed.rawValue)")
    case .notices:
      """
      SELECT t.id, \(time(ofBatch: "t.batch")), 0 FROM (
        SELECT id, batch FROM cascade.notice WHERE id > $1::bigint ORDER BY id LIMIT \(Retention.page)) t
      ORDER BY 1
      """
    case .deleted:
      """
      SELECT t.number, \(time(ofBatch: "t.batch")), 0 FROM (SELECT number, batch FROM cascade.went
        WHERE number > $1::bigint ORDER BY number LIMIT \(Retention.page)) t
      ORDER BY 1
      """
    case .entries: entries
    }
  }

  /// An index finds each next batch, however many rows a batch has.
  private func batches(of tables: [String], _ condition: String = "") -> String {
    func next(_ batch: String) -> String {
      let least = tables.map {
        "(SELECT min(k.batch) FROM cascade.\($0) k WHERE k.batch > \(batch)\(condition))"
      }
      return "least(\(least.joined(separator: ", ")))"
    }
    return """
      WITH RECURSIVE t(batch) AS (SELECT \(next("$1::bigint"))
        UNION ALL SELECT \(next("t.batch")) FROM t WHERE t.batch IS NOT NULL)
      SELECT t.batch, \(time(ofBatch: "t.batch")), \(sum([(.openWork, isOpen)]))
      FROM (SELECT t.batch FROM t WHERE t.batch IS NOT NULL LIMIT \(Retention.page)) t ORDER BY 1
      """
  }

  private var entries: String {
    func has(_ table: String, _ condition: String = "") -> String {
      "EXISTS (SELECT FROM cascade.\(table) k WHERE k.batch = t.batch\(condition))"
    }
    let isLast = """
      NOT t.is_last AND NOT EXISTS (
        SELECT FROM cascade.ledger n WHERE n.id = t.id AND n.part > t.part)
      """
    let trash = ["deleted", "nullified", "unlinked"].map { has($0) }.joined(separator: " OR ")
    return """
      SELECT t.batch, \(time(ofBatch: "t.batch")), \(sum([
        (.openWork, isOpen), (.trash, trash), (.files, has("file")), (.notices, has("notice")),
        (.unfinishedFile, isLast)]))
      FROM (SELECT batch, id, part, is_last FROM cascade.ledger WHERE batch > $1::bigint
        ORDER BY batch LIMIT \(Retention.page)) t
      ORDER BY 1
      """
  }

  private var isOpen: String {
    "t.batch = (SELECT value FROM cascade.meta WHERE key = 'sweep.batch')"
  }

  private func sum(_ ties: [(Retention.Ties, String)]) -> String {
    ties.map { "CASE WHEN \($1) THEN \($0.rawValue) ELSE 0 END" }.joined(separator: " + ")
  }

  /// A batch that the ledger does not know, or recorded while the clock was ahead, is as old as the next.
  private func time(ofBatch batch: String) -> String {
    """
    (SELECT n.at + \(ClockJumps.after("n.batch")) FROM cascade.ledger n
      WHERE n.batch >= \(batch) AND (n.origin IS NULL OR n.batch = \(batch))
      AND n.at + \(ClockJumps.after("n.batch")) <= \(now)
      ORDER BY n.batch LIMIT 1)
    """
  }
}

extension PostgresWriter {
  package func acknowledge(upTo id: Int64) throws -> Int {
    try db.run("DELETE FROM cascade.notice WHERE id <= \(id)").changed
  }

  // MARK: - Times of sweeps

  package func sweepTimes(
    timed: [SweepKind], at now: Int64
  ) throws -> [SweepKind: SweepTimes] {
    for kind in timed {
      try db.run(
        """
        INSERT INTO cascade.sweep_time(kind, since) VALUES($1, \(now))
        ON CONFLICT(kind) DO UPDATE SET since = coalesce(sweep_time.since, excluded.since)
        """, [kind.rawValue])
    }
    var times: [SweepKind: SweepTimes] = [:]
    for row in try db.run(
      "SELECT kind, since, at, outcome, occasion FROM cascade.sweep_time"
    ).rows {
      guard let kind = SweepKind(rawValue: row[0]!) else { continue }
      times[kind] = SweepTimes(since: row[1].flatMap { Int64($0) }, last: run(row))
    }
    return times
  }

  private func run(_ row: [String?]) -> SweepRun? {
    guard let at = row[2].flatMap({ Int64($0) }),
      let outcome = row[3].flatMap(SweepResult.Outcome.init(rawValue:)),
      let occasion = row[4].flatMap(SweepRun.StartReason.init(rawValue:))
    else { return nil }
    return SweepRun(at: at, outcome: outcome, occasion: occasion)
  }

  package func remember(_ run: SweepRun, of kinds: [SweepKind]) throws {
    for kind in kinds {
      try db.run(
        """
        INSERT INTO cascade.sweep_time(kind, at, outcome, occasion) VALUES($1, \(run.at), $2, $3)
        ON CONFLICT(kind) DO UPDATE
        SET at = excluded.at, outcome = excluded.outcome, occasion = excluded.occasion
        """, [kind.rawValue, run.outcome.rawValue, run.occasion.rawValue])
    }
  }
}
