internal import CascadeModel
package import CascadeSQLite
internal import SQLiteBinding
internal import SQLiteTables

/// Describes an entry of the trash: what it is, and which of its values is in which column of
/// `cascade_trash`. The columns of the key come first. A layout is written once for each batch and
/// kind of entry.
package struct TrashLayout: Hashable {
  package enum Kind: String {
    /// The row of a node.
    case row
    /// A managed object: its key, its type, its value.
    case object
    /// The key of a node that was gone before the sweep examined it: a link in a chain of reasons.
    case name
    /// A row that is not a node: of a join table, or one that went by a foreign key.
    case side
    /// Columns of a row that survived: its key, the old values, the new values.
    case change
    /// The value of an object that survived: its id, the old value, the new value.
    case value
    /// Stands for the stored edges that are kept.
    case edges
  }

  package let kind: Kind
  package var collection: Int64?
  /// The name of the table, if the entry comes from one.
  package var subject = ""
  /// As they are called now (`FollowedTables.swift`). Nil stands for the rowid.
  package var columns: [String?] = []
  /// Of the columns, when the rows were kept; empty where that does not matter.
  package var types: [String] = []
  package var keys = 1

  package static let columnsPerPart = 16

  var parts: Range<Int> {
    0..<max(1, (columns.count + TrashLayout.columnsPerPart - 1) / TrashLayout.columnsPerPart)
  }

  /// SQLite joins at most 64 tables: values in later parts are looked up one by one.
  private static let maxJoinedParts = 48

  /// The SQL for the value of a column; `t` is part 0, `t1` the next.
  package static func value(_ place: Int) -> String {
    let (part, column) = (place / columnsPerPart, "c\(place % columnsPerPart)")
    if part < maxJoinedParts { return "\(alias(ofPart: part)).\(column)" }
    return "(SELECT w.\(column) FROM main.cascade_trash AS w "
      + "WHERE w.batch = t.batch AND w.id = t.id AND w.part = \(part))"
  }

  static func alias(ofPart part: Int) -> String { part == 0 ? "t" : "t\(part)" }

  /// The FROM clause: entries of the trash with all of their parts, called `t`, `t1` and so on.
  package var fromEntries: String {
    let others = parts.prefix(TrashLayout.maxJoinedParts).dropFirst().map { part in
      let t = TrashLayout.alias(ofPart: part)
      return "CROSS JOIN main.cascade_trash AS \(t) "
        + "ON \(t).batch = t.batch AND \(t).id = t.id AND \(t).part = \(part)"
    }
    return "FROM main.cascade_trash AS t \(others.joined(separator: " "))"
  }

  package static let isOfLayout = "t.batch = ?1 AND t.layout = ?2 AND t.part = 0"
  /// Entries in a slice of ids, bound behind batch and layout.
  package static let isInSlice = "\(isOfLayout) AND t.id > ?3 AND t.id <= ?4"

  fileprivate var identity: [Value] {
    let names = JSON.array(columns.map { $0.map(JSON.string) ?? .null }).text
    let types = JSON.array(types.map(JSON.string)).text
    return [.text(kind.rawValue), .integer(collection), .text(subject), .text(names), .text(types)]
  }
}

extension TrashLayout {
  /// From the columns: kind, collection, subject, columns, keys, types. Nil for an entry that a newer
  /// version wrote.
  package init?(row: Row) {
    guard let kind = Kind(rawValue: row.text(0)),
      let columns = try? JSON.parse(row.text(3)).array?.map(\.string),
      let types = try? JSON.parse(row.text(5)).array?.compactMap(\.string)
    else { return nil }
    self.init(
      kind: kind, collection: row.isNull(1) ? nil : row.integer(1), subject: row.text(2),
      columns: columns, types: types, keys: Int(row.integer(4)))
  }

  /// All columns of a table except generated ones, the key first.
  init(_ kind: Kind, _ table: Table, keys: [String] = [], collection: Int64? = nil) {
    let first = Set(keys.map(\.folded))
    let rest = table.columns.filter { !$0.isGenerated && !first.contains($0.name.folded) }
    var columns: [String?] = keys + rest.map(\.name)
    // A rowid that is also a column is kept as that column.
    if table.rowid != nil && !table.isRowidColumn { columns.append(nil) }
    self.init(
      kind: kind, collection: collection, subject: table.name, columns: columns,
      types: table.types(of: columns), keys: keys.count)
  }

  func values(of alias: String, in table: Table) -> [Query] {
    columns.map { "\(alias).\($0.map(quoted) ?? table.rowid ?? "rowid")" }
  }
}

extension Writer {
  /// Writes entries into the trash, with their ids and values by the layout. `reason`: the columns
  /// via, name and rule.
  func writeToTrash(
    _ layout: TrashLayout, id: Query, values: [Query], reason: String = "NULL, NULL, NULL",
    from rows: Query
  ) throws {
    let number = try layoutNumber(layout)
    var count = 0
    for part in layout.parts {
      let first = part * TrashLayout.columnsPerPart
      let values = values[first..<min(first + TrashLayout.columnsPerPart, values.count)]
      let columns = values.indices.map { ", c\($0 - first)" }.joined()
      try db.run(
        """
        INSERT OR IGNORE INTO main.cascade_trash(batch, id, part, layout, via, name, rule\(columns))
        SELECT \(bind: current.batch), \(id), \(part), \(bind: number), \(reason),
          \(values.joined(separator: ", ")) FROM \(rows)
        """)
      if part == 0 { count = db.changes }
    }
    try countTrashedEntries(layout, count: count)
  }

  func countTrashedEntries(_ layout: TrashLayout, count: Int) throws {
    if count == 0 { return }
    let (identity, number) = (layout.identity, try layoutNumber(layout))
    try db.run(
      """
      INSERT INTO cascade_trash_layout VALUES(?, ?, ?, ?, ?, ?, ?, ?8, ?9, ?10)
      ON CONFLICT DO UPDATE
      SET count = count + excluded.count, remaining = remaining + excluded.remaining
      """, .integer(current.batch), .integer(number), identity[0], identity[1], identity[2],
      identity[3], .integer(Int64(layout.keys)), .integer(Int64(count)),
      .integer(layout.kind == .name ? 0 : Int64(count)), identity[4])
  }

  /// The number of the layout in this batch: the existing one, or the next free one.
  func layoutNumber(_ layout: TrashLayout) throws -> Int64 {
    let identity = layout.identity
    return try db.integer(
      """
      SELECT coalesce(
        max(layout) FILTER (WHERE kind = ? AND collection IS ? AND subject = ? AND columns = ?
          AND types = ?),
        max(layout) + 1, 1)
      FROM cascade_trash_layout WHERE batch = ?
      """, identity[0], identity[1], identity[2], identity[3], identity[4], .integer(current.batch))!
  }
}

extension Table {
  /// The types of these columns, as far as they matter for a value: nil, the rowid, has an integer.
  func types(of names: [String?]) -> [String] {
    names.map { name in (name.map { column($0)?.affinity ?? .blob } ?? .integer).name }
  }
}
