internal import CascadeEngine
internal import CascadePostgres
internal import CascadeStore
internal import PostgresBinding
internal import PostgresTables

/// Rows come back table by table. One that the database refuses costs itself alone.
extension Undo {
  /// A table whose rows a foreign key refuses is tried again after the others; then its rows one by one.
  mutating func restoreTables(_ tables: [MappedTable]) throws {
    var open = tables
    while try restoreWhole(&open) || restoreEach(&open) {}
    for table in open {
      for (key, why) in refusals[table.number] ?? [:] {
        leave(table.node(key), because: why)
      }
    }
  }

  /// Returns whether a table came back, and there are others.
  private mutating func restoreWhole(_ open: inout [MappedTable]) throws -> Bool {
    var refused: [MappedTable] = []
    for table in open {
      if try attempt({ try $0.restoreRows(of: table, nil) }) != nil { refused.append(table) }
    }
    defer { open = refused }
    return refused.count < open.count && !refused.isEmpty
  }

  /// Returns whether a row came back of one that is still open.
  private mutating func restoreEach(_ open: inout [MappedTable]) throws -> Bool {
    let before = result.restored
    for table in open {
      let keys = try store.db.run(
        """
        SELECT DISTINCT key FROM cascade.deleted_node
        WHERE batch = \(batch) AND collection = \(table.number) AND row IS NOT NULL ORDER BY 1
        """
      ).texts
      refusals[table.number] = [:]
      try restoreParts(of: table, keys[...])
    }
    open = open.filter { refusals[$0.number]?.isEmpty == false }
    return result.restored > before && !open.isEmpty
  }

  /// Half of them at a time, until the ones are found that the database refuses.
  private mutating func restoreParts(of table: MappedTable, _ keys: ArraySlice<String>) throws {
    if keys.isEmpty { return }
    guard let why = try attempt({ try $0.restoreRows(of: table, Array(keys)) }) else { return }
    if keys.count == 1 {
      refusals[table.number, default: [:]][keys.first!] = why
      return
    }
    let middle = keys.startIndex + keys.count / 2
    try restoreParts(of: table, keys[..<middle])
    try restoreParts(of: table, keys[middle...])
  }

  /// Those with these keys; all if it is nil. What was kept last of a key comes first.
  private mutating func restoreRows(of table: MappedTable, _ keys: [String]?) throws {
    let shapes = try store.db.run(
      """
      SELECT shape FROM cascade.deleted WHERE batch = \(batch) AND collection = \(table.number)
      AND rows IS NOT NULL GROUP BY 1 ORDER BY max(id) DESC
      """
    ).rows
    for shape in shapes { try restoreRows(of: table, keys, shape: shape[0]) }
  }

  private mutating func restoreRows(
    of table: MappedTable, _ keys: [String]?, shape: String?
  ) throws {
    let texts = """
      SELECT DISTINCT ON (k.key) k.key AS id, k.row FROM cascade.deleted_node k
      WHERE k.batch = \(batch) AND k.collection = \(table.number) AND k.row IS NOT NULL
      AND k.shape IS NOT DISTINCT FROM \(shape ?? "NULL")
      AND ($1::text[] IS NULL OR k.key = ANY($1)) ORDER BY k.key, k.id DESC
      """
    let source = KeptRows.Source(texts: texts)
    guard
      let kept = try KeptRows(store, source, shape: shape, in: table.name, key: [table.key])
    else { return try leave(texts, keys, of: table, because: Undo.isUnknown) }
    if let refusal = kept.fit.refusal { return try leave(texts, keys, of: table, because: refusal) }
    try leaveUnfit(kept, keys, of: table)
    let array = keys.map(arrayText)
    let statement = store.binding.insertion(
      into: table.name, kept.columns, kept.columns,
      from: "(\(kept.rows)) r WHERE \(kept.isWhole)", skipsTaken: true,
      returning: [table.key.text("x")])
    let came = try store.writing(table.name) { try store.db.run(statement, [array]).texts }
    if came.isEmpty { return }
    try rewrite(table, kept, array, came)
    for remark in try kept.remarks(store, of: table.name) { result.remark(remark) }
    try forget(table, try ids(kept, array, came, of: table))
    result.restored += came.count
    result.byCollection[table.collection, default: 0] += came.count
    restored[table.number, default: []] += came
  }

