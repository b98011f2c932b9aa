internal import CascadeModel
package import CascadeSQLite

/// Reads the application's schema.
package struct Catalog: ~Copyable {
  private typealias Entry = (name: String, kind: String, withoutRowid: Bool, isStrict: Bool)

  private let entries: [String: [Entry]]

  package init(_ db: borrowing Connection) throws {
    let tables = try db.all(
      "SELECT name, type, wr, strict FROM pragma_table_list WHERE schema = 'main'"
    ) { ($0.text(0), $0.text(1), $0.integer(2) != 0, $0.integer(3) != 0) as Entry }
    entries = Dictionary(grouping: tables, by: \.name.folded)
  }

  /// Returns a reason instead if the name is not a table whose rows can be watched.
  package func table(_ name: String, in db: borrowing Connection) throws -> Result<Table, Unusable>
  {
    guard let alike = entries[name.folded], let entry = alike.first else {
      return .failure(Unusable("there is no table \"\(name)\" in the store"))
    }
    if alike.count > 1 { return .failure(Unusable(lookalikes: "tables", alike.map(\.name))) }
    if entry.kind == "view" {
      return .failure(Unusable("\"\(name)\" is a view: name the tables that it reads instead"))
    }
    if entry.kind != "table" {
      return .failure(Unusable("\"\(name)\" is a \(entry.kind) table, which has no triggers"))
    }
    let table = try db.table(
      entry.name, withoutRowid: entry.withoutRowid, isStrict: entry.isStrict)
    let columns = Dictionary(grouping: table.columns.map(\.name), by: \.folded)
    if let alike = columns.values.first(where: { $0.count > 1 }) {
      return .failure(Unusable(lookalikes: "columns of table \"\(name)\"", alike))
    }
    return .success(table)
  }

  package struct Unusable: Error, CustomStringConvertible {
    package let reason: String
    package var description: String { reason }
    /// Whether only this collection or relationship is affected, and what is known of the others is
    /// complete.
    package let isContained: Bool

    package init(_ reason: String, isContained: Bool = false) {
      self.reason = reason
      self.isContained = isContained
    }

    /// Swift treats names as equal if they differ only in how their letters are composed.
    fileprivate init(lookalikes what: String, _ names: [String]) {
      let list = names.map { "\"\($0)\"" }.joined(separator: " and ")
      self.init("\(what) that look alike cannot be distinguished: \(list)")
    }
  }
}

extension Connection {
  fileprivate func table(_ name: String, withoutRowid: Bool, isStrict: Bool) throws -> Table {
    let (columns, primary) = try columns(of: name, isStrict: isStrict)
    let indexes = try indexes(of: name)
    let taken = columns.map(\.name.folded)
    var uniqueKeys = indexes.filter(\.isUnique).map(\.key)
    // The key of a table with an INTEGER PRIMARY KEY is its rowid, which has no index.
    if !primary.isEmpty, !uniqueKeys.contains(where: { $0.columns == primary }) {
      uniqueKeys.insert(
        Table.UniqueKey(
          columns: primary, collations: primary.map { collation(of: $0, in: name) ?? "BINARY" },
          isPartial: false, hasExpressions: false), at: 0)
    }
    let whole = indexes.filter { !$0.key.isPartial }.map(\.key.columns)
    return Table(
      name: name, columns: columns, primaryKey: primary,
      rowid: withoutRowid ? nil : ["rowid", "_rowid_", "oid"].first { !taken.contains($0) },
      isRowidColumn: !withoutRowid && primary.count == 1 && !indexes.contains(where: \.isPrimary),
      uniqueKeys: uniqueKeys, indexes: primary.isEmpty ? whole : whole + [primary],
      foreignKeys: try foreignKeys(of: name), hasChecks: try hasChecks(name))
  }

  private func columns(
    of table: String, isStrict: Bool
  ) throws -> ([Table.Column], primary: [String]) {
    let rows = try all(
      """
      SELECT name, type, "notnull", dflt_value, hidden, pk FROM pragma_table_xinfo(?, 'main')
      ORDER BY cid
      """, .text(table)
    ) { row in
      let column = Table.Column(
        name: row.text(0), affinity: Table.Affinity(declared: row.text(1), isStrict: isStrict),
        collation: collation(of: row.text(0), in: table) ?? "BINARY",
        isRequired: row.integer(2) != 0, initial: row.optionalText(3),
        isGenerated: row.integer(4) > 1,
        isOfTimes: ["DATE", "TIME"].contains { row.text(1).uppercased().mentions($0) })
      return (column: column, place: row.integer(5))
    }
    let primary = rows.filter { $0.place > 0 }.sorted { $0.place < $1.place }
    return (rows.map(\.column), primary.map(\.column.name))
  }

  /// Whether the table may have CHECK constraints; true even if only a comment contains the word. A
  /// check that a column is valid JSON does not count, because the JSON that Cascade writes is
  /// valid.
  private func hasChecks(_ table: String) throws -> Bool {
    try integer(
      """
      WITH found(sql) AS (
        SELECT replace(replace(replace(replace(replace(lower(sql), '"', ''), ' ', ''),
          char(9), ''), char(10), ''), char(13), '')
        FROM main.sqlite_schema WHERE type = 'table' AND name = ?1),
      ofJSON(text) AS (
        SELECT 'check(json_valid(' || lower(name) || '))' FROM pragma_table_xinfo(?1, 'main'))
      SELECT length(sql) - length(replace(sql, 'check', '')) > 5 * (
        SELECT sum((length(sql) - length(replace(sql, text, ''))) / length(text)) FROM ofJSON)
      FROM found
      """, .text(table)) == 1
  }

  private func indexes(
    of table: String
  ) throws -> [(isUnique: Bool, isPrimary: Bool, key: Table.UniqueKey)] {
    let list = try all(
      """
      SELECT name, "unique", partial, origin = 'pk' FROM pragma_index_list(?, 'main')
      ORDER BY origin <> 'pk', seq DESC
      """, .text(table)
    ) {
      (name: $0.text(0), unique: $0.integer(1) != 0, partial: $0.integer(2) != 0, pk: $0.integer(3))
    }
    return try list.map { index in
      let columns = try all(
        "SELECT name, coll FROM pragma_index_xinfo(?, 'main') WHERE key ORDER BY seqno",
        .text(index.name)
      ) { (name: $0.optionalText(0), collation: $0.text(1)) }
      let key = Table.UniqueKey(
        columns: columns.map { $0.name ?? "" }, collations: columns.map(\.collation),
        isPartial: index.partial, hasExpressions: columns.contains { $0.name == nil })
      return (index.unique, index.pk != 0, key)
    }
  }

  private func foreignKeys(of table: String) throws -> [Table.ForeignKey] {
    let rows = try all(
      """
      SELECT id, "table", "from", "to", on_delete
      FROM pragma_foreign_key_list(?, 'main') ORDER BY id, seq
      """, .text(table)
    ) { row in
      (
        id: row.integer(0), parent: row.text(1), column: row.text(2),
        parentColumn: row.optionalText(3), onDelete: row.action(4)
      )
    }
    return Dictionary(grouping: rows, by: \.id).sorted { $0.key < $1.key }.map { _, rows in
      Table.ForeignKey(
        columns: rows.map(\.column), parent: rows[0].parent,
        parentColumns: rows.compactMap(\.parentColumn), onDelete: rows[0].onDelete)
    }
  }
}

extension Row {
  func action(_ column: Int32) -> Table.ForeignKey.Action {
    Table.ForeignKey.Action(rawValue: text(column)) ?? .noAction
  }
}
