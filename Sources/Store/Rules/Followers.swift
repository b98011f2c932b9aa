internal import Model
internal import SQLite

/// Rows that SQLite deletes with ours by an ON DELETE CASCADE of the application's, and that no rule
/// looks at: of tables that are no collections, or by a foreign key to something else than the key of
/// a node. Found by the way that leads to them, which visits no table twice. And rows that stay, and
/// lose a reference by ON DELETE SET NULL or SET DEFAULT.
struct Follower {
  let table: Table
  /// What tells the rows that go with a slice, as SQL.
  let rows: String
  /// What they lose; nil where they go.
  let lost: Table.ForeignKey?
}

/// Made anew when the schema changes.
struct Followers {
  var schemaVersion: Int64 = -1
  /// Those with a foreign key that changes rows.
  var tables: [Table] = []
}

extension Writer {
  func followersOfForeignKeys() throws -> [Follower] {
    if binding.collections.isEmpty { return [] }
    if followers.schemaVersion != binding.schemaVersion {
      followers = Followers(
        schemaVersion: binding.schemaVersion, tables: try db.tablesThatFollow())
    }
    if followers.tables.isEmpty { return [] }
    return Ways(binding: binding, tables: followers.tables, numbers: current.numbers).followers()
  }

  /// What SQLite would do when these go. Those that are found by the way through others go first.
  func followForeignKeys(_ slice: Slice) throws {
    for follower in try followersOfForeignKeys().reversed() {
      if binding.standsIn(for: follower) { continue }
      let what = "a row of \"\(follower.table.name)\" cannot follow"
      try orRefused(slice, what) { try db.take(follower, $0) }
    }
  }
}

extension Connection {
  fileprivate func take(_ follower: Follower, _ slice: Slice) throws(SQLiteError) {
    let columns = follower.lost?.columns.map { "\(quoted($0)) = NULL" }.joined(separator: ", ")
    let table = "main.\(quoted(follower.table.name)) AS r"
    try run(
      generated: """
        \(columns.map { "UPDATE \(table) SET \($0)" } ?? "DELETE FROM \(table)")
        WHERE \(follower.table.identity("r")) IN (\(follower.rows))
        """, [.null, .null] + slice.bound)
  }
}

/// The foreign keys that cascade, and the tables that they lead through.
private struct Ways {
  let binding: Binding
  let tables: [Table]
  let numbers: Numbers

  func followers() -> [Follower] {
    binding.collections.values.sorted { $0.id < $1.id }.flatMap { parent in
      guard let table = parent.table else { return [Follower]() }
      return numbers.forms(of: parent).flatMap { form in
        let start = """
          FROM temp.gone AS g CROSS JOIN \(parent.node(form, "g.id"))
          CROSS JOIN \(parent.rows) AS w0 ON \(parent.isRow("w0", of: "m", form))
          """
        return followers(of: table, start, visited: [table.name.lowercased()])
      }
    }
  }

  private func followers(of parent: Table, _ way: String, visited: [String]) -> [Follower] {
    tables.flatMap { child in
      child.foreignKeys.filter { $0.refers(to: parent) }.flatMap { key -> [Follower] in
        let longer = way + step(key, child, parent, visited.count)
        let isEdge = binding.isOfEnd(key, of: child)
        if key.setsColumns {
          return isEdge ? [] : [follower(child, longer, visited.count, losing: key)]
        }
        let name = child.name.lowercased()
        if visited.contains(name) || !isUnseen(key, from: child, to: parent) { return [] }
        let own = isEdge ? [] : [follower(child, longer, visited.count)]
        return own + followers(of: child, longer, visited: visited + [name])
      }
    }
  }

  /// The rules look at what leads from node to node.
  private func isUnseen(_ key: Table.ForeignKey, from child: Table, to parent: Table) -> Bool {
    if key.onDelete != "CASCADE" { return false }
    guard let source = binding.collection(in: child), key.columns.count == 1 else { return true }
    return !binding.implied.contains {
      $0.source == source && $0.form == .column(key.columns[0])
        && $0.destination.table?.name == parent.name
    }
  }

  private func step(
    _ key: Table.ForeignKey, _ child: Table, _ parent: Table, _ depth: Int
  ) -> String {
    "\nCROSS JOIN main.\(quoted(child.name)) AS w\(depth) ON "
      + key.matches("w\(depth)", "w\(depth - 1)", parent)
  }

  private func follower(
    _ child: Table, _ way: String, _ depth: Int, losing key: Table.ForeignKey? = nil
  ) -> Follower {
    // What goes in a later part of the transaction is kept then, without what it lost by now.
    let going =
      key == nil ? "temp.going" : "(SELECT id FROM temp.gone WHERE seq > ?3 AND seq <= ?4)"
    let stays = binding.collection(in: child).map {
      " AND \($0.isOutside(going, "w\(depth)", numbers))"
    }
    return Follower(
      table: child,
      rows: """
        SELECT \(child.identityColumns("w\(depth)")) \(way)
        WHERE g.seq > ?3 AND g.seq <= ?4\(stays ?? "")
        """, lost: key)
  }
}

extension Table.ForeignKey {
  fileprivate var setsColumns: Bool { onDelete.hasPrefix("SET ") }
}

extension Connection {
  fileprivate func tablesThatFollow() throws -> [Table] {
    let names = try all(
      """
      SELECT DISTINCT t.name FROM main.sqlite_schema AS t, pragma_foreign_key_list(t.name, 'main') AS f
      WHERE t.type = 'table' AND f.on_delete IN ('CASCADE', 'SET NULL', 'SET DEFAULT')
      ORDER BY t.name
      """
    ) { $0.text(0) }
    return try tables(names)
  }

  /// Those that can be read.
  func tables(_ names: [String]) throws -> [Table] {
    if names.isEmpty { return [] }
    let catalog = try Catalog(self)
    return names.compactMap { try? catalog.table($0, in: self).get() }
  }
}
