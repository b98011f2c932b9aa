package import CascadePostgres

/// By how much the wall clock jumped, and when: the trash, the ledger and notices keep the times at which they
/// were written.
package enum ClockJumps {
  package static let sql = """
    -- The wall clock of the daemon jumped by so many milliseconds before this batch.
    CREATE TABLE cascade.clock_jump(batch bigint PRIMARY KEY, by bigint NOT NULL);
    """

  /// What to add to a time that was written in a batch, as SQL.
  package static func after(_ batch: String) -> String {
    "coalesce((SELECT sum(c.by) FROM cascade.clock_jump c WHERE c.batch > \(batch)), 0)::bigint"
  }

  /// Those of the numbers that are not given yet.
  package static func record(_ jump: Int64, _ db: borrowing Session) throws {
    try db.run(
      """
      INSERT INTO cascade.clock_jump(batch, by)
      SELECT CASE WHEN is_called THEN last_value + 1 ELSE last_value END, \(jump) FROM cascade.batch
      ON CONFLICT(batch) DO UPDATE SET by = clock_jump.by + excluded.by
      """)
  }
}
