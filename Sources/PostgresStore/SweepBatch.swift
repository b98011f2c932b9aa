internal import CascadeModel
internal import CascadeEngine
internal import CascadePostgres
internal import PostgresBinding
internal import PostgresSweeps
internal import PostgresTables

/// How the batch of a sweep begins: with what it takes out of the journal, and of what was held back.
extension PostgresWriter {
  func nextBatch() throws -> Int64 {
    try db.run("SELECT nextval('cascade.batch')").integer!
  }

  /// Until the sweep has ended, its batch is known to whatever daemon goes on, and whether it was approved:
  /// by the number of its plan.
  func beginBatch(_ kinds: [SweepKind], _ batch: Int64, approved: Int64? = nil) -> Statement {
    let plan = approved.map { ", ('sweep.plan', \($0))" } ?? ""
    let sql = """
      INSERT INTO cascade.meta(key, value)
      VALUES('sweep.batch', $1::bigint), ('sweep.kinds', $2::bigint)\(plan)
      ON CONFLICT(key) DO UPDATE SET value = excluded.value
      """
    return Statement(sql, ["\(batch)", "\(kinds.code)"])
  }

  /// The statements that begin a batch which needs no plan.
  func beginningAtOnce(_ kinds: [SweepKind], _ batch: Int64) -> [Statement] {
    beginning(PlannedSweep(kinds), batch, isPlanned: false)
  }

  private func beginning(
    _ sweep: PlannedSweep, _ batch: Int64, isPlanned: Bool, approved: Int64? = nil
  ) -> [Statement] {
    [
      beginBatch(sweep.kinds, batch, approved: approved),
      Statement(taking(sweep, isPlanned: isPlanned), ["\(batch)"]),
    ] + FileRows(store: store).taking(into: batch, of: .anybody, sweep.causes)
  }

  /// Also takes up what waits because a node had to stay, unless it is for a sweep of another kind, or is
  /// about something that is stopped.
  func begin(_ sweep: PlannedSweep, _ batch: Int64, approved: Int64?) throws {
    let waiting = """
      UPDATE cascade.work j SET batch = $1, plan = NULL, done = \(isUnfollowed(.lost))
        OR \(isUnfollowed(.widowed)) WHERE j.batch = \(BlockedNodes.waiting) AND NOT j.done
        AND \(sweep.causes.include("j")) AND NOT (\(isLeft(.lost, .losingSource)) OR \(isLeft(.widowed, .losingDestination))
          OR \(isLeftToNullify) OR \(store.binding.waits("j")) OR \(isPartlySeen))
      """
    try db.runEach(
      beginning(sweep, batch, isPlanned: true, approved: approved)
        + [Statement(waiting, ["\(batch)"])])
  }

  /// Takes out of the journal what the snapshot has, and nothing else. An edge that arrived is looked
  /// at by a plan. The batch is `$1`.
  private func taking(_ sweep: PlannedSweep, isPlanned: Bool) -> String {
    let unmissed = store.binding.tables.values.filter { !store.binding.isMissed($0) }
      .map { "\($0.number)" }
    let gone = "j.what = \(JournalSubject.gone.rawValue)"
    let isUnmissed = "j.subject = ANY(\(literal(arrayText(unmissed)))::int[])"
    let keeps = store.model.keepsAnyDeleted
    // A plan has removed what is ended.
    let isEnded = isPlanned ? "false" : UsedKeys(store.binding).isEnded("j", by: "j")
    return """
      WITH j AS (DELETE FROM cascade.journal j
        WHERE j.what <> \(JournalSubject.arrived.rawValue)
        AND \(JournalRows.isMeant(for: sweep.kinds, sweep.causes, store.binding))
        RETURNING j.*),
      k AS (INSERT INTO cascade.deleted(batch, collection, is_own, bucket, keys)
        SELECT DISTINCT $1::bigint, j.subject, false, \(OwnSchema.bucket("j.key")), ARRAY[j.key] FROM j
        WHERE \(gone) AND NOT j.told AND NOT \(isUnmissed)\(keeps ? " AND j.row IS NULL" : "")),
      \(keeps ? "r AS (\(KeptDeletions.taking(into: "$1::bigint", from: "j")))," : "")
      w AS (INSERT INTO cascade.work(batch, what, subject, key, other, done, told, is_manual)
        SELECT $1::bigint, j.what, j.subject, j.key, j.other,
          \(isUnfollowed(.lost)) OR \(isUnfollowed(.widowed)), j.told, j.is_manual FROM j
        WHERE NOT (\(gone) AND \(isUnmissed)) AND NOT (\(isOnlyCounted)) AND NOT \(isEnded)
          AND j.what <> \(JournalSubject.reused.rawValue))
      INSERT INTO cascade.work(batch, what, subject, key, other, done, told)
      SELECT $1::bigint, j.what, j.subject, min(j.key), j.other, true, bool_and(j.told) FROM j
      WHERE \(isOnlyCounted) AND NOT \(isEnded) GROUP BY j.what, j.subject, j.other
      """
  }

  private func isUnfollowed(_ what: JournalSubject) -> String {
    isAbout(what, store.binding.relations.filter { !$0.isFollowed(what) })
  }

  /// Whether the reason is a rule that the sweep leaves to one of another kind.
  private func isLeft(_ what: JournalSubject, _ rules: Rules) -> String {
    isAbout(what, store.binding.relations.filter { !$0.left.isDisjoint(with: rules) })
  }

  /// Whether the node may have been given an edge that cannot be seen.
  private var isPartlySeen: String {
    let binding = store.binding
    return isAbout(.lost, binding.relations.filter { !binding.isCountable($0, at: .destination) })
  }

  private var isLeftToNullify: String {
    let tables = store.binding.relations.filter {
      $0.left.contains(.nullifySourceIfDestinationDeleted)
    }.map { "\($0.destination.number)" }
    return isAbout(.gone, tables)
  }

  private var isOnlyCounted: String {
    isAbout(.lost, store.binding.relations.filter(\.isOnlyCounted))
  }

  private func isAbout(_ what: JournalSubject, _ relations: [EdgeRelation]) -> String {
    isAbout(what, relations.map { "\($0.number)" })
  }

  private func isAbout(_ what: JournalSubject, _ subjects: [String]) -> String {
    "j.what = \(what.rawValue) AND j.subject = ANY('\(arrayText(subjects))'::int[])"
  }
}
