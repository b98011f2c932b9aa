internal import CascadePostgres
package import CascadeStore

/// Taking over a database with the tables that an earlier version made in it.
extension OwnSchema {
  /// SQL of steps. The triggers are brought up to date by the attachment.
  package static let history = LayoutHistory(oldest: 4, steps: [ownedCauses, numberedAdditions])

  /// What waited with a plan of version 4 belongs to that plan now; one that was approved has to be
  /// approved again, because nothing tells what that was for.
  private static let ownedCauses = """
    ALTER TABLE cascade.journal ADD COLUMN plan bigint, ADD COLUMN is_manual boolean,
      ADD COLUMN row text, ADD COLUMN shape bigint;
    ALTER TABLE cascade.work ADD COLUMN plan bigint, ADD COLUMN is_manual boolean;
    ALTER TABLE cascade.notice ADD COLUMN is_manual boolean;
    ALTER TABLE cascade.ledger ADD COLUMN origin bigint;
    ALTER TABLE cascade.file ADD COLUMN plan bigint, ADD COLUMN \(FileRows.isOwn);
    ALTER TABLE cascade.plan ADD COLUMN owns_causes boolean NOT NULL DEFAULT false,
      ADD COLUMN is_of_sum boolean NOT NULL DEFAULT false;
    \(RecentDeletions.sql)
    \(SparedCauses.sql)
    ALTER TABLE cascade.deleted ADD COLUMN level int, ADD COLUMN place bigint;
    \(DeletedNumbers.sql)
    \(plans)
    """

  /// A plan of one kind of sweep is found again by the next one.
  private static let plans = """
    DELETE FROM cascade.plan WHERE file IN ('/cascade', '/refcount')
      OR file = '/cascade refcount' AND is_approved;
    UPDATE cascade.plan SET owns_causes = true WHERE file = '/cascade refcount';
    UPDATE cascade.journal SET plan = p.number, seq = NULL
      FROM cascade.plan p WHERE p.owns_causes AND kind IS NULL;
    INSERT INTO cascade.held_cause(plan, what, subject, key, other)
      SELECT j.plan, j.what, j.subject, j.key, j.other FROM cascade.journal j WHERE j.plan IS NOT NULL;
    UPDATE cascade.file SET plan = p.number
      FROM cascade.plan p WHERE p.owns_causes AND batch IS NULL AND state = 0;
    """

  /// Programs of layout 5 made these tables where they were missing.
  private static let numberedAdditions =
    JobRows.sql + ProtectionRows.sql + MarkRows.sql
    + "ALTER TABLE cascade.plan ADD COLUMN IF NOT EXISTS at bigint;"
}

extension StoreConnection {
  /// Changes nothing, and so comes before whatever else is done to the database.
  package func refuseOtherLayouts() throws {
    if try isAttached { _ = try missingSteps }
  }

  func takeOver() throws {
    let steps = try missingSteps
    if steps.isEmpty { return }
    for step in steps { try db.execute(step) }
    try set("version", OwnSchema.history.current)
  }

  private var missingSteps: ArraySlice<String> {
    get throws {
      try OwnSchema.history.steps(
        from: self[meta: "version"] ?? 0, detaching: "cascaded-postgres --detach --model FILE")
    }
  }
}
