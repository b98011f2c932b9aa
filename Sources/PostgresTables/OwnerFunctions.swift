internal import CascadePostgres
package import CascadeStore
package import PostgresBinding

/// The functions by which rows are written where tables have several owners. See `RowAccess`.
package struct OwnerFunctions {
  private let store: StoreConnection

  package init(_ store: StoreConnection) { self.store = store }

  private var db: Session { _read { yield store.db } }

  // MARK: - Whose tables they are

  /// How rows of the application's tables are written. What a superuser owns is written directly: a trigger that
  /// a superuser made may do anything by itself.
  package func access(of binding: Binding) throws -> [String: RowAccess] {
    let names =
      binding.tables.values.filter { !$0.isManaged }.map(\.name)
      + binding.relations.compactMap { $0.join.flatMap { $0.isStored ? nil : $0.name } }
    if names.isEmpty { return [:] }
    let rows = try db.run(
      """
      SELECT n, r.oid, format('%I', r.rolname), r.rolsuper FROM unnest($1::text[]) n
      JOIN pg_class c ON c.oid = to_regclass(n) JOIN pg_roles r ON r.oid = c.relowner
      """, [arrayText(Set(names).sorted())]
    ).rows
    if Set(rows.map { $0[1] }).count < 2 { return [:] }
    let there = try installed()
    let tables = rows.filter { $0[3] == "f" }.map { row in
      (row[0]!, RowAccess.Owner(number: row[1]!, name: row[2]!))
    }
    return Dictionary(
      uniqueKeysWithValues: tables.map { name, owner in
        let isComplete = RowAccess.Function.allCases.allSatisfy {
          there[$0.name(owner)] == Installed(owner: owner.number, body: $0.body)
        }
        return (name, isComplete ? .functions(of: owner) : .none(owner))
      })
  }

  private struct Installed: Hashable {
    let owner: String
    let body: String
  }

  /// Those that are as they should be, if nobody can name them but the daemon's role.
  private func installed() throws -> [String: Installed] {
    let rows = try db.run(
      """
      SELECT format('%s.%s', n.nspname, p.proname), p.proowner, p.prosrc
      FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
      JOIN pg_roles r ON r.oid = n.nspowner JOIN pg_language l ON l.oid = p.prolang
      WHERE n.nspname = $1 AND r.rolname = session_user AND p.prosecdef AND p.proconfig IS NULL
      AND l.lanname = 'plpgsql' AND NOT EXISTS (
        SELECT FROM aclexplode(n.nspacl) a WHERE a.grantee <> n.nspowner)
      AND NOT EXISTS (SELECT FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
        WHERE a.grantee NOT IN (p.proowner, r.oid))
      """, [RowAccess.schema]
    ).rows
    return Dictionary(
      rows.map { ($0[0]!, Installed(owner: $0[1]!, body: $0[2]!)) },
      uniquingKeysWith: { one, _ in one })
  }

  // MARK: - Making them

  /// The owners of which functions are missing.
  package var missing: [RowAccess.Owner] {
    Set(
      store.binding.access.values.compactMap { access in
        if case .none(let owner) = access { owner } else { nil }
      }
    ).sorted { $0.name < $1.name }
  }

  /// Creates those that are missing, if the daemon's role may act as their owners. Otherwise a superuser has
  /// to run the statements, or a role that may act as both.
  package func create() throws -> OwnerReport {
    var report = OwnerReport()
    let missing = missing
    if !missing.isEmpty {
      try db.execute("CREATE SCHEMA IF NOT EXISTS \(RowAccess.schema)")
    }
    let role = try db.run("SELECT format('%I', session_user)").text!
    for owner in missing {
      let statements = OwnerFunctions.statements(for: owner, role)
      if try mayActAs(owner) {
        try db.execute(statements.joined(separator: ";\n"))
        report.made += RowAccess.Function.allCases.map { $0.name(owner) }
      } else {
        report.forOwner += statements
      }
    }
    return report
  }

  private func mayActAs(_ owner: RowAccess.Owner) throws -> Bool {
    try db.run("SELECT pg_has_role(session_user, $1::oid, 'USAGE')", [owner.number]).bool
  }

  /// The owner gets no lasting right in the schema.
  private static func statements(for owner: RowAccess.Owner, _ role: String) -> [String] {
    let all = RowAccess.Function.allCases
    return all.map { $0.definition(of: owner) }
      + all.flatMap { function in
        let name = "FUNCTION \(function.name(owner))"
        return ["REVOKE ALL ON \(name) FROM PUBLIC", "GRANT EXECUTE ON \(name) TO \(role)"]
      }
      + ["GRANT CREATE ON SCHEMA \(RowAccess.schema) TO \(owner.name)"]
      + all.map { "ALTER FUNCTION \($0.name(owner)) OWNER TO \(owner.name)" }
      + ["REVOKE ALL ON SCHEMA \(RowAccess.schema) FROM \(owner.name)"]
  }

  // MARK: - Findings

  /// Tables without their functions, and what the daemon's role may do that the model does not need.
  package func findings() throws -> [SetupFinding] {
    let owners = missing.map { owner in
      SetupFinding(
        kind: .binding, table: nil,
        message: "tables of the model have several owners, and the functions by which rows of "
          + "\(owner.name)'s are written are missing: cascadectl attach --create-functions")
    }
    let dangers = store.binding.access.isEmpty ? [] : try foreignCode
    return try owners
      + (excess + dangers).map { SetupFinding(kind: .binding, table: nil, message: $0) }
  }

  /// Rights by which a trigger of an owner's could do harm. Tables of the only owner are that owner's business.
  private var excess: [String] {
    get throws {
      try db.run(
        """
        WITH model AS (SELECT c.oid, c.relowner FROM unnest($1::text[]) n
          JOIN pg_class c ON c.oid = to_regclass(n))
        SELECT format('the daemon''s role is a member of %s, which it need not be', r.rolname)
        FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.roleid
        WHERE m.member = session_user::regrole AND r.rolname NOT IN ('pg_monitor', 'pg_read_all_stats')
        UNION ALL SELECT 'the daemon''s role may create roles or databases, which it need not'
        FROM pg_roles r WHERE r.rolname = session_user AND (r.rolcreaterole OR r.rolcreatedb)
        UNION ALL SELECT format('the daemon''s role may write to %s, which the model does not name',
          c.oid::regclass)
        FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'p') AND c.relowner <> session_user::regrole
        AND s.nspname NOT IN ('pg_catalog', 'information_schema') AND NOT c.relispartition
        AND has_table_privilege(session_user, c.oid, 'INSERT, UPDATE, DELETE')
        AND c.oid NOT IN (SELECT oid FROM model)
        AND EXISTS (SELECT FROM model m WHERE m.relowner <> c.relowner)
        LIMIT \(OwnerFunctions.mostTold)
        """,
        [
          arrayText(
            Set(
              store.binding.tables.values.map(\.name)
                + store.binding.relations.compactMap { $0.join?.name }
            ).sorted())
        ]
      ).texts
    }
  }

  /// How owners can have code run with the daemon's rights although their triggers cannot.
  private var foreignCode: [String] {
    get throws {
      let tables = arrayText(store.binding.access.keys.sorted())
      return try db.run(
        """
        SELECT format('the index %s calls %s, also when the daemon only reads the table',
          i.indexrelid::regclass, p.oid::regprocedure)
        FROM unnest($1::text[]) n JOIN pg_index i ON i.indrelid = to_regclass(n)
        JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid
          AND d.refclassid = 'pg_proc'::regclass
        JOIN pg_proc p ON p.oid = d.refobjid JOIN pg_roles r ON r.oid = p.proowner
        WHERE NOT r.rolsuper
        UNION ALL SELECT DISTINCT format('%s may create functions in the schema %I, which the daemon''s '
          || 'search_path names, that are called in place of PostgreSQL''s', r.rolname, n.nspname)
        FROM unnest(current_schemas(false)) s JOIN pg_namespace n ON n.nspname = s, pg_roles r
        WHERE NOT r.rolsuper AND r.rolname <> session_user
        AND has_schema_privilege(r.oid, n.oid, 'CREATE') AND r.rolname !~ '^pg_'
        LIMIT \(OwnerFunctions.mostTold)
        """, [tables]
      ).texts
    }
  }

  private static let mostTold = 100

  package func drop() throws {
    let isOwn = try db.run(
      """
      SELECT EXISTS (SELECT FROM pg_namespace n JOIN pg_roles r ON r.oid = n.nspowner
        WHERE n.nspname = $1 AND r.rolname = session_user)
      """, [RowAccess.schema]
    ).bool
    if isOwn { try db.execute("DROP SCHEMA \(RowAccess.schema) CASCADE") }
  }
}

