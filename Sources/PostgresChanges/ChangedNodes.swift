internal import CascadeModel
internal import CascadeEngine
internal import CascadePostgres
internal import CascadeStore
internal import PostgresBinding
internal import PostgresSweeps
internal import PostgresTables

/// What a change file does to rows and objects.
extension ChangeFile {
  // MARK: - Objects

  /// A collection that nothing has named before comes with its first node.
  mutating func table(_ collection: String) throws -> MappedTable {
    if let table = store.binding.tables[collection] { return table }
    if let problem = store.model.problem(ofChanged: collection) {
      throw Rejection(.invalid, problem)
    }
    if store.model.collections[collection] == nil {
      hasNewTable = true
      try store.makeObjects(collection)
    }
    return try store.table(collection)
  }

  func key(of node: Node, in table: MappedTable) throws -> String {
    guard let key = table.key.text(node.key) else {
      throw Rejection(.invalid, "no row of \"\(node.collection)\" can have the key of \(node)")
    }
    return key
  }

  mutating func put(
    _ node: Node, _ type: String?, _ value: JSONText?, merge: Bool
  ) throws {
    let table = try table(node.collection)
    let key = try key(of: node, in: table)
    try written.willWrite(key, of: table)
    let isNew: Bool
    if table.isManaged {
      let (type, value) = try merge ? merged(node, key, in: table, type, value) : (type, value)
      isNew = try put(key, in: table, type, value)
    } else if type != nil {
      throw Rejection(.invalid, "\(node): a row of a table has no \"type\"", node: node)
    } else {
      isNew = try rowValues(node, key, in: table).put(value, merge: merge)
    }
    if isNew { try noteArrival(of: node, key, in: table) }
    if hasWaiting { try HeldEdges(store).drop(put: key, in: table) }
  }

  mutating func noteArrival(of node: Node, _ key: String, in table: MappedTable) throws {
    if try forgetDeletion(of: node, in: table) { return }
    made.insert(node)
    written.noteArrival(of: key, in: table)
  }

  mutating func rowValues(
    _ node: Node, _ key: String, in table: MappedTable
  ) throws -> RowValues {
    let columns = try columns[table.number] ?? RowValues.columns(of: table, store)
    self.columns[table.number] = columns
    return RowValues(store, node, key, in: table, columns)
  }

  func put(
    _ key: String, in table: MappedTable, _ type: String?, _ value: JSONText?
  ) throws -> Bool {
    try db.run(
      """
      INSERT INTO \(table.name)(key, type, value) VALUES($1, $2, $3)
      ON CONFLICT(key) DO UPDATE SET type = excluded.type, value = excluded.value
      RETURNING NOT EXISTS (SELECT FROM \(table.name) o WHERE o.key = $1)
      """, [key, type, value?.text]
    ).bool
  }

  /// What an object is to have if a put merges these into it.
  func merged(
    _ node: Node, _ key: String, in table: MappedTable, _ type: String?, _ value: JSONText?
  ) throws -> (String?, JSONText?) {
    let row = try db.run(
      "SELECT type, value FROM \(table.name) t WHERE t.key = $1 FOR UPDATE", [key]
    ).rows.first
    guard let row else { return (type, value) }
    return (type ?? row[0], try node.merging(value, into: row[1].map { JSONText(valid: $0) }))
  }

  /// Rejects the change if the node has other values, or is not there.
  mutating func requireUnchanged(_ node: Node, _ expected: [Member]?) throws {
    guard let expected else { return }
    let table = try table(node.collection)
    let key = try key(of: node, in: table)
    let changed =
      table.isManaged
      ? try db.run(
        "SELECT value FROM \(table.name) t WHERE t.key = $1 FOR UPDATE", [key]
      ).rows.first.map { JSONText(valid: $0[0] ?? "{}").changedMembers(since: expected) }
      : try rowValues(node, key, in: table).changedColumns(since: expected)
    if let rejection = Rejection(changed: changed, of: node) { throw rejection }
  }

  /// What was deleted and is put again, or the reverse, with no flush between, did not go. Whether
  /// there was such a deletion.
  @discardableResult
  func forgetDeletion(of node: Node, in table: MappedTable) throws -> Bool {
    try db.run(
      """
      DELETE FROM cascade.deleted WHERE batch = \(batch) AND id > \(lastDeleted)
      AND collection = \(table.number)
      AND bucket = \(OwnSchema.bucket("$1::text")) AND keys = ARRAY[$1::text]
      """, [key(of: node, in: table)]
    ).changed > 0
  }

  mutating func patch(_ node: Node, set: [Member], unset: [String]) throws {
    let table = try table(node.collection)
    let key = try key(of: node, in: table)
    let names = set.map { $0.name } + unset
    try written.willWrite(key, of: table, patching: names)
    if !table.isManaged {
      return try rowValues(node, key, in: table).patch(set: set, unset: unset)
    }
    try patch(node, in: table, set: set, unset: unset)
  }

  func patch(
    _ node: Node, in table: MappedTable, set: [Member], unset: [String]
  ) throws {
    let row = try db.run(
      "SELECT value FROM \(table.name) t WHERE t.key = $1 FOR UPDATE", [key(of: node, in: table)]
    ).rows.first
    guard let row else {
      throw Rejection(.invalid, "\(node) cannot be patched: it does not exist", node: node)
    }
    guard var members = JSONText(valid: row[0] ?? "{}").members() else {
      throw Rejection(
        .invalid, "\(node) cannot be patched: its value is not an object", node: node)
    }
    members.apply(set: set, unset: unset)
    try db.run(
      "UPDATE \(table.name) SET value = $2 WHERE key = $1",
      [key(of: node, in: table), JSONText(object: members).text])
  }

  // MARK: - Deletions

  mutating func delete(_ node: Node) throws {
    let table = try table(node.collection)
    guard let key = table.key.text(node.key) else {
      skipped += 1
      return
    }
    let went = try delete(
      from: table,
      RowRemoval.Selection(row: "t", condition: table.key.equal("t", text: "$1"), values: [key]))
    written.noteDeletion(of: key, from: table)
    if went == 0 { skipped += 1 }
    if made.remove(node) != nil { try forgetDeletion(of: node, in: table) }
  }

  mutating func deleteAll(_ collection: String) throws {
    let table = try table(collection)
    try delete(from: table, RowRemoval.Selection(row: "t", condition: "true"))
    written.noteDeletion(ofAllIn: table)
    for node in made where node.collection == collection {
      try forgetDeletion(of: node, in: table)
      made.remove(node)
    }
  }

  @discardableResult
  mutating func delete(
    from table: MappedTable, _ selection: RowRemoval.Selection
  ) throws -> Int {
    let went = try RowRemoval(store: store, batch: batch).delete(
      from: table, selection, because: nil, limit: .max)
    try store.refuseKept(table, selection)
    edgesRemoved += went.edges
    return went.rows
  }
}
