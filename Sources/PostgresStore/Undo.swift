internal import CascadeModel
internal import CascadePostgres
package import CascadeStore
internal import PostgresBinding
internal import PostgresSweeps
internal import PostgresTables

/// Brings back what a batch deleted, in one transaction.
///
/// The application's triggers see the rows come. Then each row is made what it was, should one of
/// them have changed it. What others deleted before the sweep was never kept.
extension PostgresWriter {
  package func undo(
    _ batch: Int64, by author: String, at now: Int64, manners: StepPolicy
  ) throws -> UndoResult {
    try refuseUndo(of: batch)
    return try store.transaction {
      var undo = Undo(store, batch, by: author)
      try undo.restore()
      if undo.result.restoredNothing { return undo.result }
      try db.run(
        "UPDATE cascade.ledger SET undone_at = \(now), undone_by = $1 WHERE batch = \(batch)",
        [author])
      return undo.result
    }
  }

  private func refuseUndo(of batch: Int64) throws {
    let row = try db.run(
      "SELECT undone_at, undone_by FROM cascade.ledger WHERE batch = \(batch)"
    ).rows.first
    guard let row else { throw UndoUnavailable.unknown }
    if let at = row[0].flatMap({ Int64($0) }) {
      throw UndoUnavailable.undone(at: at, by: row[1] ?? "")
    }
    let isKept = try db.run(
      """
      SELECT \(FileRows.isKept)
        OR EXISTS (SELECT FROM cascade.deleted WHERE batch = \(batch) AND rows IS NOT NULL)
        OR EXISTS (SELECT FROM cascade.nullified WHERE batch = \(batch))
        OR EXISTS (SELECT FROM cascade.unlinked WHERE batch = \(batch) AND row IS NOT NULL)
      FROM (SELECT \(batch)::bigint AS batch) l
      """)
    if !isKept.bool { throw UndoUnavailable.notInTrash }
  }
}

private struct Undo {
  private let store: StoreConnection
  private let batch: Int64
  private(set) var result: UndoResult

  init(_ store: StoreConnection, _ batch: Int64, by author: String) {
    (self.store, self.batch) = (store, batch)
    result = UndoResult(batch: batch, author: author)
  }

  private var db: Session { _read { yield store.db } }

  mutating func restore() throws {
    let tables = store.binding.tables.values.sorted { $0.number < $1.number }
    try restoreTables(tables)
    for table in tables { try leave(table, "its key was taken meanwhile") }
    for relation in store.binding.relations {
      try restoreReferences(relation)
      try restoreList(relation)
      try restoreJoinRows(relation)
    }
    for relation in store.binding.files { try restoreEdges(relation) }
    result.files = try FileRows(store: store).restore(batch)
    try listDangling()
    try LateReferences(store).rememberRestored()
  }

  // MARK: - Rows

  /// A table whose rows a foreign key refuses is tried again after the others.
  private mutating func restoreTables(_ tables: [MappedTable]) throws {
    var refused: [(table: MappedTable, why: String)] = []
    for table in tables {
      do {
        try db.savepoint { try restoreRows(of: table) }
      } catch let error as PostgresError where error.isAboutTheValue {
        refused.append((table, error.message))
      }
    }
    if refused.count < tables.count { return try restoreTables(refused.map(\.table)) }
    for (table, why) in refused { try leave(table, "its rows do not come back: \(why)") }
  }

  private mutating func restoreRows(of table: MappedTable) throws {
    let columns = try columns(of: table.name)
    let list = columns.joined(separator: ", ")
    let kept = """
      SELECT DISTINCT ON (k.key) (k.row::\(table.name)).* FROM cascade.deleted_node k
      WHERE k.batch = \(batch) AND k.collection = \(table.number) AND k.row IS NOT NULL
      ORDER BY k.key, k.id DESC
      """
    let keys = try db.run(
      """
      INSERT INTO \(table.name) AS x (\(list)) OVERRIDING SYSTEM VALUE
      SELECT \(list) FROM (\(kept)) r ON CONFLICT DO NOTHING RETURNING \(table.key.text("x"))
      """
    ).texts
    if keys.isEmpty { return }
    try rewrite(table, try self.columns(of: table.name, changeable: true), kept, keys)
    try forget(table, keys)
    result.restored += keys.count
    result.byCollection[table.collection] = keys.count
  }