extension RowAccess.Function {
  fileprivate func definition(of owner: RowAccess.Owner) -> String {
    """
    CREATE OR REPLACE FUNCTION \(name(owner))\(signature) LANGUAGE plpgsql SECURITY DEFINER \
    AS \(literal(body))
    """
  }

  private var signature: String {
    switch self {
    case .delete:
      "(kind anyelement, parts oid[], tids tid[], notes text[]) "
        + "RETURNS TABLE(gone anyelement, note text)"
    case .update:
      "(kind anyelement, columns text[], defaults text[], parts oid[], tids tid[], given text[]) "
        + "RETURNS TABLE(place int)"
    case .insert:
      "(kind anyelement, columns text[], given text[], skips boolean) RETURNS SETOF anyelement"
    }
  }

  /// In one line, since it is printed.
  fileprivate var body: String {
    "\(beginning) \(statement) END".split(whereSeparator: \.isNewline)
      .map { $0.drop { $0 == " " } }.joined(separator: " ")
  }

  private var beginning: String {
    """
    DECLARE
      target regclass := (SELECT t.typrelid FROM pg_catalog.pg_type t WHERE t.oid = pg_typeof(kind));
      list text;
      rest text;
    BEGIN
      IF NOT has_table_privilege(session_user, target, '\(rawValue)') THEN
        RAISE insufficient_privilege
        USING MESSAGE = format('permission denied for table %s', target);
      END IF;
    """
  }

