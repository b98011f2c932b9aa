internal import CascadeEngine
internal import CascadeModel
internal import CascadePostgres
internal import CascadeStore
internal import PostgresBinding
internal import PostgresSweeps
internal import PostgresTables

/// What the trash has of a batch is written into the archive before it is forgotten. `RestoredThings.swift`
/// reads it.
struct ArchivedBatch {
  let store: StoreConnection
  let batch: Int64
  private var shapes: ReadShapes
  private static let most = 1_000

  private init(store: StoreConnection, batch: Int64) {
    (self.store, self.batch, shapes) = (store, batch, ReadShapes(store))
  }

  /// Throws `BatchArchive.Failure`. Then nothing may be forgotten.
  static func archive(_ batches: [Int64], _ store: StoreConnection) throws {
    guard let archive = try store.archive else { return }
    for batch in batches {
      var archived = ArchivedBatch(store: store, batch: batch)
      for file in try archived.files { try archived.keep(file, archive) }
      try archive.write(archived.description) { try archived.write($0) }
    }
  }

  private var description: BatchArchive.Batch {
    get throws {
      let entry = try store.db.run(
        "SELECT part, author, at FROM cascade.ledger WHERE batch = \(batch)"
      ).rows.first
      let counts = try store.db.run(
        """
        SELECT c.name, sum(d.size) FROM cascade.deleted d JOIN cascade.collection c ON c.number = d.collection
        WHERE d.batch = \(batch) AND d.rows IS NOT NULL GROUP BY 1
        """
      ).rows
      let kind = Submission.Kind(
        part: entry?[0].flatMap { Int64($0) } ?? Submission.Kind.sweep.part)
      return BatchArchive.Batch(
        number: batch, cause: kind.rawValue, author: entry?[1],
        at: entry?[2].flatMap { Int64($0) } ?? 0,
        counts: Dictionary(uniqueKeysWithValues: counts.map { ($0[0]!, Int($0[1]!)!) }))
    }
  }

  private mutating func write(_ lines: ArchiveLines) throws {
    let tables = try parentsFirst
    for table in tables { try writeNodes(of: table, lines) }
    try writeLost(lines)
    try writeUnlinked(lines)
    for file in try files {
      try lines.write(file: file.path, root: file.root, batch: batch)
    }
  }

  /// As foreign keys want them to come back.
  private var parentsFirst: [MappedTable] {
    get throws {
      let numbers = try store.db.run(
        """
        SELECT DISTINCT collection FROM cascade.deleted WHERE batch = \(batch) AND rows IS NOT NULL ORDER BY 1
        """
      ).texts.compactMap { Int64($0) }
      let tables = numbers.compactMap(store.binding.table)
      if let missing = numbers.first(where: { store.binding.table($0) == nil }) {
        throw BatchArchive.Failure(missing: "collection \(missing)")
      }
      let ties = try ForeignKeyTies(store)
      let order = childrenBeforeParents(tables.map(\.number)) { child, parent in
        ties.refers(store.binding.table(child)!, store.binding.table(parent)!)
      }
      return order.reversed().compactMap(store.binding.table)
    }
  }

  // MARK: - Rows and objects

  private mutating func writeNodes(of table: MappedTable, _ lines: ArchiveLines) throws {
    var last: (place: String, id: String)?
    while true {
      let rows = try store.db.run(
        """
        SELECT \(ArchivedBatch.place), d.id, d.shape, array_to_json(d.keys), array_to_json(d.rows)
        FROM cascade.deleted d
        WHERE d.batch = \(batch) AND d.collection = \(table.number) AND d.rows IS NOT NULL
        AND ($1::text IS NULL OR (\(ArchivedBatch.place), d.id) > ($1::bigint, $2::bigint))
        ORDER BY 1, 2 LIMIT 64
        """, [last?.place, last?.id]
      ).rows
      for row in rows {
        let lists = try row[3...4].map { try JSON.parse($0!).array ?? [] }
        for (key, text) in zip(lists[0], lists[1]) {
          let node = table.node(key.string ?? "")
          try lines.write(line(node, table, text.string ?? "", shape: row[2]))
        }
      }
      guard let end = rows.last else { return }
      last = (end[0]!, end[1]!)
    }
  }

