internal import CascadeModel
internal import CascadeEngine
internal import CascadePostgres
internal import CascadeStore
internal import PostgresBinding
internal import PostgresTables

/// References come back into the very rows that lost them, and join rows into their tables.
extension Undo {
  // MARK: - References

  /// Of rows that still have none, to what is there.
  mutating func restoreReferences(_ relation: EdgeRelation) throws {
    guard let columns = relation.columns else { return }
    let source = relation.source
    let statement = store.binding.update(
      source.name, "s", set: relation.filled(columns, with: "n.value"),
      from: "cascade.nullified n",
      where: """
        n.batch = \(batch) AND n.relation = \(relation.number)
        AND \(source.key.equal("s", text: "n.key")) AND \(columns.isEmpty("s"))
        AND \(relation.isThere(text: "n.value"))
        AND NOT \(source.wasDeleted("n.key", after: origin))
        """, returning: ["n.key"])
    let keys = try store.writing(source.name) { try store.db.run(statement).texts }
    try forget(relation, keys)
  }

  private mutating func forget(_ relation: EdgeRelation, _ keys: [String]) throws {
    result.references += keys.count
    try store.db.run(
      """
      DELETE FROM cascade.nullified n WHERE n.batch = \(batch)
      AND n.relation = \(relation.number) AND n.key = ANY($1::text[])
      """, [arrayText(keys)])
  }

  /// Of rows whose list is as the sweep left it, with what is there. Returns their keys.
  mutating func restoreList(_ relation: EdgeRelation) throws -> [String] {
    guard let list = relation.list?.ofKnownType else { return [] }
    let source = relation.source
    let isAway = isAway(relation, list)
    let isAnyAway = "EXISTS (SELECT FROM \(list.elements("o")) WHERE \(isAway))"
    let restored =
      "CASE WHEN \(isAnyAway) THEN \(list.list("o", without: isAway)) ELSE o.\(list.name) END"
    let statement = store.binding.update(
      source.name, "s", set: [Assignment(list.name, restored)],
      from: """
        (SELECT n.key, n.rest, n.value::\(list.type) AS \(list.name) FROM cascade.nullified n
          WHERE n.batch = \(batch) AND n.relation = \(relation.number)
          AND NOT \(source.wasDeleted("n.key", after: origin))) o
        """,
      where: "\(source.key.equal("s", text: "o.key")) AND s.\(list.name)::text = o.rest",
      returning: ["o.key"])
    let keys = try store.writing(source.name) { try store.db.run(statement).texts }
    try forget(relation, keys)
    return keys
  }

  /// Whether the element `e` leads to nothing, and is not in the list of the row `s`.
  func isAway(_ relation: EdgeRelation, _ list: ListColumn) -> String {
    let isListed = "EXISTS (SELECT FROM \(list.elements("s", as: "h")) WHERE h.value = e.value)"
    return "\(relation.isDangling) AND NOT \(isListed)"
  }

  /// Lists those that stay in the batch.
  mutating func leaveReferences(_ relation: EdgeRelation) throws {
    let source = relation.source
    let rows = try store.db.run(
      """
      SELECT n.key, \(source.wasDeleted("n.key", after: origin)) FROM cascade.nullified n
      WHERE n.batch = \(batch) AND n.relation = \(relation.number) ORDER BY 1
      """
    ).rows
    for row in rows {
      let node = source.node(row[0]!)
      result.leave(
        node, "the references of \(node)",
        because: row[1] == "t"
          ? "its row was deleted and made anew"
          : "they were changed meanwhile, or their destinations do not exist")
    }
  }

  // MARK: - Join rows and stored edges

  /// Join rows come back like references in a row: also where an end is not there, if the
  /// application's constraints allow it. Edges that are stored need both.
  mutating func restoreJoinRows(_ relation: EdgeRelation) throws {
    guard let join = relation.join else { return }
    let restored = try restoreUnlinked(
      join.name, relation.number, key: [join.source, join.destination],
      where: join.isStored ? haveBothEnds(relation, join) : "true")
    if join.isStored { result.edges += restored } else { result.rows += restored }
  }