  /// The columns of the table among those that a list names, with their places there.
  private static func columns(_ list: String) -> String {
    """
    unnest(\(list)) WITH ORDINALITY c(name, place) JOIN pg_catalog.pg_attribute a
    ON a.attrelid = target AND a.attname = (parse_ident(c.name))[1] AND a.attnum > 0
    """
  }

  private var statement: String {
    let value = "(n.given::text[])[%s]::%s"
    return switch self {
    case .delete:
      """
      RETURN QUERY EXECUTE format('DELETE FROM %s cascade_row
        USING unnest($1, $2, $3) n(part, tid, note)
        WHERE cascade_row.ctid = n.tid AND cascade_row.tableoid = n.part
        RETURNING cascade_row, n.note', target)
        USING parts, tids, notes;
      """
    case .update:
      """
      list := (SELECT string_agg(format('%I = \(value)', a.attname, c.place,
        format_type(a.atttypid, -1)), ', ') FROM \(Self.columns("columns")));
      rest := (SELECT string_agg(format('%I = DEFAULT', a.attname), ', ')
        FROM \(Self.columns("defaults")));
      RETURN QUERY EXECUTE format('UPDATE %s x SET %s
        FROM unnest($1, $2, $3) WITH ORDINALITY n(part, tid, given, place)
        WHERE x.ctid = n.tid AND x.tableoid = n.part RETURNING n.place::int',
        target, concat_ws(', ', list, rest)) USING parts, tids, given;
      """
    case .insert:
      """
      list := (SELECT string_agg(format('%I', a.attname), ', ' ORDER BY c.place)
        FROM \(Self.columns("columns")));
      rest := (SELECT string_agg(format('\(value)', c.place, format_type(a.atttypid, -1)), ', '
        ORDER BY c.place) FROM \(Self.columns("columns")));
      RETURN QUERY EXECUTE format('INSERT INTO %s(%s) OVERRIDING SYSTEM VALUE
        SELECT %s FROM unnest($1) n(given) %s RETURNING *', target, list, rest,
        CASE WHEN skips THEN 'ON CONFLICT DO NOTHING' ELSE '' END) USING given;
      """
    }
  }
}
