internal import CascadeModel
package import CascadeSQLite
package import SQLiteBinding
package import SQLiteTables

/// The triggers that write the journal, in the application's own transactions.
///
/// 1. No trigger names a table of the application's other than its own. Otherwise the application
///    could not rebuild that other table (create, copy, drop, rename).
/// 2. No trigger can fail because of the content of a row: malformed JSON counts as a missing
///    value.
/// 3. A row is journaled BEFORE it is deleted. Rows that a foreign-key action deletes with it are
///    journaled after it, and the reader of the journal relies on this order.
/// 4. No trigger has a schema name in its text: the application may attach the file under another
///    one.
package struct WatchTriggers {
  package let watches: [Watch]
  package let binding: Binding

  package init(watches: [Watch], binding: Binding) {
    (self.watches, self.binding) = (watches, binding)
  }

  package var all: [Trigger] {
    let rows = binding.collections.values.sorted { $0.id < $1.id }.compactMap(subject)
    return (rows + joinSubjects).flatMap {
      [$0.onDelete, $0.onUpdate] + $0.onDisplacement + $0.onDisplaced + $0.onArrival
    }
  }

  /// These record which rows may have had their lists of references written. They exist only while a
  /// sweep needs that (`SQLiteRules/JSONLists.swift`).
  var listTriggers: [Trigger] {
    let sources = Set(binding.holdingLists.map(\.source)).sorted { $0.id < $1.id }
    return sources.flatMap { source -> [Trigger] in
      guard let rows = subject(source) else { return [] }
      let note =
        "INSERT INTO cascade_list_write(collection, key) VALUES(\(source.id), \(rows.key("NEW")))"
      return [(Trigger.list, "AFTER INSERT"), (Trigger.listUpdate, "AFTER UPDATE")].map {
        Trigger($0 + rows.name, $1, on: rows.table, when: nil, [note])
      }
    }
  }

  private var joinSubjects: [WatchedTable] { binding.joinSubjects.compactMap(joinSubject) }

  /// A row is watched as a node and, if the table is a join table too, as the edge that it is.
  package func subjects(of rows: NodeTable) -> [WatchedTable] {
    [subject(rows)].compactMap(\.self) + joinSubjects.filter { $0.table.name == rows.table?.name }
  }

  func subject(_ rows: NodeTable) -> WatchedTable? {
    guard case .mapped(let table, let key, _) = rows.kind else { return nil }
    return WatchedTable(
      name: "\(rows.id)_\(rows.collection)", table: table, keyColumns: key,
      watches: watches.filter { $0.meaning.watchSubject == .rows(of: rows.id) },
      unique: binding.model.watchesReplacedRows(rows.collection)
        ? possibleDisplacements(rows, table) : [],
      arrivals: binding.journalsArrivals(rows) ? rows.id : nil, kept: keptLayout(rows, table))
  }

  /// Nil if rows of the collection are not kept that applications delete.
  private func keptLayout(_ rows: NodeTable, _ table: Table) -> TrashLayout? {
    if !binding.model.keepsDeleted(rows.collection) { return nil }
    return TrashLayout(.row, table, keys: rows.keyNames, collection: rows.id)
  }

  /// Of all rows that are kept.
  var keptLayouts: [TrashLayout] {
    binding.collections.values.compactMap { rows in rows.table.flatMap { keptLayout(rows, $0) } }
  }

  private func joinSubject(_ subject: Watch.Subject) -> WatchedTable? {
    guard case .joins(_, let source) = subject,
      let table = binding.edgeRelations.first(where: { $0.watchSubject == subject })?.joinTable,
      case let columns = source.compactMap(table.column), columns.count == source.count
    else { return nil }
    let watches = watches.filter { $0.meaning.watchSubject == subject }
    return WatchedTable(
      name: "join_\(watches[0].number)_\(table.name)", table: table, keyColumns: columns,
      watches: watches, unique: watchedDisplacements(subject, table, watches))
  }
}

