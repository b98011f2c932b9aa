package import CascadeEngine
internal import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import CascadeSystem
internal import SQLiteBinding
package import SQLiteTables

/// What the trash has of a batch is written into the archive before it is forgotten. `RestoredThings.swift`
/// reads it.
extension Writer {
  /// Throws `BatchArchive.Failure`. Then nothing may be forgotten.
  func archive(_ batches: some Sequence<Int64>) throws {
    guard let archive = try archive() else { return }
    for batch in batches {
      if try isPartlyForgotten(batch) { continue }
      for file in try trashedFiles(of: batch) { try keep(file, of: batch, archive) }
      try archive.write(description(of: batch)) { lines in
        try ArchivedBatch(writer: self, batch: batch, lines: lines).write()
      }
    }
  }

  /// Nil if the model names none.
  package func archive() throws -> BatchArchive? {
    guard let place = model.archive else { return nil }
    let paths = StorePaths(store: path, spool: path)
    let owner = try rootOwner(FileRoots(model, paths), paths)
    let name = path.split(separator: "/").last.map(String.init) ?? path
    return BatchArchive(place, name: name, of: owner)
  }

  /// It was written when that began.
  private func isPartlyForgotten(_ batch: Int64) throws -> Bool {
    try db.integer(
      "SELECT 1 FROM cascade_trash_layout WHERE batch = ? AND remaining < 0 LIMIT 1",
      .integer(batch)) != nil
  }

  private func description(of batch: Int64) throws -> BatchArchive.Batch {
    let entry = try db.first(
      "SELECT part, author, at FROM cascade_ledger WHERE seq = ?", .integer(batch)
    ) {
      (kind: Submission.Kind(part: $0.integer(0)), author: $0.optionalText(1), at: $0.integer(2))
    }
    let counts = try db.all(
      """
      SELECT c.name, sum(l.remaining) FROM cascade_trash_layout AS l
      JOIN cascade_collection AS c ON c.id = l.collection
      WHERE l.batch = ? AND l.kind IN ('row', 'object') AND l.remaining > 0 GROUP BY 1
      """, .integer(batch)
    ) { ($0.text(0), Int($0.integer(1))) }
    return BatchArchive.Batch(
      number: batch, cause: entry?.kind.rawValue ?? "sweep", author: entry?.author,
      at: entry?.at ?? 0, counts: Dictionary(uniqueKeysWithValues: counts))
  }

  // MARK: - Files

  fileprivate func trashedFiles(of batch: Int64) throws -> [(root: String, path: String)] {
    if model.files.isEmpty { return [] }
    return try db.all(
      """
      SELECT substr(c.name, 14), t.path FROM cascade_trash_file AS t
      JOIN cascade_collection AS c ON c.id = t.collection
      WHERE t.batch = ? AND t.fate = ? ORDER BY 1, 2
      """, .integer(batch), .integer(FileFate.trashed.rawValue)
    ) { ($0.text(0), $0.text(1)) }
  }

  private func keep(
    _ file: (root: String, path: String), of batch: Int64, _ archive: BatchArchive
  ) throws {
    let roots = FileRoots(model, StorePaths(store: path, spool: path))
    try archive.keep(file.path, ofRoot: file.root, in: roots, batch: batch)
  }
}

private struct ArchivedBatch {
  let writer: Writer
  let batch: Int64
  let lines: ArchiveLines

  private typealias Kept = (number: Int64, layout: TrashLayout)
  private var db: Connection { _read { yield writer.db } }

  func write() throws {
    let layouts = try layouts
    for kept in try parentsFirst(layouts) { try writeNodes(kept) }
    for kept in layouts where kept.layout.kind == .side { try writeSideRows(kept) }
    for kept in layouts.reversed() {
      switch kept.layout.kind {
      case .change: try writeChanges(kept)
      case .value: try writeValues(kept)
      default: break
      }
    }
    try writeEdges()
    for file in try writer.trashedFiles(of: batch) {
      try lines.write(file: file.path, root: file.root, batch: batch)
    }
  }