  private func haveBothEnds(_ relation: EdgeRelation, _ join: JoinTable) -> String {
    EdgeEnd.allCases.map { end in
      let table = relation.table(at: end)
      let isThere = table.key.equal("t", join.columns(at: end), "r")
      return "EXISTS (SELECT FROM \(table.name) t WHERE \(isThere))"
    }.joined(separator: " AND ")
  }

  /// Stored edges to files come back with their source.
  mutating func restoreEdges(_ relation: FileRelation) throws {
    guard let stored = relation.stored else { return }
    let isThere = relation.source.key.equal("t", stored.source, "r")
    result.edges += try restoreUnlinked(
      stored.name, relation.number, key: [stored.source],
      where: "EXISTS (SELECT FROM \(relation.source.name) t WHERE \(isThere))")
  }

  private mutating func restoreUnlinked(
    _ table: String, _ relation: Int64, key: [Columns], where condition: String
  ) throws -> Int {
    let rows = try store.db.run(
      """
      SELECT u.id, u.shape FROM cascade.unlinked u
      WHERE u.batch = \(batch) AND u.relation = \(relation) AND u.row IS NOT NULL
      """
    ).rows
    var restored = 0
    for (shape, rows) in Dictionary(grouping: rows, by: { $0[1] }) {
      let part = Unlinked(
        table: table, relation: relation, key: key, condition: condition, shape: shape)
      restored += try restore(part, rows.map { $0[0]! }[...])
    }
    // What an edge without both ends means ends with them.
    if table.hasPrefix("cascade.") {
      try store.db.run(
        """
        DELETE FROM cascade.unlinked WHERE batch = \(batch) AND relation = \(relation)
        AND NOT EXISTS (SELECT FROM cascade.deleted WHERE batch = \(batch) AND rows IS NOT NULL)
        """)
    }
    return restored
  }

  /// Rows that were removed from one table, and that had one shape.
  private struct Unlinked {
    let table: String
    let relation: Int64
    let key: [Columns]
    let condition: String
    let shape: String?
  }

  /// Half of them at a time, until the ones are found that the database refuses.
  private mutating func restore(_ part: Unlinked, _ ids: ArraySlice<String>) throws -> Int {
    if ids.isEmpty { return 0 }
    var restored = 0
    let why = try attempt { restored = try $0.restoreAll(part, Array(ids)) }
    guard let why else { return restored }
    if ids.count == 1 {
      leave(1, of: part, because: why)
      return 0
    }
    let middle = ids.startIndex + ids.count / 2
    return try restore(part, ids[..<middle]) + restore(part, ids[middle...])
  }

  private mutating func restoreAll(_ part: Unlinked, _ ids: [String]) throws -> Int {
    let texts = """
      SELECT u.id::text, u.row FROM cascade.unlinked u
      WHERE u.batch = \(batch) AND u.relation = \(part.relation)
      AND ($1::text[] IS NULL OR u.id = ANY($1::bigint[]))
      """
    let source = KeptRows.Source(texts: texts)
    let kept = try KeptRows(store, source, shape: part.shape, in: part.table, key: part.key)
    if let why = kept == nil ? Undo.isUnknown : kept?.fit.refusal {
      leave(ids.count, of: part, because: why)
      return 0
    }
    guard let kept else { return 0 }
    let statement = store.binding.insertion(
      into: part.table, kept.columns, kept.columns,
      from: "(\(kept.rows)) r WHERE \(kept.isWhole) AND \(part.condition)", skipsTaken: true)
    let restored = try store.writing(part.table) {
      try store.db.run(statement, [arrayText(ids)]).changed
    }
    for remark in try kept.remarks(store, of: part.table) { result.remark(remark) }
    try store.db.run(
      """
      DELETE FROM cascade.unlinked u WHERE u.id IN (SELECT r.\(KeptRows.id)::bigint
        FROM (\(kept.rows)) r WHERE \(kept.isWhole) AND \(part.condition))
      """, [arrayText(ids)])
    return restored
  }

  private mutating func leave(_ count: Int, of part: Unlinked, because why: String) {
    for _ in 0..<count { result.leave(nil, "a row of \(part.table)", because: why) }
  }

  /// References of what came back to what did not.
  mutating func listDangling() throws {
    for relation in store.binding.relations
    where relation.join?.nodes == nil && result.byCollection[relation.source.collection] != nil {
      let destination = relation.dangling(at: .destination)
      let rows = try store.db.run(
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
