internal import CascadeModel
package import CascadeSQLite
package import SQLiteBinding

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

  package init(
    kind: Kind, collection: Int64? = nil, subject: String = "", columns: [String?] = [],
    types: [String] = [], keys: Int = 1
  ) {
    (self.kind, self.collection, self.subject) = (kind, collection, subject)
    (self.columns, self.types, self.keys) = (columns, types, keys)
  }

  package static let columnsPerPart = 16

  package var parts: Range<Int> {
    0..<max(1, (columns.count + TrashLayout.columnsPerPart - 1) / TrashLayout.columnsPerPart)
  }

  /// Of all values, those of one part, and the columns that have them: ", c0, c1".
  package static func columns<T>(
    ofPart part: Int, _ values: [T]
  ) -> (names: String, values: ArraySlice<T>) {
    let first = part * columnsPerPart
    let own = values[first..<min(first + columnsPerPart, values.count)]
    return (own.indices.map { ", c\($0 - first)" }.joined(), own)
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

  package static func alias(ofPart part: Int) -> String { part == 0 ? "t" : "t\(part)" }

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

  package var identity: [Value] {
    let names = JSON.array(columns.map { $0.map(JSON.string) ?? .null }).text
    let types = JSON.array(types.map(JSON.string)).text
    return [.text(kind.rawValue), .integer(collection), .text(subject), .text(names), .text(types)]
  }
}

// MARK: - Rows that applications delete

extension TrashLayout {
  /// Triggers keep such rows under this batch, by the number of the row of the journal that tells of the
  /// deletion, until a sweep has read that (`KeptDeletions.swift`).
  package static let batchOfKept: Int64 = 0

  /// What a row went because of, where that is no node: its application deleted it.
  package static let byApplication: Int64 = 0

  /// The number of the layout under that batch: the same for the same layout.
  package var numberOfKept: Int64 { Fingerprint(identity.description).signed & .max }

  /// The statements of a trigger that keep the row `row`. What the daemon itself deletes is kept elsewhere.
  package func keeping(_ row: String, of table: Table, from rows: String = "") -> [String] {
    let values = values(of: row, in: table).map(\.text)
    return parts.map { part in
      let (columns, own) = TrashLayout.columns(ofPart: part, values)
      let isOthers = "NOT EXISTS (SELECT 1 FROM cascade_muted)"
      return "INSERT OR REPLACE INTO cascade_trash(batch, id, part, layout, via\(columns)) "
        + "SELECT \(TrashLayout.batchOfKept), last_insert_rowid(), \(part), \(numberOfKept), "
        + "\(TrashLayout.byApplication), \(own.joined(separator: ", ")) "
        + (rows.isEmpty ? "WHERE \(isOthers)" : "\(rows) AND \(isOthers)")
    }
  }
}

extension TrashLayout {
  /// An expression: the key of `t` as in `temp.known`. `keys` is the number of its columns.
  package static func key(keys: String, of t: String = "t") -> String {
    let lists = (2...columnsPerPart).map { count in
      let parts = (0..<count).map { CompositeKeyPart.written("\(t).c\($0)") }
      return "WHEN \(count) THEN json_array(\(parts.joined(separator: ", ")))"
    }
    return "CASE \(keys) \(lists.joined(separator: " ")) ELSE \(t).c0 END"
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
  package init(_ kind: Kind, _ table: Table, keys: [String] = [], collection: Int64? = nil) {
    let first = Set(keys.map(\.folded))
    let rest = table.columns.filter { !$0.isGenerated && !first.contains($0.name.folded) }
    var columns: [String?] = keys + rest.map(\.name)
    // A rowid that is also a column is kept as that column.
    if table.rowid != nil && !table.isRowidColumn { columns.append(nil) }
    self.init(
      kind: kind, collection: collection, subject: table.name, columns: columns,
      types: table.types(of: columns), keys: keys.count)
  }

  package func values(of alias: String, in table: Table) -> [Query] {
    columns.map { "\(alias).\($0.map(quoted) ?? table.rowid ?? "rowid")" }
  }
}

extension Table {
  /// The types of these columns, as far as they matter for a value: nil, the rowid, has an integer.
  package func types(of names: [String?]) -> [String] {
    names.map { name in (name.map { column($0)?.affinity ?? .blob } ?? .integer).name }
  }
}

extension Connection {
  /// Writes down a layout by which triggers keep rows.
  package func recordKept(_ layout: TrashLayout) throws(SQLiteError) {
    let identity = layout.identity
    try run(
      """
      INSERT OR IGNORE INTO cascade_trash_layout VALUES(?, ?, ?, ?, ?, ?, ?, 0, 0, ?)
      """, .integer(TrashLayout.batchOfKept), .integer(layout.numberOfKept), identity[0],
      identity[1], identity[2], identity[3], .integer(Int64(layout.keys)), identity[4])
  }
}
