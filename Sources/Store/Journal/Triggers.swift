internal import CascadeModel
internal import CascadeSQLite
/// A persistent trigger of ours. The text is what SQLite keeps of it, byte for byte, so that one
/// that somebody changed is known by looking.
struct Trigger: Hashable, Sendable {
  let name: String
  let sql: String

  init(name: String, sql: String) {
    self.name = name
    self.sql = sql
  }

  /// SQLite keeps it without the schema. Unqualified, a table of ours would be meant, of those that
  /// are temporary, where one has the same name.
  var creation: String { "CREATE TRIGGER main.\(sql.dropFirst("CREATE TRIGGER ".count))" }

  /// With a condition of its own in front: what is seldom true is asked first, and the daemon's own
  /// writes are asked about last.
  init(
    _ name: String, _ event: String, on table: Table, when condition: String?, _ body: [String]
  ) {
    self.name = name
    let isDenial = name.hasPrefix(Trigger.denial)
    let quiet = "NOT EXISTS (SELECT 1 FROM cascade_quiet\(isDenial ? "" : " WHERE id = 1"))"
    sql = """
      CREATE TRIGGER \(quoted(name)) \(event) ON \(quoted(table.name))
      WHEN \(condition.map { "(\($0)) AND " } ?? "")\(quiet)
      BEGIN
      \(body.map { "  \($0);\n" }.joined())END
      """
  }
}

/// The triggers that write the journal, in the application's own transactions.
///
/// 1. None names a table of the application but the one it is on: a trigger that names another
///    would make the application's own rebuild of that one (create, copy, drop, rename) fail.
/// 2. None can fail because of what the row holds: malformed JSON is a value that is not there.
/// 3. A row is journaled BEFORE it is deleted: those that a foreign-key action deletes with it come
///    behind it, and whoever reads the journal relies on this order.
/// 4. No name of a schema is written: the application may attach the file under another.
struct WatchTriggers {
  let watches: [Watch]
  let binding: Binding
  let model: StoreModel

  var all: [Trigger] {
    let mapped = binding.collections.values.sorted { $0.id < $1.id }
    let rows = mapped.compactMap(subject).flatMap(triggers)
    return rows + joinSubjects.flatMap(triggers)
  }

  private var joinSubjects: [WatchedTable] { binding.joinSubjects.compactMap(joinSubject) }

  /// As a node each row says something, and as the edge that it is, where the table is a join table too.
  func subjects(of rows: NodeTable) -> [WatchedTable] {
    [subject(rows)].compactMap(\.self) + joinSubjects.filter { $0.table.name == rows.table?.name }
  }

  func subject(_ rows: NodeTable) -> WatchedTable? {
    guard case .mapped(let table, let key, _) = rows.kind else { return nil }
    return WatchedTable(
      name: "\(rows.id)_\(rows.collection)", table: table, keyColumns: key,
      watches: watches.filter { $0.meaning.subject == .rows(of: rows.id) },
      unique: displaceable(rows, table))
  }

  private func joinSubject(_ subject: Watch.Subject) -> WatchedTable? {
    guard case .joins(_, let source) = subject, let table = joinTable(subject),
      let column = table.column(source)
    else { return nil }
    let watches = watches.filter { $0.meaning.subject == subject }
    return WatchedTable(
      name: "join_\(watches[0].number)_\(table.name)", table: table, keyColumns: [column],
      watches: watches, unique: displaceable(subject, table, watches))
  }

  private func joinTable(_ subject: Watch.Subject) -> Table? {
    for place in binding.places where place.subject == subject {
      if case .join(let table, _, _) = place.form { return table }
    }
    return nil
  }

  private func triggers(_ subject: WatchedTable) -> [Trigger] {
    [subject.onDelete, subject.onUpdate] + subject.onDisplacement
  }
}

/// A table with triggers: of a mapped collection, or a join table.
struct WatchedTable {
  let name: String
  let table: Table
  let keyColumns: [Table.Column]
  let watches: [Watch]
  /// The unique keys by which a replaced row has to be looked for.
  let unique: [Displacement]

