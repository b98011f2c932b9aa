internal import CascadeModel
package import CascadeEngine
internal import CascadePostgres
package import PostgresBinding

/// What the columns of a table were when rows of it were kept. A kept row is one text with the values of
/// its columns in their order, so each one is kept with the number of the shape that its table had.
///
/// 1. The number is read in the statement that keeps a row: nothing can change the table between them.
/// 2. What a number means is written down whenever the model is bound to the tables.
/// 3. Cascade's own tables have one shape each, which has no number.
package struct KeptShapes {
  private let store: StoreConnection
  private var db: Session { _read { yield store.db } }

  package init(_ store: StoreConnection) { self.store = store }

  static let sql = """
    -- What the columns of a table were when rows of it were kept, in the order of their values. `name` is
    -- what the table was called last, and `last_columns` what its columns were; null for one that has gone.
    -- Of a table that was made anew, `relation` and `numbers` are those of the one that is there now; the
    -- number of a column is null if that has none for it.
    CREATE TABLE cascade.shape(
      number bigint PRIMARY KEY, relation oid NOT NULL, name text NOT NULL, columns text[] NOT NULL,
      last_columns text[] NOT NULL, numbers bigint[] NOT NULL, types text[] NOT NULL);
    CREATE FUNCTION cascade.shape_now(relation regclass) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
      BEGIN RETURN (SELECT pg_catalog.hashtextextended(
          pg_catalog.string_agg(pg_catalog.concat_ws(' ', a.attnum, a.atttypid, a.atttypmod, a.attname),
            ',' ORDER BY a.attnum), relation::oid::bigint)
        FROM pg_catalog.pg_attribute a
        WHERE a.attrelid = relation AND a.attnum > 0 AND NOT a.attisdropped); END $$;
    """

  /// The number of the shape that a table has now, in SQL; null for one of Cascade's own.
  package static func now(_ table: String) -> String {
    if table.hasPrefix("cascade.") { return "NULL::bigint" }
    return "(SELECT cascade.shape_now(\(literal(table))::regclass))"
  }

  /// Writes down the shapes that the tables have now.
  package func remember() throws {
    let tables =
      store.binding.tables.values.filter { !$0.isManaged }.map(\.name)
      + store.binding.relations.compactMap(\.join).filter { !$0.isStored }.map(\.name)
    try db.run(
      """
      INSERT INTO cascade.shape(number, relation, name, columns, last_columns, numbers, types)
      SELECT cascade.shape_now(t.name::regclass), t.name::regclass, t.name,
        array_agg(a.attname::text ORDER BY a.attnum), array_agg(a.attname::text ORDER BY a.attnum),
        array_agg(a.attnum::bigint ORDER BY a.attnum),
        array_agg(format_type(a.atttypid, a.atttypmod) ORDER BY a.attnum)
      FROM (SELECT DISTINCT unnest($1::text[])) t(name)
      JOIN pg_attribute a ON a.attrelid = t.name::regclass AND a.attnum > 0 AND NOT a.attisdropped
      GROUP BY t.name ON CONFLICT(number) DO NOTHING
      """, [arrayText(tables)])
    try db.run(
      """
      UPDATE cascade.shape s SET name = t.name FROM unnest($1::text[]) t(name)
      WHERE s.relation = t.name::regclass::oid AND s.name <> t.name
      """, [arrayText(tables)])
    try followMadeAnew(tables)
    try followColumns()
  }

  /// In a table that was made anew in the place of another, names decide which column is which, now: what
  /// becomes of its columns later is known by their numbers.
  private func followMadeAnew(_ tables: [String]) throws {
    let was = try store.binding.tables.values.flatMap { table in
      try former(table.name).columns.values.map { (table.name, $0) }
    }
    try db.run(
      """
      UPDATE cascade.shape s SET relation = l.relation, numbers = l.numbers
      FROM (SELECT s.number, t.name::regclass::oid AS relation,
          array_agg(a.attnum::bigint ORDER BY c.place) AS numbers
        FROM cascade.shape s JOIN (SELECT DISTINCT unnest($1::text[])) t(name) ON t.name = s.name
        CROSS JOIN unnest(s.last_columns) WITH ORDINALITY c(name, place)
        LEFT JOIN pg_attribute a ON a.attrelid = t.name::regclass AND a.attname = c.name
          AND a.attnum > 0 AND NOT a.attisdropped
          AND (s.name, c.name) NOT IN (SELECT * FROM unnest($2::text[], $3::text[]))
        WHERE NOT EXISTS (SELECT FROM pg_class o WHERE o.oid = s.relation) GROUP BY 1, 2) l
      WHERE l.number = s.number
      """, [arrayText(tables), arrayText(was.map(\.0)), arrayText(was.map(\.1))])
  }

  /// Writes down what the columns of tables that are there are called now: a table that is made anew in the
  /// place of one has columns of these names.
  func followColumns() throws {
    try db.run(
      """
      UPDATE cascade.shape s SET last_columns = l.names
      FROM (SELECT s.number, array_agg(
          CASE WHEN c.number IS NULL THEN c.name ELSE a.attname::text END ORDER BY c.place) AS names
        FROM cascade.shape s JOIN pg_class r ON r.oid = s.relation
        CROSS JOIN unnest(s.numbers, s.last_columns) WITH ORDINALITY c(number, name, place)
        LEFT JOIN pg_attribute a ON a.attrelid = s.relation AND a.attnum = c.number AND NOT a.attisdropped
        GROUP BY 1) l
      WHERE l.number = s.number AND s.last_columns <> l.names
      """)
  }

  /// Nil if it is not known what the number means.
  package func shape(_ number: String) throws -> KeptShape? {
    let rows = try db.run(
      """
      SELECT s.name, s.relation::bigint, c.name, c.number, c.type, c.last FROM cascade.shape s
      CROSS JOIN unnest(s.columns, s.numbers, s.types, s.last_columns)
        WITH ORDINALITY c(name, number, type, last, place)
      WHERE s.number = $1 ORDER BY c.place
      """, [number]
    ).rows
    guard let first = rows.first else { return nil }
    return KeptShape(
      table: first[0]!, identity: Int64(first[1]!),
      columns: rows.map {
        KeptShape.Column(
          name: $0[2]!, identity: $0[3].flatMap { Int64($0) }, type: $0[4]!, lastName: $0[5])
      })
  }

  /// A table as it is now, with the number of its shape. `key` are the columns without which a row
  /// means nothing.
  package func table(_ name: String, key: [Columns]) throws -> (shape: TableShape, number: String) {
    let keys = Set(key.flatMap(\.all).map(\.name))
    let rows = try db.run(
      """
      SELECT cascade.shape_now(a.attrelid::regclass), a.attrelid::bigint, a.attname, a.attnum,
        format_type(a.atttypid, a.atttypmod), a.attgenerated <> '',
        NOT a.attnotnull OR a.atthasdef OR a.attidentity <> ''
      FROM pg_attribute a WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped
      ORDER BY a.attnum
      """, [name]
    ).rows
    let columns = rows.map { row in
      TableShape.Column(
        name: row[2]!, identity: Int64(row[3]!), type: row[4]!, isGenerated: row[5] == "t",
        isKey: keys.contains(quoted(row[2]!)), isOptional: row[6] == "t")
    }
    let identity = rows.first?[1].flatMap { Int64($0) }
    let former = try former(name)
    return (
      TableShape(
        table: name, identity: identity, columns: columns, was: former.columns,
        tableWas: former.table), rows.first?[0] ?? ""
    )
  }

  /// What the model says that a table and its columns were called.
  private func former(_ table: String) throws -> (table: String?, columns: [String: String]) {
    let names = store.model.formerNames
    let collection = store.binding.tables.values.first { $0.name == table }?.collection
    guard let collection else { return (nil, [:]) }
    // The last name of a table that is gone is with its schema.
    let former = try names.tables[collection].flatMap { name in
      try db.run("SELECT split_part($1, '.', 1) || '.' || quote_ident($2)", [table, name]).text
    }
    return (former, names.columns[collection] ?? [:])
  }
}
