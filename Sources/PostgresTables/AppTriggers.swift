internal import CascadePostgres
internal import PostgresBinding

/// The triggers of the application.
extension StoreConnection {
  /// Those that a deletion or an update in a table fires, also those of its partitions.
  func appTriggers(on table: String) throws -> [AppTrigger] {
    try db.run(
      """
      SELECT t.tgname, e.name, t.tgtype & \(TriggerBits.row) <> 0 AND t.tgtype & \(TriggerBits.before) <> 0
      FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid,
        (VALUES('delete', \(TriggerBits.delete)), ('update', \(TriggerBits.update))) e(name, bit)
      WHERE NOT t.tgisinternal AND t.tgenabled <> 'D' AND t.tgtype & e.bit <> 0
      AND p.pronamespace IS DISTINCT FROM to_regnamespace('cascade')
      AND (t.tgrelid = $1::regclass
        OR t.tgrelid IN (SELECT relid FROM pg_partition_tree($1::regclass)))
      ORDER BY 1, 2
      """, [table]
    ).rows.map { row in
      AppTrigger(
        name: row[0]!, event: AppTrigger.Event(rawValue: row[1]!)!, mayKeepRows: row[2] == "t")
    }
  }

  /// The triggers of the application that call a function, each with its table, as `NAME of TABLE`; those
  /// of one table come first.
  package func triggers(calling function: String, first table: String) throws -> [String] {
    try db.run(
      """
      SELECT format('%s of %s', t.tgname, (SELECT format('%I.%I', n.nspname, c.relname)
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = t.tgrelid))
      FROM pg_trigger t WHERE t.tgfoid = to_regprocedure($1) AND NOT t.tgisinternal
      ORDER BY t.tgrelid <> $2::regclass, 1
      """, [function, table]
    ).texts
  }
}

/// Bits of `pg_trigger.tgtype`: TRIGGER_TYPE_ROW, … in the server's catalog/pg_trigger.h.
private enum TriggerBits {
  static let row = 1
  static let before = 2
  static let delete = 8
  static let update = 16
}