  private var layouts: [Kept] {
    get throws {
      try db.all(
        """
        SELECT l.kind, l.collection, l.subject, l.columns, l.keys, l.types, l.layout
        FROM cascade_trash_layout AS l WHERE l.batch = ? AND l.remaining > 0 ORDER BY l.layout
        """, .integer(batch)
      ) { row in TrashLayout(row: row).map { (row.integer(6), $0) } }.compactMap(\.self)
    }
  }

  /// What refers to others by foreign keys comes behind these; else, what followed behind its causes.
  private func parentsFirst(_ layouts: [Kept]) throws -> [Kept] {
    let causes = try db.all(
      """
      SELECT collection FROM cascade_deleted WHERE batch = ? GROUP BY 1 ORDER BY min(part), min(place)
      """, .integer(batch)
    ) { $0.integer(0) }
    let known = causes + layouts.compactMap(\.layout.collection).filter { !causes.contains($0) }
    let order = childrenBeforeParents(known.reversed()) { child, parent in
      let tables = [child, parent].compactMap { writer.binding.collection($0)?.table }
      return tables.count == 2 && tables[0].foreignKeys.contains { $0.refers(to: tables[1]) }
    }.reversed().map(\.self)
    let nodes = layouts.filter { [.row, .object].contains($0.layout.kind) }
    return order.flatMap { collection in nodes.filter { $0.layout.collection == collection } }
  }

  // MARK: - Entries

  /// Calls the body with each entry: the values of its columns, behind the key.
  private func forEach(
    _ kept: Kept, count: Int, _ body: (_ key: Value, _ values: [GivenValue]) throws -> Void
  ) throws {
    let values = (0..<count).map(TrashLayout.value)
    try db.each(
      generated: """
        SELECT \(TrashLayout.key(keys: "\(kept.layout.keys)")), \(values.joined(separator: ", "))
        \(kept.layout.fromEntries) WHERE \(TrashLayout.isOfLayout) ORDER BY t.id
        """, [.integer(batch), .integer(kept.number)]
    ) { row in try body(row.value(0), row.columns.dropFirst().map { row.given($0) }) }
  }

  private func node(_ kept: Kept, _ key: Value) throws -> JSON? {
    guard let collection = kept.layout.collection else { return nil }
    return try node(db.nameOfCollection(collection), key)
  }

  private func node(_ collection: String, _ key: Value) -> JSON {
    let isComposite = writer.binding.collections[collection].map { $0.keyNames.count > 1 } ?? false
    if case .text(let text) = key, isComposite, let parts = try? JSON.parse(text) {
      return [.string(collection), parts]
    }
    return [.string(collection), key.json]
  }

  private func columns(_ names: [String?], _ values: some Sequence<GivenValue>) -> JSON {
    .object(
      zip(names, values).map { name, value in
        // A column that has gone since is marked.
        JSON.Field(name.map { $0.hasPrefix("\0") ? String($0.dropFirst()) : $0 } ?? "", value.json)
      })
  }

  private func writeNodes(_ kept: Kept) throws {
    if kept.layout.kind == .object { return try writeObjects(kept) }
    try forEach(kept, count: kept.layout.columns.count) { key, values in
      try lines.write([
        "restore": node(kept, key) ?? .null, "value": columns(kept.layout.columns, values),
      ])
    }
  }

  private func writeObjects(_ kept: Kept) throws {
    try forEach(kept, count: 3) { key, values in
      var line = [
        JSON.Field("restore", try node(kept, key) ?? .null), JSON.Field("type", values[1].json),
      ]
      if case .json(.string(let text)) = values[2] {
        // A value over several lines would be several lines here.
        line.append(
          text.utf8.contains(UInt8(ascii: "\n"))
            ? JSON.Field("kept", ["value": .string(text)])
            : JSON.Field("value", .raw(JSONText(valid: text))))
      }
      try lines.write(.object(line))
    }
  }

