internal import CascadePostgres

/// How the daemon writes rows of the application's tables: itself, or by functions of their owner.
///
/// 1. A trigger runs with the rights of the role that writes the row. So where tables have several owners, rows of
///    each are written by functions of its owner (SECURITY DEFINER).
/// 2. They write no table on which the daemon's own role has no such right, and only this role may call them.
/// 3. They are in a schema in which no owner has any right: the owner of a function could change it, but has to be able
///    to name it.
/// 4. Rows are named by their place (`tableoid`, `ctid`), which the statement has locked before. Values are texts,
///    which the function casts: a type may check them by functions of the owner's.
package enum RowAccess: Hashable {
  case direct
  /// By functions of this role.
  case functions(of: Owner)
  /// The functions are missing.
  case none(Owner)

  package struct Owner: Hashable {
    /// Its oid.
    package let number: String
    /// Quoted.
    package let name: String

    package init(number: String, name: String) { (self.number, self.name) = (number, name) }
  }

  package static let schema = "cascade_owners"

  package enum Function: String, CaseIterable {
    case delete, update, insert

    package func name(_ owner: Owner) -> String {
      "\(RowAccess.schema).\(rawValue)_\(owner.number)"
    }
  }

  /// The name of a function; nil if rows are written directly.
  package func function(_ function: Function) -> String? {
    if case .functions(let owner) = self { function.name(owner) } else { nil }
  }
}

extension Binding {
  package func access(to table: String) -> RowAccess { access[table] ?? .direct }

  /// A table expression `c(gone, note)` that deletes the rows `row` of FROM for which a condition holds. `note` is the
  /// text of an expression.
  package func deletion(
    from table: String, _ row: String, from source: String, where condition: String,
    limit: Int = .max, note: String = "NULL::text", skipsLocked: Bool = false
  ) -> String? {
    guard let function = access(to: table).function(.delete) else { return nil }
    return """
      (SELECT array_agg(l.part) AS parts, array_agg(l.tid) AS tids, array_agg(l.note) AS notes FROM (
        SELECT \(row).tableoid AS part, \(row).ctid AS tid, \(note) AS note FROM \(source)
        WHERE \(condition)\(limit == .max ? "" : " LIMIT \(limit)")
        FOR UPDATE OF \(row)\(skipsLocked ? " SKIP LOCKED" : "")) l) a,
      LATERAL \(function)(NULL::\(table), a.parts, a.tids, a.notes) c
      """
  }

  /// A statement that sets columns of the rows `row` for which a condition holds, and returns what these expressions
  /// of the row and of `source` were before. No value is the default.
  package func update(
    _ table: String, _ row: String, set: [Assignment], from source: String? = nil,
    where condition: String, returning results: [String]
  ) -> String {
    guard let function = access(to: table).function(.update) else {
      return """
        UPDATE \(table) \(row) SET \(set.list)\(source.map { " FROM \($0)" } ?? "")
        WHERE \(condition)\(results.isEmpty ? "" : " RETURNING \(results.joined(separator: ", "))")
        """
    }
    let given = set.filter { $0.value != nil }
    let values = given.map { "(\($0.value!))::text" }.joined(separator: ", ")
    let (places, rows) = (results.indices, "\(table) \(row)\(source.map { ", \($0)" } ?? "")")
    let read = zip(places, results).map { ", (\($1))::text AS r\($0)" }.joined()
    let lists = places.map { ", array_agg(l.r\($0)) AS r\($0)" }.joined()
    let returned = places.map { "a.r\($0)[c.place]" }.joined(separator: ", ")
    return """
      SELECT \(returned) FROM (SELECT array_agg(l.part) AS parts, array_agg(l.tid) AS tids,
        array_agg(l.given) AS given\(lists) FROM (
          SELECT \(row).tableoid AS part, \(row).ctid AS tid, ARRAY[\(values)]::text[]::text AS given\(read)
          FROM \(rows) WHERE \(condition) FOR UPDATE OF \(row)) l) a,
      LATERAL \(function)(NULL::\(table), \(names(given)), \(names(set.filter { $0.value == nil })),
        a.parts, a.tids, a.given) c
      """
  }

  /// A statement that inserts rows of these expressions, and returns expressions of the new row `x`.
  package func insertion(
    into table: String, _ columns: [String], _ values: [String], from source: String? = nil,
    skipsTaken: Bool = false, returning results: [String] = []
  ) -> String {
    let rest = source.map { " FROM \($0)" } ?? ""
    guard let function = access(to: table).function(.insert) else {
      return """
        INSERT INTO \(table) AS x (\(columns.joined(separator: ", "))) OVERRIDING SYSTEM VALUE
        SELECT \(values.joined(separator: ", "))\(rest)\(skipsTaken ? " ON CONFLICT DO NOTHING" : "")
        \(results.isEmpty ? "" : "RETURNING \(results.joined(separator: ", "))")
        """
    }
    let texts = values.map { "(\($0))::text" }.joined(separator: ", ")
    let list = columns.map { Assignment($0, nil) }
    return """
      SELECT \(results.joined(separator: ", ")) FROM \(function)(NULL::\(table), \(names(list)),
        ARRAY(SELECT ARRAY[\(texts)]::text[]::text\(rest)), \(skipsTaken)) x
      """
  }

  private func names(_ set: [Assignment]) -> String {
    "\(literal(arrayText(set.map(\.column))))::text[]"
  }
}

/// What a column is set to.
package struct Assignment {
  /// Quoted.
  package let column: String
  package let value: String?

  package init(_ column: String, _ value: String?) { (self.column, self.value) = (column, value) }
}

extension [Assignment] {
  /// For SET.
  package var list: String {
    map { "\($0.column) = \($0.value ?? "DEFAULT")" }.joined(separator: ", ")
  }
}
