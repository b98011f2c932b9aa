internal import CascadePostgres
internal import CascadeStore

/// Brings Cascade's own tables from the version before to this one.
///
/// The triggers stay as they are. What waited with a plan of version 4 belongs to that plan now; one that
/// was approved has to be approved again, because nothing tells what that was for.
struct SchemaUpgrade {
  let store: StoreConnection

  static let from: Int64 = 4

  func run() throws {
    guard try store[meta: "version"] == SchemaUpgrade.from else {
      throw StoreError(
        "the schema \"cascade\" was made by another version: detach with that version, and attach "
          + "again")
    }
    try store.db.execute(
      """
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
      \(SchemaUpgrade.plans)
      """)
    try store.set("version", OwnSchema.version)
  }

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
}
