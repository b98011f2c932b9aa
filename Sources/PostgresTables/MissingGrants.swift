internal import CascadeModel
internal import CascadePostgres
internal import CascadeStore

/// The rights that the role of the daemon lacks, each as the statement that gives it.
///
/// Tables are sought in the catalog, which everybody may read: to whom the schema is closed, the server says
/// that there is no such table.
package struct MissingGrants {
  private let store: StoreConnection

  package init(_ store: StoreConnection) { self.store = store }

  /// Throws an error that names them if there are any.
  package func refuse() throws {
    let statements = try statements()
    if statements.isEmpty { return }
    throw StoreAway(
      "the daemon's role lacks rights; as the owner of the database and the tables: "
        + statements.joined(separator: " "))
  }

  /// Runs `body`. If it may not do something, the error says what to grant.
  package func naming<T>(_ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as PostgresError where error.isNotAllowed {
      try refuse()
      throw error
    }
  }

  package func statements() throws -> [String] {
    try store.db.run(
      MissingGrants.ofDatabase + " UNION ALL " + MissingGrants.ofTables + " ORDER BY 1",
      [arrayText(tables)]
    ).rows.map { $0[1]! }
  }

  /// As the model names them.
  private var tables: [String] {
    let nodes = store.model.collections.values.compactMap { collection -> String? in
      if case .mapped(let table, _, _) = collection { table } else { nil }
    }
    let joins = store.model.relationships.compactMap { relationship -> String? in
      if case .join(let table, _, _) = relationship.edgeStorage { table } else { nil }
    }
    return Array(Set(nodes + joins))
  }

  private static let role = "quote_ident(session_user)"

  /// A schema of Cascade's that was made for the daemon needs no right to make one.
  private static let ofDatabase = """
    SELECT 1, format('GRANT CREATE ON DATABASE %I TO %s;', current_database(), \(role))
    WHERE to_regnamespace('cascade') IS NULL
      AND NOT has_database_privilege(current_database(), 'CREATE')
    UNION ALL SELECT 2, format('GRANT USAGE, CREATE ON SCHEMA cascade TO %s;', \(role))
    FROM pg_namespace n WHERE n.nspname = 'cascade'
      AND NOT (has_schema_privilege(n.oid, 'USAGE') AND has_schema_privilege(n.oid, 'CREATE'))
    """

  /// One statement for all tables that lack the same rights. Partitions need them, too.
  private static let ofTables = """
    SELECT * FROM (
      WITH path AS (
        SELECT n.oid, p.place FROM unnest(string_to_array(current_setting('search_path'), ','))
          WITH ORDINALITY p(name, place)
        JOIN pg_namespace n ON n.nspname = CASE btrim(p.name, ' "') WHEN '$user'
          THEN session_user ELSE btrim(p.name, ' "') END),
      named AS (
        SELECT (SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            LEFT JOIN path ON path.oid = n.oid
          WHERE c.relkind IN ('r', 'p') AND (c.relname = w.name AND path.place IS NOT NULL
            OR c.relname = substr(w.name, strpos(w.name, '.') + 1)
              AND n.nspname = split_part(w.name, '.', 1))
          ORDER BY path.place LIMIT 1) AS oid FROM unnest($1::text[]) w(name)),
      every AS (
        SELECT oid FROM named WHERE oid IS NOT NULL
        UNION SELECT p.relid FROM named, pg_partition_tree(named.oid) p),
      lacking AS (
        SELECT e.oid, string_agg(r.name, ', ' ORDER BY r.place) AS rights
        FROM every e, unnest('{SELECT,INSERT,UPDATE,DELETE,TRIGGER}'::text[])
          WITH ORDINALITY r(name, place)
        WHERE NOT has_table_privilege(e.oid, r.name) GROUP BY e.oid)
      SELECT DISTINCT 3, format('GRANT USAGE ON SCHEMA %I TO %s;', n.nspname, \(role))
      FROM every e JOIN pg_class c ON c.oid = e.oid JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE NOT has_schema_privilege(n.oid, 'USAGE')
      UNION ALL SELECT 4, format('GRANT %s ON %s TO %s;', l.rights,
        string_agg(format('%I.%I', n.nspname, c.relname), ', ' ORDER BY n.nspname, c.relname),
        \(role))
      FROM lacking l JOIN pg_class c ON c.oid = l.oid JOIN pg_namespace n ON n.oid = c.relnamespace
      GROUP BY l.rights
    ) t
    """
}
