internal import CascadeModel
internal import CascadePostgres
internal import PostgresBinding

/// The tables that a model names.
extension Binder {
  /// A table with its schema, also one that cannot be served, or has another name now.
  mutating func table(_ table: String, _ path: String) throws -> String? {
    var name = try store.qualifiedName(table)
    if let name {
      binding.tableNames[name] = table
    } else {
      name = try store.knownTable(table)
      fail(
        path, "there is no table \"\(table)\"" + (name.map { ": it is called \($0) now" } ?? ""))
    }
    guard let name else { return nil }
    if let refusal = try refusal(of: name) {
      fail(path, refusal.why)
      if !refusal.isTable { return nil }
      if refusal.hidesRows { binding.stopped.hidden[name] = refusal.why }
    }
    binding.partitions[name] = try Partitions(of: name, store.db)
    return name
  }

  mutating func fail(_ path: String, _ message: String) {
    binding.problems.append(ModelProblem(path: path, message: message))
  }

  // MARK: - Names

  /// Notes that a column of the model has another name now.
  mutating func note(_ column: String, of table: String, isNow name: String) {
    renamed[table, default: [:]][column] = name
  }

  /// What a column of the model is called now.
  func now(_ column: String, in table: String) -> String { renamed[table]?[column] ?? column }

  private typealias Refusal = (why: String, isTable: Bool, hidesRows: Bool)

  /// Why the daemon cannot serve a table.
  private func refusal(of table: String) throws -> Refusal? {
    let rows = try store.db.run(
      """
      SELECT c.relkind, c.relrowsecurity AND NOT r.rolbypassrls, c.relowner = r.oid,
        c.relkind <> 'p' AND EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = c.oid),
        EXISTS (SELECT FROM pg_partition_tree(c.oid) t JOIN pg_class p ON p.oid = t.relid
          WHERE p.relkind NOT IN ('r', 'p')),
        (SELECT min(w.rulename) FROM pg_rewrite w WHERE w.ev_class = c.oid AND w.ev_enabled <> 'D')
      FROM pg_class c, pg_roles r WHERE c.oid = $1::regclass AND r.rolname = session_user
      """, [table]
    ).rows[0]
    func refuse(_ why: String, isTable: Bool = true, hidesRows: Bool = false) -> Refusal {
      ("\(table) \(why)", isTable, hidesRows)
    }
    if rows[0] != "r" && rows[0] != "p" { return refuse("is no table", isTable: false) }
    if rows[3] == "t" {
      return (
        "tables inherit from \(table), and its triggers do not see what becomes of their rows",
        true,
        false
      )
    }
    if rows[4] == "t" { return refuse("has a partition that is no table of this database") }
    if let rule = rows[5] {
      return refuse("has the rule \(rule), which does something else than it is told")
    }
    if rows[1] == "t" {
      return refuse("has row security, which could hide rows from the daemon", hidesRows: true)
    }
    if rows[2] == "t" {
      return refuse(
        "belongs to the daemon's own role: give the daemon a role of its own, because the triggers "
          + "ignore what that role writes")
    }
    return nil
  }
}
