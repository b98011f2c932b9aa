internal import CascadeModel
internal import CascadeEngine
internal import CascadeSQLite
internal import SQLiteBinding
internal import SQLiteTables

/// Follows the tables and columns that others rename, add and drop, so that what the trash has of a
/// column is known to be of that column. SQLite has no numbers of columns: each change of the schema is
/// compared with what was there when the daemon last looked (`FollowedColumns`).
///
/// 1. A trigger of ours goes with its table when that is renamed, and is gone when it is dropped.
/// 2. In the layouts of the trash, a column has the name that it has now. One that is gone, or of which
///    it is not known any more which it is, has its old name behind a NUL, which no column has.
/// 3. Within a migration, names decide.
/// 4. They do also where an application has renamed the table of a collection, and made another one under
///    the name that the model has: the rows of the collection are in that one from then on.
extension Writer {
  /// Runs before the model is bound.
  func followTables() throws {
    let schema = try db.integer("PRAGMA main.schema_version") ?? 0
    let recorded = try db.recordedShapes().filter { $0.schemaVersion != schema }
    let layouts = try recorded.isEmpty ? [] : db.layoutsOfTables()
    for before in recorded {
      guard let (name, change) = try place(of: before, at: schema),
        let table = try db.tables([name]).first
      else { continue }
      let followed = FollowedColumns(from: before.columns, to: table.followedColumns, change)
      for layout in layouts where layout.subject.folded == before.subject.folded {
        try db.rename(layout, to: table, before.columns, followed.places)
      }
    }
  }

  private func place(
    of before: RecordedShape, at schema: Int64
  ) throws -> (name: String, FollowedColumns.Change)? {
    if let name = try nameOfTableMadeAnew(before) { return (name, .madeAnew) }
    return try db.place(of: before, at: schema)
  }

  /// The table that was made under the name that the model has for what this table was, beside it or after
  /// it; nil if there is none. A table with triggers of ours has been another collection's.
  private func nameOfTableMadeAnew(_ before: RecordedShape) throws -> String? {
    guard let trigger = before.trigger, let wanted = try nameInModel(ofTableWith: trigger),
      try db.table(withTrigger: trigger)?.folded != wanted.folded,
      let table = try db.tables([wanted]).first
    else { return nil }
    return try db.hasTriggerOfOurs(table.name, but: trigger) ? nil : table.name
  }

  /// The name of the table on which the trigger was made, if the model still has it for the same.
  private func nameInModel(ofTableWith trigger: String) throws -> String? {
    let parts = trigger.split(separator: "_", maxSplits: 3).dropFirst(2)
    guard let first = parts.first, let last = parts.last, parts.count == 2 else { return nil }
    if first == "join" {
      let name = last.drop { $0 != "_" }.dropFirst()
      return model.relationships.lazy.compactMap(\.joinTable)
        .first { $0.folded == String(name).folded }
    }
    guard let collection = Int64(first), let kept = try db.recordedCollection(collection),
      case .mapped(let table, _, _) = model.collections[kept.name],
      model.collections[kept.name]?.recordedMeaning == kept.recordedMeaning
    else { return nil }
    return table
  }

  /// Runs when the triggers are there.
  func recordShapes() throws {
    let tables =
      binding.collections.values.compactMap(\.table) + binding.edgeRelations.compactMap(\.joinTable)
    let names = Set(tables.map(\.name) + (try db.layoutsOfTables().map(\.subject)))
    let known = try db.tables(names.sorted())
    let schema = try db.integer("PRAGMA main.schema_version")
    try db.run("DELETE FROM cascade_shape")
    for table in known {
      try db.run(
        """
        INSERT OR REPLACE INTO cascade_shape(subject, columns, trigger, schema_version)
        SELECT ?1, ?2, (SELECT name FROM main.sqlite_schema
          WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE AND name GLOB 'cascade_delete_*' LIMIT 1), ?3
        """, .text(table.name), .text(table.followedColumns.json.text), .integer(schema))
    }
  }
}

