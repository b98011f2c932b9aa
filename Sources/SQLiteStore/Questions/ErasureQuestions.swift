internal import CascadeModel
internal import CascadeSQLite
package import CascadeStore
internal import CascadeSystem
internal import SQLiteBinding
internal import SQLiteTables

/// What is asked before and after something is erased.
///
/// A database file is looked at by a child process: to open and to close it in this one would end the locks
/// that SQLite has on it.
extension Reader {
  package func erasureScope() throws -> ErasureScope {
    try db.snapshot {
      let binding = try binding()
      var scope = ErasureScope()
      for (name, table) in binding.collections { scope.tables[name] = table.table?.name }
      for relation in binding.edgeRelations {
        guard let table = relation.referringTable else { continue }
        scope.cover(table.name, relation.columnsOfReferences)
      }
      for table in binding.collections.values.compactMap(\.table) {
        for key in table.foreignKeys where key.onDelete != .noAction && key.onDelete != .restrict {
          scope.cover(table.name, key.columns)
        }
      }
      scope.shadows = try db.all(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%fts%'"
      ) { $0.text(0) }
      return scope
    }
  }

  package func evidence() throws -> [ColumnEvidence] {
    (try examine("evidence", []).array ?? []).compactMap { found in
      guard let table = found["table"]?.string, let to = found["to"]?.string else { return nil }
      return ColumnEvidence(
        table: table, columns: (found["columns"]?.array ?? []).compactMap(\.string), to: to,
        evidence: found["evidence"]?.string ?? "")
    }
  }

  package func traces(of texts: [String]) throws -> [String] {
    let list = JSON.array(texts.map(JSON.string)).text
    return (try examine("traces", Array(list.utf8)).array ?? []).compactMap(\.string)
  }

  private func examine(_ what: String, _ input: [UInt8]) throws -> JSON {
    let path =
      try db.all("PRAGMA database_list") { ($0.text(1), $0.text(2)) }
      .first { $0.0 == "main" }?.1 ?? ""
    let found = try ChildProcess.output(
      of: "/proc/self/exe", ["--examine", what, path], input: input)
    let text = String(decoding: found.bytes, as: UTF8.self)
    if found.status != 0 { throw StoreError("\(path) cannot be examined: \(text)") }
    return try JSON.parse(text)
  }
}

extension EdgeRelation {
  /// Those of both ends in a join table.
  fileprivate var columnsOfReferences: [String] {
    switch form {
    case .column(let columns, _): columns
    case .join(_, let source, let destination): source + destination
    case .json(let column, _): [column]
    case .foreignKey(let key): key.columns
    }
  }
}
