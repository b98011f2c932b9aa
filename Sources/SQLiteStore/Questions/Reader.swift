package import CascadeModel
package import CascadeSQLite
package import CascadeStore
internal import SQLiteBinding
internal import SQLiteTables
internal import SQLiteJournal

/// The reading side of a store: a connection of its own, used by one thread. It neither blocks
/// other connections nor waits for them. Each call sees one state of the store.
package final class Reader: Numbering {
  package let db: Connection
  package let model: StoreModel
  let fetching = FetchCaches()

  /// The store must have been opened by a `Writer` before. A reader waits only if another
  /// connection has locked the whole file.
  package init(path: String, model: StoreModel, busyMilliseconds: Int32 = 5_000) throws {
    db = try Connection.openForReading(path, busyMilliseconds: busyMilliseconds)
    self.model = model
  }

  /// Empty temporary tables stand in for those of Cascade's that the database does not have.
  init(judging db: consuming Connection, by model: StoreModel) throws {
    try db.makeTemporaryTables()
    try db.standInForTables()
    self.db = db
    self.model = model
  }

  /// Whether the database has Cascade's own tables.
  func isAttached() throws -> Bool {
    try db.integer("SELECT 1 FROM temp.sqlite_schema WHERE name = 'cascade_node'") == nil
  }

  private var cachedBinding = Binding()
  private var provisionalNumbers: [String: Int64] = [:]

  /// Where the model's edges are in the tables as this connection sees them now.
  func binding() throws -> Binding {
    if !model.hasTables { return cachedBinding }
    let version = try db.integer("PRAGMA main.schema_version") ?? 0
    if cachedBinding.schemaVersion != version {
      cachedBinding = try Binding(
        model, db, numbers: self, problems: db.problems(ofPlacesIn: model))
      try db.indexKnown(cachedBinding)
    }
    return cachedBinding
  }

  /// The number of an existing node in `temp.dead` and `temp.gone`.
  func number(of node: Node) throws -> Int64? {
    guard case .mapped = model.collections[node.collection] else { return try id(of: node) }
    guard let table = try binding().collections[node.collection],
      let key = table.stored(node.key)
    else { return nil }
    try db.stage(table, key: key)
    try db.numberFound()
    defer { try? db.clearFound() }
    return try db.integer("SELECT id FROM temp.staged")
  }

  func id(of node: Node) throws -> Int64? {
    try node.key.managedText.flatMap { try id(of: .text($0), in: node.collection) }
  }

  private func id(of key: Value, in collection: String) throws -> Int64? {
    try db.integer(
      """
      SELECT n.id FROM cascade_node AS n JOIN cascade_collection AS c ON c.id = n.collection
      WHERE c.name = ? AND n.key = ?
      """, .text(collection), key)
  }

  package func node(_ node: Node) throws -> StoredNode {
    var stored: StoredNode?
    if case .mapped = model.collections[node.collection] {
      stored = try db.snapshot { try mappedRow(node)?.node(in: node.collection) }
    } else {
      stored = try db.first(
        """
        SELECT n.key, n.type, n.value
        FROM cascade_node AS n JOIN cascade_collection AS c ON c.id = n.collection
        WHERE c.name = ? AND n.key = ?
        """, .text(node.collection), .text(node.key.managedText)
      ) { StoredNode(node, $0) }
    }
    return stored ?? StoredNode(node: node, exists: false, type: nil, value: nil)
  }

  /// A page of a collection after `key`, in the order of the keys.
  package func nodes(
    in collection: String, after key: Key?, limit: Int
  ) throws -> [StoredNode] {
    if case .mapped = model.collections[collection] {
      return try mappedNodes(in: collection, after: key, limit: limit)
    }
    return try db.all(
      """
      SELECT n.key, n.type, n.value
      FROM cascade_collection AS c JOIN cascade_node AS n ON n.collection = c.id
      WHERE c.name = ?1 AND (?2 IS NULL OR n.key > ?2)
      ORDER BY n.key LIMIT ?3
      """, .text(collection), .text(key?.managedText), .integer(Int64(limit))
    ) { StoredNode(Node(collection, .text($0.text(0))), $0) }
  }

  /// The fingerprint of the content for which an id was used; nil if it was not used.
  package func fingerprint(ofId id: String) throws -> Int64? {
    try db.integer(
      "SELECT fingerprint FROM cascade_ledger WHERE id IN (?, ?) AND part >= 0 LIMIT 1", .text(id),
      .text(Submission.hashed(id)))
  }

  package func collectionId(_ name: String) throws -> Int64 {
    try id(of: name, in: "cascade_collection")
  }

  package func nameId(_ name: String) throws -> Int64 { try id(of: name, in: "cascade_name") }

  /// A name that has no number yet gets one that nothing in the store uses.
  private func id(of name: String, in table: String) throws -> Int64 {
    let id = try db.integer("SELECT id FROM \(table) WHERE name = \(bind: .text(name))")
    if let id = id ?? provisionalNumbers["\(table)/\(name)"] { return id }
    let new = -Int64(provisionalNumbers.count) - 1
    provisionalNumbers["\(table)/\(name)"] = new
    return new
  }

  /// The key as the node's own row has it; nil if the node does not exist.
  func keyInTable(of node: Node) throws -> Value? {
    guard let table = try binding().collections[node.collection] else {
      if case .mapped = model.collections[node.collection] { return nil }
      return try id(of: node) == nil ? nil : .text(node.key.managedText)
    }
    guard let values = table.columnValues(node.key) else { return nil }
    return try db.all(
      generated: """
        SELECT \(table.key("n")) FROM \(table.rows) AS n
        WHERE \(table.isKeyed("n")) AND \(table.isNode("n"))
        """, values
    ) { $0.value(0) }.first
  }

  /// The number by which stored edges know a node; nil if the node does not exist, or if no edge
  /// ever named it.
  func storedId(of node: Node) throws -> Int64? {
    try keyInTable(of: node).flatMap { try id(of: $0, in: node.collection) }
  }
}

extension StoredNode {
  /// An object, from the columns: key, type, value.
  init(_ node: Node, _ row: Row) {
    self.init(
      node: node, exists: true, type: row.optionalText(1),
      value: row.optionalText(2).map(JSONText.init(valid:)))
  }
}