  private func writeSideRows(_ kept: Kept) throws {
    try forEach(kept, count: kept.layout.columns.count) { _, values in
      try lines.write([
        "restore": ["table": .string(kept.layout.subject)],
        "value": columns(kept.layout.columns, values),
      ])
    }
  }

  private func writeChanges(_ kept: Kept) throws {
    let (names, keys) = (kept.layout.columns, kept.layout.keys)
    let lost = names.dropFirst(keys)
    try forEach(kept, count: names.count + lost.count) { _, values in
      let subject: JSON = [
        "table": .string(kept.layout.subject),
        "collection": try kept.layout.collection.map { .string(try db.nameOfCollection($0)) }
          ?? .null,
      ]
      try lines.write([
        "restore": subject,
        "kept": [
          "keys": columns(Array(names.prefix(keys)), values),
          "had": columns(Array(lost), values.dropFirst(keys)),
          "has": columns(Array(lost), values.dropFirst(names.count)),
        ],
      ])
    }
  }

  private func writeValues(_ kept: Kept) throws {
    try forEach(kept, count: 3) { id, values in
      let object = try db.all(
        generated: """
          SELECT c.name, n.key FROM cascade_node AS n JOIN cascade_collection AS c ON c.id = n.collection
          WHERE n.id = ?
          """, [id]
      ) { ($0.text(0), $0.value(1)) }.first
      guard let object else { return }
      try lines.write([
        "restore": node(object.0, object.1),
        "kept": ["had": values[1].json, "has": values[2].json],
      ])
    }
  }

  // MARK: - Stored edges

  private func writeEdges() throws {
    try db.each(
      generated: """
        SELECT m.name, e.origin, e.rules, \(end("source")), \(end("destination"))
        FROM cascade_trash_edge AS e JOIN cascade_name AS m ON m.id = e.name WHERE e.batch = ?1
        """, [.integer(batch)]
    ) { row in
      guard let from = end(row, 3), let to = end(row, 5) else { return }
      try lines.write([
        "restore": ["edge": .string(row.text(0)), "from": from, "to": to],
        "kept": ["origin": .integer(row.integer(1)), "rules": .integer(row.integer(2))],
      ])
    }
  }

  private func end(_ row: Row, _ column: Int32) -> JSON? {
    if row.isNull(column) || row.isNull(column + 1) { return nil }
    let name = row.text(column)
    if name.hasPrefix(Destination.fileCollection) {
      let root = String(name.dropFirst(Destination.fileCollection.count))
      return ["file": .string(row.text(column + 1)), "root": .string(root)]
    }
    return node(name, row.value(column + 1))
  }

  /// Two expressions: the collection and the key of an end, from what exists or from the trash.
  private func end(_ column: String) -> String {
    let node = "FROM cascade_node AS n WHERE n.id = e.\(column)"
    let named = "FROM cascade_trash_node AS n WHERE n.batch = e.batch AND n.id = e.\(column)"
    let entry = """
      FROM cascade_trash AS t JOIN cascade_trash_layout AS l ON l.batch = t.batch AND l.layout = t.layout
      WHERE t.batch = e.batch AND t.id = e.\(column) AND t.part = 0 AND l.collection IS NOT NULL
      """
    return """
      (SELECT c.name FROM cascade_collection AS c WHERE c.id = coalesce((SELECT n.collection \(node)),
        (SELECT n.collection \(named)), (SELECT l.collection \(entry)))),
      coalesce((SELECT n.key \(node)), (SELECT n.key \(named)),
        (SELECT \(TrashLayout.key(keys: "l.keys")) \(entry)))
      """
  }
}

extension Connection {
  fileprivate func nameOfCollection(_ id: Int64) throws -> String {
    try first("SELECT name FROM cascade_collection WHERE id = ?", .integer(id)) { $0.text(0) } ?? ""
  }
}