  var values: [WatchedValue] { watches.flatMap(\.meaning.values) }

  var onDelete: Trigger {
    Trigger(
      "cascade_delete_\(name)", "BEFORE DELETE", on: table, when: nil, watches.map { insert($0) })
  }

  /// AFTER: whoever else changes the row in a trigger of its own may have changed it back.
  var onUpdate: Trigger {
    Trigger(
      "cascade_update_\(name)", "AFTER UPDATE\(columns)", on: table, when: changes("OLD", "NEW"),
      watches.map { insert($0) })
  }

  private var columns: String {
    table.assignments(to: keyColumns + values.compactMap { table.column($0.column) })
  }

  /// By bytes: a reference to another spelling may be one to another node.
  private func changes(_ old: String, _ new: String) -> String {
    let keys = keyColumns.map { "\(old).\(quoted($0.name)) IS NOT \(new).\(quoted($0.name))" }
    return (keys.map { $0 + " COLLATE BINARY" } + valueChanges(old, new)).joined(separator: " OR ")
  }

  private func valueChanges(_ old: String, _ new: String) -> [String] {
    values.unique.map { "\($0.sql(old)) IS NOT \($0.sql(new)) COLLATE BINARY" }
  }

  /// A row of the journal for the row before the change.
  private func insert(_ watch: Watch) -> String {
    let values = watch.meaning.values.map { ", " + $0.sql("OLD") }.joined()
    return "\(intoJournal(watch)) VALUES(\(watch.number), \(key("OLD"))\(values))"
  }

  /// Rows of the journal for rows that are there now, as `o`.
  func insert(_ watch: Watch, from rows: String) -> String {
    let values = watch.meaning.values.map { ", " + $0.sql("o") }.joined()
    return "\(intoJournal(watch)) SELECT \(watch.number), \(key("o"))\(values) \(rows)"
  }

  private func intoJournal(_ watch: Watch) -> String {
    let columns = Watch.columns.prefix(watch.meaning.values.count).map { ", " + $0 }.joined()
    return "INSERT INTO cascade_journal(what, key\(columns))"
  }

  /// A row with half a key is no node, but its references are gone as those of any other.
  func key(_ row: String) -> String {
    let whole = table.key(keyColumns, row)
    let optional = keyColumns.count == 1 ? [] : keyColumns.filter { !$0.isRequired }
    if optional.isEmpty { return whole }
    let isWhole = optional.map { "\(row).\(quoted($0.name)) IS NOT NULL" }
    return "iif(\(isWhole.joined(separator: " AND ")), \(whole), NULL)"
  }
}

extension Table {
  /// The list behind UPDATE. A generated column is never assigned to, so every update may change
  /// it; the key of a rowid table has other names too.
  func assignments(to columns: [Column]) -> String {
    if columns.contains(where: \.isGenerated) { return "" }
    let aliases = columns.contains(where: isRowid) ? ["rowid", "oid", "_rowid_"] : []
    return " OF " + (columns.map(\.name) + aliases).unique.map(quoted).joined(separator: ", ")
  }

  private func isRowid(_ column: Column) -> Bool {
    rowid != nil && column.affinity == .integer
      && primaryKey.map(\.folded) == [column.name.folded]
  }

  /// As `NodeTable.key`, for any columns.
  func key(_ columns: [Column], _ row: String) -> String {
    NodeTable(id: 0, collection: "", kind: .mapped(self, key: columns, collations: [])).key(row)
  }
}

extension WatchedValue {
  func sql(_ row: String) -> String {
    switch self {
    case .column(let name): return "\(row).\(quoted(name))"
    case .json(let column, let path):
      let value = "\(row).\(quoted(column))"
      return "iif(json_valid(\(value)), \(value) -> \(memberPath(path, in: value)), NULL)"
    }
  }
}

extension Array where Element: Hashable {
  /// Each once, in the order of their first places.
  var unique: [Element] {
    var seen: Set<Element> = []
    return filter { seen.insert($0).inserted }
  }
}
