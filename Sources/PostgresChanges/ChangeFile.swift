package import CascadeModel
internal import CascadePlanning
internal import CascadePostgres
package import CascadeStore
internal import PostgresBinding
internal import PostgresSweeps
package import PostgresTables

/// A change file while it is applied. Its changes are made as they come, and what follows from them
/// at the end.
package struct ChangeFile {
  let store: StoreConnection
  let batch: Int64
  private let at: Int64
  private let isApproved: (HeldPlan) throws -> Bool
  private let id: String
  private var skipped = 0
  private var edgesAdded = 0
  private var edgesRemoved = 0
  private var notices = 0
  private var number = 0
  /// The last row of `cascade.deleted` at the last flush.
  private var lastDeleted: Int64 = 0
  private var isFlushed = false
  /// Nodes that were not there at the last flush.
  private var made: Set<Node> = []
  private var written: WrittenRows
  private var edges: StoredEdges
  private var files: StoredFiles
  private var hasNewTable = false
  /// Whether it has made a table of Cascade's own.
  package var madeTable: Bool { hasNewTable || edges.hasNewTable || files.hasNewTable }
  /// The columns of tables whose rows it writes, by the number of the table.
  private var columns: [Int64: [RowValues.Column]] = [:]

  package init(
    _ store: StoreConnection, batch: Int64, _ submission: Submission,
    isApproved: @escaping (HeldPlan) throws -> Bool
  ) {
    (self.store, self.batch) = (store, batch)
    (id, at, self.isApproved) = (submission.id, submission.at, isApproved)
    written = WrittenRows(store, batch: batch)
    edges = StoredEdges(store, batch: batch)
    files = StoredFiles(store, batch: batch)
  }

  private var db: Session { _read { yield store.db } }

  package mutating func apply(_ change: Change) throws {
    defer { number += 1 }
    do {
      try make(change)
    } catch let rejection as Rejection {
      throw rejection.placed("changes[\(number)]")
    } catch let error as PostgresError where error.isAboutTheValue {
      throw Rejection(.invalid, error.message).placed("changes[\(number)]")
    }
  }

  private mutating func make(_ change: Change) throws {
    switch change {
    case .put(let node, let type, let value, let edges):
      try put(node, type, value)
      if let edges { try declare(edges, of: node) }
    case .patch(let node, let set, let unset): try patch(node, set: set, unset: unset)
    case .delete(let node): try delete(node)
    case .deleteAll(let collection): try deleteAll(collection)
    case .link(let name, let from, let to, let rules):
      try add(stored(name, from, to), self.rules(rules, name, from, to), isDeclared: false)
    case .unlink(let name, let from, let to, let removal):
      if try !unlink(stored(name, from, to), as: removal) { skipped += 1 }
    case .flush:
      try flush()
      try begin()
    }
  }

  // MARK: - Objects

  /// A collection that nothing has named before comes with its first node.
  private mutating func table(_ collection: String) throws -> MappedTable {
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

  private func key(of node: Node, in table: MappedTable) throws -> String {
    guard let key = table.key.text(node.key) else {
      throw Rejection(.invalid, "no row of \"\(node.collection)\" can have the key of \(node)")
    }
    return key
  }

  private mutating func put(_ node: Node, _ type: String?, _ value: JSONText?) throws {
    let table = try table(node.collection)
    let key = try key(of: node, in: table)
    try written.willWrite(key, of: table, made: made)
    let isNew: Bool
    if table.isManaged {
      isNew = try put(key, in: table, type, value)
    } else if type != nil {
      throw Rejection(.invalid, "\(node): a row of a table has no \"type\"", node: node)
    } else {
      isNew = try rowValues(node, key, in: table).put(value)
    }
    if isNew, try !forgetDeletion(of: node, in: table) { made.insert(node) }
  }

  private mutating func rowValues(
    _ node: Node, _ key: String, in table: MappedTable
  ) throws -> RowValues {
    let columns = try columns[table.number] ?? RowValues.columns(of: table, store)
    self.columns[table.number] = columns
    return RowValues(store, node, key, in: table, columns)
  }

  private func put(
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

  /// What was deleted and is put again, or the reverse, with no flush between, did not go. Whether
  /// there was such a deletion.
  @discardableResult
  private func forgetDeletion(of node: Node, in table: MappedTable) throws -> Bool {
    try db.run(
      """
      DELETE FROM cascade.deleted WHERE batch = \(batch) AND id > \(lastDeleted)
      AND collection = \(table.number)
      AND bucket = \(OwnSchema.bucket("$1::text")) AND keys = ARRAY[$1::text]
      """, [key(of: node, in: table)]
    ).changed > 0
  }

  private mutating func patch(_ node: Node, set: [Member], unset: [String]) throws {
    let table = try table(node.collection)
    let key = try key(of: node, in: table)
    try written.willWrite(key, of: table, made: made)
    if !table.isManaged {
      return try rowValues(node, key, in: table).patch(set: set, unset: unset)
    }
    try patch(node, in: table, set: set, unset: unset)
  }

  private func patch(
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
    let changed = set.map(\.name) + unset
    members.removeAll { member in changed.contains { $0.hasBytes(of: member.name) } }
    members += set.filter { member in !unset.contains { $0.hasBytes(of: member.name) } }
    try db.run(
      "UPDATE \(table.name) SET value = $2 WHERE key = $1",
      [key(of: node, in: table), JSONText(object: members).text])
  }

  // MARK: - Deletions

  private mutating func delete(_ node: Node) throws {
    let table = try table(node.collection)
    guard let key = table.key.text(node.key) else {
      skipped += 1
      return
    }
    let went = try delete(
      from: table,
      RowRemoval.Selection(row: "t", condition: table.key.equal("t", text: "$1"), values: [key]))
    written.note(key, of: table)
    if went == 0 { skipped += 1 }
    if made.remove(node) != nil { try forgetDeletion(of: node, in: table) }
  }

  private mutating func deleteAll(_ collection: String) throws {
    let table = try table(collection)
    try delete(from: table, RowRemoval.Selection(row: "t", condition: "true"))
    for node in made where node.collection == collection {
      try forgetDeletion(of: node, in: table)
      made.remove(node)
    }
  }

  @discardableResult
  private mutating func delete(
    from table: MappedTable, _ selection: RowRemoval.Selection
  ) throws -> Int {
    let went = try RowRemoval(store: store, batch: batch).delete(
      from: table, selection, because: nil, limit: .max)
    edgesRemoved += went.edges
    return went.rows
  }

  // MARK: - Edges

  private enum Stored {
    case edge(StoredEdges.Edge)
    case file(StoredFiles.Edge)

    var edge: StoredEdges.Edge? { if case .edge(let edge) = self { edge } else { nil } }
    var file: StoredFiles.Edge? { if case .file(let file) = self { file } else { nil } }
  }

  private mutating func stored(
    _ name: String, _ from: Node, _ to: Destination
  ) throws -> Stored {
    let source = try table(from.collection)
    let key = try key(of: from, in: source)
    switch to {
    case .file(let root, let path):
      return .file(
        StoredFiles.Edge(name: name, source: source, key: key, root: root, path: path))
    case .node(let to):
      let destination = try table(to.collection)
      return .edge(
        StoredEdges.Edge(
          name: name, source: source, destination: destination,
          ends: [key, try self.key(of: to, in: destination)]))
    }
  }

  private mutating func add(_ stored: Stored, _ rules: Rules, isDeclared: Bool) throws {
    switch stored {
    case .edge(let edge): try edges.add(edge, rules, isDeclared: isDeclared)
    case .file(let edge): try files.add(edge, rules, isDeclared: isDeclared)
    }
  }

  /// Whether it was there.
  private mutating func unlink(_ stored: Stored, as removal: Removal) throws -> Bool {
    switch stored {
    case .edge(let edge): try edges.unlink(edge, as: removal)
    case .file(let edge): try files.unlink(edge, as: removal)
    }
  }

  /// The rules of an edge, or what the model says of one that is written without.
  private func rules(
    _ given: Rules?, _ name: String, _ from: Node, _ to: Destination
  ) throws -> Rules {
    if let rules = given ?? store.model.rules(for: name, from: from.collection, to: to) {
      return rules
    }
    throw Rejection(
      .invalid,
      "the edge \"\(name)\" from \(from) has no rules, and the model declares no relationship "
        + "\"\(name)\" from \"\(from.collection)\" to \(to.json.text)", node: from)
  }

  /// The declared edges of a node become these.
  private mutating func declare(_ declared: [DeclaredEdge], of node: Node) throws {
    let table = try table(node.collection)
    let wanted = try declared.map {
      (
        edge: try stored($0.name, node, $0.destination),
        rules: try rules($0.rules, $0.name, node, $0.destination)
      )
    }
    for (edge, rules) in wanted { try add(edge, rules, isDeclared: true) }
    let key = try key(of: node, in: table)
    try edges.removeDeclared(of: key, in: table, but: wanted.compactMap(\.edge.edge))
    try files.removeDeclared(of: key, in: table, but: wanted.compactMap(\.edge.file))
  }

  // MARK: - The end

  /// A new edge to what is not there has lost that end.
  private func journalMissingEnds() throws {
    if edges.added == 0 { return }
    for relation in store.binding.relations where relation.isStored {
      for end in EdgeEnd.allCases {
        let dangling = relation.dangling(at: end)
        try db.run(
          """
          INSERT INTO cascade.work(what, subject, key, batch)
          SELECT DISTINCT \(JournalSubject.gone.rawValue), \(dangling.table.number), \(dangling.key),
          \(batch) FROM \(dangling.edges) WHERE e.added = \(batch) AND \(dangling.condition)
          """)
      }
    }
  }

  /// Judges what was done since the last flush, and carries out what follows.
  private mutating func flush() throws {
    try journalMissingEnds()
    try files.journalMissingSources()
    let changed = try written.finish()
    try judge()
    var waves = try Waves(store, batch: batch, isSweep: false, after: lastDeleted)
    while try waves.next(.max) != nil {}
    try touch()
    notices += try waves.finish(at: at).notices
    try waves.endTransaction()
    edgesAdded += edges.added + files.added + changed.added
    edgesRemoved += edges.removed + files.removed + changed.removed + waves.count.edges
  }

  private mutating func touch() throws {
    if store.binding.judgements.isEmpty { return }
    let validation = Validation(store: store)
    if !isFlushed { try validation.begin() }
    isFlushed = true
    try validation.touch(batch, edges.touched.merging(written.keys) { $0.union($1) })
  }

  /// What was before a flush is as if it had always been.
  private mutating func begin() throws {
    try edges.begin()
    try files.begin()
    written = WrittenRows(store, batch: batch)
    made = []
    lastDeleted =
      try db.run("SELECT max(id) FROM cascade.deleted WHERE batch = \(batch)").integer ?? 0
  }

  package mutating func finish(_ submission: Submission) throws -> Receipt {
    try flush()
    if !store.binding.judgements.isEmpty {
      let violations = try Validation(store: store).violations(.touched, limit: .max).list
      if !violations.isEmpty { throw Rejection(violations) }
    }
    return try receipt(submission)
  }

  private func judge() throws {
    var closure = try Closure(store, journal: .ofFile(store, batch))
    closure.lastDeleted = lastDeleted
    closure.writtenBefore = written.before
    try closure.complete()
    let denials = try closure.denials()
    if !denials.isEmpty { throw Rejection(denials) }
    if let held = try closure.heldPlan(id: id, includingFirst: true), try !isApproved(held) {
      throw held
    }
  }

  private func receipt(
    _ submission: Submission
  ) throws -> Receipt {
    let summary = try BatchSummary(store, batch)
    let files = try FileRows(store: store).take(into: batch, ofThisTransaction: true)
    try Ledger(store).add(
      submission, batch: batch, deleted: summary.deletedCount, edges: edgesRemoved,
      notices: notices,
      skipped: skipped)
    var receipt = Receipt(id: submission.id, outcome: .applied)
    receipt.author = submission.author
    receipt.batch = batch
    receipt.deleted = summary.deleted
    receipt.deletedCount = summary.deletedCount
    receipt.byRule = summary.byRule
    receipt.edgesAdded = edgesAdded
    receipt.edgesRemoved = edgesRemoved
    receipt.notices = notices
    receipt.files = files
    receipt.skippedChanges = skipped
    return receipt
  }
}
