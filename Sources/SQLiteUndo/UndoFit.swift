internal import CascadeModel
internal import CascadeEngine
internal import SQLiteBinding
internal import SQLiteTables

/// How the rows of a layout fit their table as it is now. The layout has the names that its columns have
/// now, so these are what a column is known by (`FollowedTables.swift`).
extension Undo.NumberedLayout {
  /// `nodes`: of the collection, as the model has it.
  func fit(_ table: Table, of nodes: NodeTable?) -> RowFit {
    let names = table.columns.map(\.name.folded)
    let kept = layout.columns.enumerated().map { place, name in
      guard let name else { return TableShape.rowid }
      let index = names.firstIndex(of: name.folded)
      let now = index.map { table.columns[$0].affinity.name } ?? ""
      return KeptShape.Column(
        name: name.hasPrefix("\u{0}") ? String(name.dropFirst()) : name,
        identity: index.map(Int64.init),
        type: layout.types.indices.contains(place) ? layout.types[place] : now)
    }
    let subject = layout.subject.folded
    return KeptShape(table: subject, identity: 1, columns: kept).fit(
      TableShape(table, subject, nodes))
  }
}

extension TableShape {
  /// It is no column, so it needs no place among them.
  fileprivate static let rowid = KeptShape.Column(name: "rowid", identity: -1, type: "INTEGER")

  fileprivate init(_ table: Table, _ subject: String, _ nodes: NodeTable?) {
    let keys = Set(nodes?.keyNames.map(\.folded) ?? [])
    let columns = table.columns.enumerated().map { place, column in
      TableShape.Column(
        name: column.name, identity: Int64(place), type: column.affinity.name,
        isGenerated: column.isGenerated, isKey: keys.contains(column.name.folded),
        isOptional: !column.isRequired || column.initial != nil)
    }
    let rowid = TableShape.Column(
      name: "rowid", identity: -1, type: "INTEGER", isGenerated: true)
    let name = nodes?.table?.name.folded ?? subject
    self.init(table: name, identity: name == subject ? 1 : 2, columns: columns + [rowid])
  }
}

extension RowFit.Filling {
  /// The value of the entry `t`; null if it does not fit the type that its column has now.
  var value: String {
    let value = TrashLayout.value(place)
    if oldType == nil || column.type == "BLOB" { return value }
    let there = "CAST(\(value) AS \(column.type))"
    let back = ["integer", "real", "text", "blob"].map {
      "WHEN '\($0)' THEN CAST(\(there) AS \($0)) IS \(value)"
    }
    return "iif(CASE typeof(\(value)) \(back.joined(separator: " ")) END, \(value), NULL)"
  }

  /// Whether the entry `t` has a value that does not fit; nil if all do.
  var isUnfit: String? {
    oldType == nil || column.type == "BLOB"
      ? nil : "(\(TrashLayout.value(place)) IS NOT NULL AND \(value) IS NULL)"
  }
}
