package import CascadeModel
internal import CascadePostgres
package import CascadeStore
internal import PostgresSweeps
internal import PostgresTables

/// Removes what was kept long enough.
struct Retention {
  private let store: StoreConnection
  private let now: Int64

  init(_ store: StoreConnection, _ now: Int64) { (self.store, self.now) = (store, now) }

  /// Returns how many batches left the trash.
  func deleteOld() throws -> Int {
    try store.transaction {
      let old = "batch IN (SELECT batch FROM cascade.ledger WHERE at < \(time(store.model.trash)))"
      let batches =
        try store.db.run(
          """
          WITH d AS (DELETE FROM cascade.deleted WHERE \(old) RETURNING batch)
          SELECT count(DISTINCT batch) FROM d
          """
        ).integer ?? 0
      try store.db.run("DELETE FROM cascade.nullified WHERE \(old)")
      try store.db.run("DELETE FROM cascade.unlinked WHERE \(old)")
      try store.db.run(
        """
        UPDATE cascade.file SET state = \(FileState.toDelete.rawValue)
        WHERE state = \(FileState.trashed.rawValue) AND \(old)
        """)
      try store.db.run(
        "DELETE FROM cascade.ledger WHERE at < \(time(store.model.retention.ledger)) AND NOT "
          + "EXISTS (SELECT FROM cascade.deleted k WHERE k.batch = ledger.batch) AND NOT "
          + "EXISTS (SELECT FROM cascade.file f WHERE f.batch = ledger.batch)")
      try store.db.run(
        "DELETE FROM cascade.notice WHERE at < \(time(store.model.retention.notices))")
      return Int(batches)
    }
  }

  private func time(_ age: Duration) -> Int64 { now - Int64(age / .milliseconds(1)) }
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

  /// An undo is one transaction, so none is ever unfinished.
  package func resumeUndo(at now: Int64, manners: StepPolicy) -> UndoResult? { nil }
}