/// A row of `cascade_shape`.
struct RecordedShape {
  let subject: String
  let columns: [FollowedColumns.Column]
  let trigger: String?
  let isMigrating: Bool
  let schemaVersion: Int64

  func type(of name: String) -> String? {
    columns.first { $0.name.folded == name.folded }?.type
  }
}

/// A layout of the trash that is about a table.
private struct LayoutOfTable {
  let batch: Int64
  let number: Int64
  let subject: String
  let columns: [String?]
}

extension Connection {
  func recordedShapes() throws -> [RecordedShape] {
    try all(
      "SELECT subject, columns, trigger, is_migrating, schema_version FROM cascade_shape"
    ) { row in
      let columns = (try? JSON.parse(row.text(1)))?.array ?? []
      return RecordedShape(
        subject: row.text(0),
        columns: columns.compactMap { $0.array?.compactMap(\.string) }.map {
          FollowedColumns.Column(name: $0[0], type: $0[1])
        }, trigger: row.optionalText(2), isMigrating: row.integer(3) == 1,
        schemaVersion: row.integer(4))
    }
  }

  fileprivate func layoutsOfTables() throws -> [LayoutOfTable] {
    try all(
      """
      SELECT batch, layout, subject, columns FROM cascade_trash_layout
      WHERE kind IN ('row', 'side', 'change')
      """
    ) { row in
      LayoutOfTable(
        batch: row.integer(0), number: row.integer(1), subject: row.text(2),
        columns: (try? JSON.parse(row.text(3)))?.array?.map(\.string) ?? [])
    }
  }

  fileprivate func table(withTrigger name: String) throws -> String? {
    try all(
      generated: "SELECT tbl_name FROM main.sqlite_schema WHERE type = 'trigger' AND name = ?",
      [.text(name)]
    ) { $0.text(0) }.first
  }

  fileprivate func hasTriggerOfOurs(_ table: String, but trigger: String) throws -> Bool {
    try integer(
      """
      SELECT 1 FROM main.sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE
      AND name GLOB 'cascade_delete_*' AND name <> ?2
      """, .text(table), .text(trigger)) != nil
  }

  /// What the table is called now, and what has happened to it. Nil if it is not there.
  fileprivate func place(
    of shape: RecordedShape, at schema: Int64
  ) throws -> (name: String, FollowedColumns.Change)? {
    let name = try all(
      generated: """
        SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name = ? COLLATE NOCASE
        """, [.text(shape.subject)]
    ) { $0.text(0) }.first
    let moved = try shape.trigger.flatMap { try table(withTrigger: $0) }
    if shape.isMigrating { return (name ?? moved).map { ($0, .madeAnew) } }
    let statements = schema - shape.schemaVersion
    let altered = FollowedColumns.Change.altered(by: statements > 0 ? statements : .max)
    if let moved { return (moved, altered) }
    return name.map { ($0, shape.trigger == nil ? altered : .madeAnew) }
  }

  fileprivate func rename(
    _ layout: LayoutOfTable, to table: Table, _ before: [FollowedColumns.Column],
    _ places: [Int?]
  ) throws {
    let columns = layout.columns.map { name -> JSON in
      guard let name else { return .null }
      guard let index = before.firstIndex(where: { $0.name.folded == name.folded }) else {
        return .string(name)
      }
      return .string(places[index].map { table.columns[$0].name } ?? "\u{0}\(name)")
    }
    try run(
      """
      UPDATE cascade_trash_layout SET subject = ?, columns = ? WHERE batch = ? AND layout = ?
      """, .text(table.name), .text(JSON.array(columns).text), .integer(layout.batch),
      .integer(layout.number))
  }
}

extension Table {
  fileprivate var followedColumns: [FollowedColumns.Column] {
    columns.map { FollowedColumns.Column(name: $0.name, type: $0.affinity.name) }
  }
}

extension [FollowedColumns.Column] {
  fileprivate var json: JSON {
    .array(map { .array([.string($0.name), .string($0.type)]) })
  }
}

extension Relationship {
  fileprivate var joinTable: String? {
    if case .join(let table, _, _) = edgeStorage { table } else { nil }
  }
}