/// A table with triggers: of a mapped collection, or a join table.
package struct WatchedTable {
  let name: String
  let table: Table
  let keyColumns: [Table.Column]
  package let watches: [Watch]
  /// The unique keys by which a displaced row must be looked up.
  let unique: [Displacement]
  /// The collection, if a row is journaled that comes under the key of one that was deleted.
  var arrivals: Int64?
  /// How rows are kept that an application deletes; nil if they are not.
  var kept: TrashLayout?

  /// The numbers of its watches that journal nodes, as a list.
  var watchesOfNodes: String {
    watches.filter(\.meaning.isOfNodes).map { "\($0.number)" }.joined(separator: ", ")
  }

  var values: [WatchedValue] { watches.flatMap(\.meaning.values) }

  var onDelete: Trigger {
    Trigger(
      "cascade_delete_\(name)", "BEFORE DELETE", on: table, when: nil,
      watches.map { insert($0, isGone: isGone()) } + (kept?.keeping("OLD", of: table) ?? []))
  }

  /// AFTER: another trigger that changes the row may have changed it back.
  var onUpdate: Trigger {
    Trigger(
      "cascade_update_\(name)", "AFTER UPDATE\(columns)", on: table, when: changes,
      watches.map { insert($0, isGone: isGone(if: isOtherKey)) })
  }

  var isOtherKey: String { "\(key("OLD")) IS NOT \(key("NEW")) COLLATE BINARY" }

  private var goneMark: Int64 { arrivals == nil ? GoneMark.plain : GoneMark.indexed }

  /// The value of `gone`.
  func isGone(if condition: String? = nil) -> String {
    condition.map { "\(goneMark) * (\($0))" } ?? "\(goneMark)"
  }

  private var columns: String {
    table.assignments(to: keyColumns + values.flatMap(\.columns).compactMap(table.column))
  }

  /// Compares by bytes: a reference in another spelling may name another node.
  private var changes: String {
    (keyColumns.map { WatchedValue.columns([$0.name]) } + values.unique)
      .map { "\($0.sql("OLD")) IS NOT \($0.sql("NEW")) COLLATE BINARY" }
      .joined(separator: " OR ")
  }

  /// An INSERT of a journal row for the row before the change, or of rows for existing rows `o`.
  package func insert(
    _ watch: Watch, from rows: String? = nil, isGone: String? = nil
  ) -> String {
    let (row, watched) = (rows == nil ? "OLD" : "o", watch.meaning.values)
    let isGone = watch.meaning.isOfNodes ? isGone : nil
    let columns =
      ["what", "key"] + (isGone == nil ? [] : ["gone"]) + Watch.columns.prefix(watched.count)
    let values = ["\(watch.number)", key(row)] + [isGone].compactMap(\.self)
    let list = (values + watched.map { $0.sql(row) }).joined(separator: ", ")
    return "INSERT INTO cascade_journal(\(columns.joined(separator: ", "))) "
      + (rows.map { "SELECT \(list) \($0)" } ?? "VALUES(\(list))")
  }

  /// The key of a row, as SQL; NULL if it is incomplete. Such a row is no node, but its references
  /// are lost like those of any other.
  func key(_ row: String) -> String {
    let whole = table.key(keyColumns, row)
    let optional = keyColumns.count == 1 ? [] : keyColumns.filter { !$0.isRequired }
    if optional.isEmpty { return whole }
    let isWhole = optional.map { "\(row).\(quoted($0.name)) IS NOT NULL" }
    return "iif(\(isWhole.joined(separator: " AND ")), \(whole), NULL)"
  }
}

extension Table {
  /// The column list behind UPDATE. It is empty if a column is generated: such a column is never
  /// assigned to, so every update may change it. The key of a rowid table has other names too.
  func assignments(to columns: [Column]) -> String {
    if columns.contains(where: \.isGenerated) { return "" }
    let aliases = columns.contains(where: isRowid) ? ["rowid", "oid", "_rowid_"] : []
    return " OF " + (columns.map(\.name) + aliases).unique.map(quoted).joined(separator: ", ")
  }

  private func isRowid(_ column: Column) -> Bool {
    rowid != nil && column.affinity == .integer
      && primaryKey.map(\.folded) == [column.name.folded]
  }

  /// The same as `NodeTable.key`, for any columns.
  func key(_ columns: [Column], _ row: String) -> String {
    NodeTable(id: 0, collection: "", kind: .mapped(self, key: columns, collations: [])).key(row)
  }
}

extension WatchedValue {
  func sql(_ row: String) -> String {
    switch self {
    case .columns(let names): return Reference(names, of: row, in: nil).value
    case .json(let column, let path):
      let value = "\(row).\(quoted(column))"
      return "iif(json_valid(\(value)), \(value) -> \(memberPath(path, in: value)), NULL)"
    }
  }
}

extension Connection {
  package var isTrackingLists: Bool {
    get throws(SQLiteError) { try integer("SELECT 1 FROM cascade_list_write LIMIT 1") != nil }
  }
}

extension Writer {
  package func stopListTracking() throws {
    if try !db.isTrackingLists { return }
    try db.run("DELETE FROM cascade_list_write")
    try rebind()
  }
}