  /// The columns that can be written, or also be changed later.
  private func columns(of table: String, changeable: Bool = false) throws -> [String] {
    try db.run(
      """
      SELECT format('%I', attname) FROM pg_attribute WHERE attrelid = $1::regclass
        AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
        AND NOT (attidentity = 'a' AND \(changeable)) ORDER BY attnum
      """, [table]
    ).texts
  }

  /// Undoes what a trigger made of the rows. Rows that are as they were are not touched.
  private func rewrite(
    _ table: MappedTable, _ columns: [String], _ kept: String, _ keys: [String]
  ) throws {
    let list = columns.joined(separator: ", ")
    try db.run(
      """
      UPDATE \(table.name) x SET (\(list)) = \(qualified(columns, "r"))
      FROM (\(kept)) r WHERE \(table.key.equal("x", table.key, "r"))
        AND (\(qualified(columns, "x")))::text <> (\(qualified(columns, "r")))::text
        AND \(table.key.isAny("x", "$1"))
      """, [arrayText(keys)])
  }

  private func qualified(_ columns: [String], _ row: String) -> String {
    "ROW(\(columns.map { "\(row).\($0)" }.joined(separator: ", ")))"
  }

  private func forget(_ table: MappedTable, _ keys: [String]) throws {
    try db.run(
      """
      WITH d AS (DELETE FROM cascade.deleted
        WHERE batch = \(batch) AND collection = \(table.number) RETURNING *)
      INSERT INTO cascade.deleted(
        batch, collection, via, rule, is_own, bucket, keys, others, rows)
      SELECT d.batch, d.collection, d.via, d.rule, d.is_own, \(OwnSchema.bucket("n.key")),
        ARRAY[n.key], ARRAY[n.other], CASE WHEN n.row IS NOT NULL THEN ARRAY[n.row] END
      FROM d, unnest(d.keys, d.others, d.rows) n(key, other, row)
      WHERE NOT (n.key = ANY($1::text[])) ORDER BY d.id
      """, [arrayText(keys)])
  }

  /// Lists what of the batch does not come back.
  private mutating func leave(_ table: MappedTable, _ reason: String) throws {
    let rows = try db.run(
      """
      SELECT key, bool_or(row IS NOT NULL) FROM cascade.deleted_node
      WHERE batch = \(batch) AND collection = \(table.number) AND is_own GROUP BY 1 ORDER BY 1
      """
    ).rows
    for row in rows {
      let node = table.node(row[0]!)
      if result.left.contains(where: { $0.node == node }) { continue }
      let why = row[1] == "t" ? reason : "its row was not kept"
      result.leave(node, node.json.text, because: why)
    }
  }

  // MARK: - References

  /// Of rows that still have none, to what is there.
  private mutating func restoreReferences(_ relation: EdgeRelation) throws {
    guard let columns = relation.columns else { return }
    let source = relation.source
    let keys = try db.run(
      """
      UPDATE \(source.name) s SET \(relation.filled(columns, with: "n.value"))
      FROM cascade.nullified n WHERE n.batch = \(batch) AND n.relation = \(relation.number)
      AND \(source.key.equal("s", text: "n.key")) AND \(columns.isEmpty("s"))
      AND \(relation.isThere(text: "n.value"))
      RETURNING n.key
      """
    ).texts
    try forget(relation, keys)
  }

  private mutating func forget(_ relation: EdgeRelation, _ keys: [String]) throws {
    result.references += keys.count
    try db.run(
      """
      DELETE FROM cascade.nullified n WHERE n.batch = \(batch)
      AND n.relation = \(relation.number) AND n.key = ANY($1::text[])
      """, [arrayText(keys)])
  }