  /// The keys by which the rows that came back are kept: the type of the key may be another one now.
  private func ids(
    _ kept: KeptRows, _ array: String?, _ came: [String], of table: MappedTable
  ) throws -> [String] {
    if kept.fit.isExact { return came }
    return try store.db.run(
      """
      SELECT r.\(KeptRows.id) FROM (\(kept.rows)) r WHERE \(table.key.text("r")) = ANY($2::text[])
      """, [array, arrayText(came)]
    ).texts
  }

  /// Undoes what a trigger made of the rows. Rows that are as they were are not touched.
  private func rewrite(
    _ table: MappedTable, _ kept: KeptRows, _ array: String?, _ came: [String]
  ) throws {
    if kept.rewritten.isEmpty { return }
    let statement = store.binding.update(
      table.name, "x", set: kept.rewritten.map { Assignment($0, "r.\($0)") },
      from: "(\(kept.rows)) r",
      where: """
        \(table.key.equal("x", table.key, "r"))
        AND (\(qualified(kept.rewritten, "x")))::text <> (\(qualified(kept.rewritten, "r")))::text
        AND \(table.key.isAny("x", "$2"))
        """, returning: [])
    try store.writing(table.name) { _ = try store.db.run(statement, [array, arrayText(came)]) }
  }

  private func qualified(_ columns: [String], _ row: String) -> String {
    "ROW(\(columns.map { "\(row).\($0)" }.joined(separator: ", ")))"
  }

  private func forget(_ table: MappedTable, _ keys: [String]) throws {
    try store.db.run(
      """
      WITH d AS (DELETE FROM cascade.deleted
        WHERE batch = \(batch) AND collection = \(table.number) RETURNING *)
      INSERT INTO cascade.deleted(
        batch, collection, via, rule, is_own, shape, bucket, keys, others, rows)
      SELECT d.batch, d.collection, d.via, d.rule, d.is_own, d.shape, \(OwnSchema.bucket("n.key")),
        ARRAY[n.key], ARRAY[n.other], CASE WHEN n.row IS NOT NULL THEN ARRAY[n.row] END
      FROM d, unnest(d.keys, d.others, d.rows) n(key, other, row)
      WHERE NOT (n.key = ANY($1::text[])) ORDER BY d.id
      """, [arrayText(keys)])
  }

  // MARK: - What stays in the batch

  static let isUnknown = "it is not known in which columns its values were"

  private mutating func leave(
    _ texts: String, _ keys: [String]?, of table: MappedTable, because why: String
  ) throws {
    let ids = try store.db.run("SELECT k.id FROM (\(texts)) k", [keys.map(arrayText)])
    for key in ids.texts { leave(table.node(key), because: why) }
  }

  /// Those of which a value that they cannot be without does not fit its type.
  private mutating func leaveUnfit(
    _ kept: KeptRows, _ keys: [String]?, of table: MappedTable
  ) throws {
    if kept.conversions.isEmpty { return }
    let ids = try store.db.run(
      "SELECT r.\(KeptRows.id) FROM (\(kept.rows)) r WHERE NOT (\(kept.isWhole))",
      [keys.map(arrayText)])
    for key in ids.texts {
      leave(table.node(key), because: "one of its values does not fit \(table.name) any more")
    }
  }

  /// Lists what else of the batch does not come back.
  mutating func leave(_ table: MappedTable, _ reason: String) throws {
    let rows = try store.db.run(
      """
      SELECT key, bool_or(row IS NOT NULL) FROM cascade.deleted_node
      WHERE batch = \(batch) AND collection = \(table.number) AND (is_own OR row IS NOT NULL) GROUP BY 1 ORDER BY 1
      """
    ).rows
    for row in rows {
      leave(table.node(row[0]!), because: row[1] == "t" ? reason : "its row was not kept")
    }
  }
}