  /// Where a row is in the order of causes (`DeletedNumbers`): what a job had planned comes first.
  private static let place = """
    coalesce(d.level, 1000000)::bigint * 1000000000000 + coalesce(d.place, d.id)
    """

  private mutating func line(
    _ node: Node, _ table: MappedTable, _ text: String, shape: String?
  ) throws -> JSON {
    let values = RowText.values(text)
    guard !table.isManaged, let shape else {
      return [
        "restore": node.json, "kept": ["row": .array(values.map { $0.map(JSON.string) ?? .null })],
      ]
    }
    return ["restore": node.json, "value": try columns(values, shape)]
  }

  private mutating func columns(_ values: [String?], _ shape: String) throws -> JSON {
    guard let columns = try shapes.columns(ofShape: shape) else {
      throw BatchArchive.Failure(missing: "what the columns of a table were")
    }
    return .object(
      zip(columns, values).map {
        JSON.Field($0.lastName ?? $0.name, RowText.json($1, of: $0.type))
      })
  }

  // MARK: - References, join rows and stored edges

  private static let relation = """
    json_build_object('name', r.name, 'from', r.source, 'to', r.destination, 'part', r.part)
    """

  private func writeLost(_ lines: ArchiveLines) throws {
    let rows = try store.db.run(
      """
      SELECT r.source, n.key, \(ArchivedBatch.relation), n.value, n.rest FROM cascade.nullified n
      JOIN cascade.relation r ON r.number = n.relation WHERE n.batch = \(batch) ORDER BY 1, 2
      """
    ).rows
    for row in rows {
      guard let table = store.binding.tables[row[0]!] else {
        throw BatchArchive.Failure(missing: "the collection \"\(row[0]!)\"")
      }
      try lines.write([
        "restore": table.node(row[1]!).json,
        "kept": [
          "relation": try JSON.parse(row[2]!), "had": .string(row[3]!),
          "has": row[4].map(JSON.string) ?? .null,
        ],
      ])
    }
  }

  private mutating func writeUnlinked(_ lines: ArchiveLines) throws {
    var last: Int64 = 0
    while true {
      let rows = try store.db.run(
        """
        SELECT u.id, \(ArchivedBatch.relation), u.row, u.shape, r.name FROM cascade.unlinked u
        JOIN cascade.relation r ON r.number = u.relation
        WHERE u.batch = \(batch) AND u.row IS NOT NULL AND u.id > \(last)
        ORDER BY u.id LIMIT \(ArchivedBatch.most)
        """
      ).rows
      for row in rows {
        let (relation, values) = (try JSON.parse(row[1]!), RowText.values(row[2]!))
        let name: JSON = ["edge": .string(row[4]!)]
        if let shape = row[3] {
          try lines.write([
            "restore": name, "value": columns(values, shape), "kept": ["relation": relation],
          ])
        } else {
          let texts = values.map { $0.map(JSON.string) ?? .null }
          try lines.write([
            "restore": name, "kept": ["relation": relation, "row": .array(texts)],
          ])
        }
      }
      guard let id = rows.last?[0] else { return }
      last = Int64(id)!
    }
  }

  // MARK: - Files

  private typealias File = (root: String, path: String)

  private var files: [File] {
    get throws {
      if store.model.files.isEmpty { return [] }
      return try store.db.run(
        """
        SELECT root, path FROM cascade.file
        WHERE batch = \(batch) AND state = \(FileState.trashed.rawValue) ORDER BY 1, 2
        """
      ).rows.map { ($0[0]!, $0[1]!) }
    }
  }

  private func keep(_ file: File, _ archive: BatchArchive) throws {
    let roots = FileRoots(store.model, StorePaths(store: "/", spool: "/"))
    try archive.keep(file.path, ofRoot: file.root, in: roots, batch: batch)
  }
}

extension StoreConnection {
  /// Nil if the model names none.
  var archive: BatchArchive? {
    get throws {
      guard let place = model.archive else { return nil }
      let name = try db.run("SELECT current_database()").texts[0]
      return BatchArchive(place, name: name, of: try rootOwner)
    }
  }
}