  /// Of rows whose list is as the sweep left it, with what is there.
  private mutating func restoreList(_ relation: EdgeRelation) throws {
    guard let list = relation.list?.ofKnownType else { return }
    let source = relation.source
    let isListed =
      "EXISTS (SELECT FROM \(list.elements("s", as: "h")) WHERE h.value = e.value)"
    let isAway = "\(relation.isDangling) AND NOT \(isListed)"
    let isAnyAway = "EXISTS (SELECT FROM \(list.elements("o")) WHERE \(isAway))"
    let keys = try db.run(
      """
      UPDATE \(source.name) s SET \(list.name) =
        CASE WHEN \(isAnyAway) THEN \(list.list("o", without: isAway)) ELSE o.\(list.name) END
      FROM (SELECT n.key, n.rest, n.value::\(list.type) AS \(list.name) FROM cascade.nullified n
        WHERE n.batch = \(batch) AND n.relation = \(relation.number)) o
      WHERE \(source.key.equal("s", text: "o.key")) AND s.\(list.name)::text = o.rest
      RETURNING o.key
      """
    ).texts
    try forget(relation, keys)
  }

  /// Join rows come back like references in a row: also where an end is not there, if the
  /// application's constraints allow it.
  private mutating func restoreJoinRows(_ relation: EdgeRelation) throws {
    guard let join = relation.join else { return }
    do {
      let condition = join.isStored ? haveBothEnds(relation, join) : "true"
      try db.savepoint { try restoreJoinRows(relation, join, where: condition) }
    } catch let error as PostgresError where error.isAboutTheValue {
      try restoreJoinRows(relation, join, where: haveBothEnds(relation, join))
    }
    try db.run(
      "DELETE FROM cascade.unlinked WHERE batch = \(batch) AND relation = \(relation.number)")
  }

  private func haveBothEnds(_ relation: EdgeRelation, _ join: JoinTable) -> String {
    EdgeEnd.allCases.map { end in
      let table = relation.table(at: end)
      let isThere = table.key.equal("t", join.columns(at: end), "r")
      return "EXISTS (SELECT FROM \(table.name) t WHERE \(isThere))"
    }.joined(separator: " AND ")
  }

  private mutating func restoreJoinRows(
    _ relation: EdgeRelation, _ join: JoinTable, where condition: String
  ) throws {
    let restored = try restoreRows(of: join.name, relation.number, where: condition)
    if join.isStored { result.edges += restored } else { result.rows += restored }
  }

  private func restoreRows(
    of table: String, _ relation: Int64, where condition: String
  ) throws -> Int {
    let list = try columns(of: table).joined(separator: ", ")
    return try db.run(
      """
      INSERT INTO \(table)(\(list)) OVERRIDING SYSTEM VALUE
      SELECT \(list) FROM (SELECT (u.row::\(table)).* FROM cascade.unlinked u
        WHERE u.batch = \(batch) AND u.relation = \(relation) AND u.row IS NOT NULL) r
      WHERE \(condition) ON CONFLICT DO NOTHING
      """
    ).changed
  }

  /// Stored edges to files come back with their source.
  private mutating func restoreEdges(_ relation: FileRelation) throws {
    guard let stored = relation.stored else { return }
    let isThere = relation.source.key.equal("t", stored.source, "r")
    result.edges += try restoreRows(
      of: stored.name, relation.number,
      where: "EXISTS (SELECT FROM \(relation.source.name) t WHERE \(isThere))")
    try db.run(
      "DELETE FROM cascade.unlinked WHERE batch = \(batch) AND relation = \(relation.number)")
  }

  /// References of what came back to what did not.
  private mutating func listDangling() throws {
    for relation in store.binding.relations
    where relation.join?.nodes == nil && result.byCollection[relation.source.collection] != nil {
      let destination = relation.dangling(at: .destination)
      let rows = try db.run(
        """
        SELECT DISTINCT \(relation.source.key.text("s")), \(relation.to())
        FROM \(relation.edges()), cascade.deleted_node k
        WHERE k.batch = \(batch) AND k.collection = \(relation.destination.number)
        AND \(relation.leads(toText: "k.key")) AND \(destination.condition)
        LIMIT \(UndoResult.mostListed)
        """
      ).rows
      result.danglingCount += rows.count
      result.dangling += rows.map { relation.edge($0[0]!, $0[1]!) }
    }
  }
}
