package import CascadePostgres
internal import PostgresBinding

/// What the tables of the model, and their columns, were called when they last did fit it. A column keeps
/// its number whatever it is called.
package enum KnownColumns {
  static let sql = """
    -- The columns of tables that the model names, by their numbers in the catalog. The number 0 is for the table,
    -- as the model calls it.
    CREATE TABLE cascade.known_column(
      relation oid NOT NULL, number smallint NOT NULL, name text NOT NULL,
      PRIMARY KEY(relation, number));
    """
}

/// The state of the tables that a model names, without the model.
package enum WatchedSchema {
  /// The same text if no column and no trigger of them has changed, and whether the model did not fit when
  /// it was bound last.
  package static func read(
    _ db: borrowing Session
  ) throws(PostgresError) -> (state: String, hasProblems: Bool) {
    let row = try db.runAgain(sql).rows[0]
    return (row[0] ?? "", row[1] == "t")
  }

  private static let sql = """
    SELECT (SELECT string_agg(concat_ws(' ', k.relation, c.xmin,
        (SELECT string_agg(a.xmin::text, ' ' ORDER BY a.attnum) FROM pg_attribute a
          WHERE a.attrelid = c.oid AND a.attnum > 0),
        (SELECT string_agg(concat_ws(':', t.oid, t.xmin), ' ' ORDER BY t.oid)
          FROM pg_trigger t WHERE t.tgrelid = c.oid),
        CASE WHEN c.relkind = 'p' OR c.relispartition THEN
          (SELECT string_agg(p.relid::oid::text, ' ' ORDER BY p.relid)
            FROM pg_partition_tree(c.oid) p) END), '; ' ORDER BY k.relation)
      FROM (SELECT DISTINCT relation FROM cascade.known_column) k
      LEFT JOIN pg_class c ON c.oid = k.relation),
      EXISTS (SELECT FROM cascade.meta WHERE key = 'problems')
    """
}

extension StoreConnection {
  /// What a table is called now that the model calls so.
  func knownTable(_ table: String) throws -> String? {
    try remembered(
      """
      SELECT format('%I.%I', n.nspname, c.relname) FROM cascade.known_column k
      JOIN pg_class c ON c.oid = k.relation JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE k.number = 0 AND k.name = $1
      """, [table]
    ).first?[0]
  }

  /// What a column is called now that the model calls so.
  func knownColumn(_ column: String, of table: String) throws -> String? {
    try remembered(
      """
      SELECT a.attname FROM cascade.known_column k
      JOIN pg_attribute a ON a.attrelid = k.relation AND a.attnum = k.number
      WHERE k.relation = $1::regclass AND k.number > 0 AND k.name = $2 AND NOT a.attisdropped
      """, [table, column]
    ).first?[0]
  }

  /// Remembers the names of those tables that fit.
  func rememberColumns() throws {
    let fit = binding.tableNames.filter { !binding.stopped.mismatched.contains($0.key) }.sorted {
      $0.key < $1.key
    }
    try db.run(
      """
      DELETE FROM cascade.known_column WHERE relation = ANY($1::regclass[]::oid[])
        OR relation NOT IN (SELECT oid FROM pg_class)
      """, [arrayText(fit.map(\.key))])
    try db.run(
      """
      INSERT INTO cascade.known_column(relation, number, name)
      SELECT t.name::regclass, 0, t.called FROM unnest($1::text[], $2::text[]) t(name, called)
      UNION ALL SELECT a.attrelid, a.attnum, a.attname
        FROM unnest($1::text[]) t(name) JOIN pg_attribute a ON a.attrelid = t.name::regclass
        WHERE a.attnum > 0 AND NOT a.attisdropped
      """, [arrayText(fit.map(\.key)), arrayText(fit.map(\.value))])
  }
}
