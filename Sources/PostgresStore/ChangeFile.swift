internal import CascadeModel
internal import CascadePostgres
internal import CascadeStore

/// A change file while it is applied. Its changes are made as they come, and what follows from them
/// at the end.
struct ChangeFile {
  let store: StoreConnection
  let batch: Int64
  private var skipped = 0
  private var edgesAdded = 0
  private var edgesRemoved = 0
  private var number = 0
  /// Nodes that were not there before.
  private var made: Set<Node> = []
  private var written: WrittenRows
  /// The ends of stored edges that it adds or removes, by the number of their table.
  private var touched: [Int64: Set<String>] = [:]

  init(_ store: StoreConnection, batch: Int64) {
    (self.store, self.batch) = (store, batch)
    written = WrittenRows(store, batch: batch)
  }

  private var db: Session { _read { yield store.db } }

  mutating func apply(_ change: Change) throws {
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
      try add(stored(name, from, to, rules), isDeclared: false)
    case .unlink(let name, let from, let to, let removal):
      try unlink(stored(name, from, to, nil), as: removal)
    case .flush: throw notYet("\"flush\" is")
    }
  }

  private func notYet(_ what: String) -> Rejection {
    Rejection(.invalid, "\(what) not supported on PostgreSQL yet")
  }

  // MARK: - Objects

  private func table(_ collection: String) throws -> MappedTable {
    guard let table = store.binding.tables[collection] else {
      throw Rejection(
        .invalid, "the model has no collection \"\(collection)\", and none is made on PostgreSQL")
    }
    return table
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
      isNew = try RowValues(store, node, key, in: table).put(value)
    }
    if isNew, try !forgetDeletion(of: node, in: table) { made.insert(node) }
  }

  private func put(
    _ key: String, in table: MappedTable, _ type: String?, _ value: JSONText?
  ) throws -> Bool {
    try db.run(
      """
      INSERT INTO \(table.name)(key, type, value) VALUES($1, $2, $3)
      ON CONFLICT(key) DO UPDATE SET type = excluded.type, value = excluded.value
      RETURNING xmax = 0
      """, [key, type, value?.text]
    ).bool
  }

  /// What was deleted and is put again, or the reverse, within a transaction, did not go. Whether
  /// there was such a deletion.
  @discardableResult
  private func forgetDeletion(of node: Node, in table: MappedTable) throws -> Bool {
    try db.run(
      """
      DELETE FROM cascade.deleted
      WHERE batch = \(batch) AND collection = \(table.number) AND key = $1
      """, [key(of: node, in: table)]
    ).changed > 0
  }

  private mutating func patch(_ node: Node, set: [Member], unset: [String]) throws {
    let table = try table(node.collection)
    let key = try key(of: node, in: table)
    try written.willWrite(key, of: table, made: made)
    if !table.isManaged {
      return try RowValues(store, node, key, in: table).patch(set: set, unset: unset)
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
      Removal.Selection(row: "t", condition: table.key.equal("t", text: "$1"), values: [key]))
    written.note(key, of: table)
    if went == 0 { skipped += 1 }
    if made.remove(node) != nil { try forgetDeletion(of: node, in: table) }
  }

  private mutating func deleteAll(_ collection: String) throws {
    let table = try table(collection)
    try delete(from: table, Removal.Selection(row: "t", condition: "true"))
    for node in made where node.collection == collection {
      try forgetDeletion(of: node, in: table)
      made.remove(node)
    }
  }

  @discardableResult
  private mutating func delete(
    from table: MappedTable, _ selection: Removal.Selection
  ) throws -> Int {
    let removal = Removal(store: store, batch: batch)
    let went = try written.deleting(from: table) {
      try removal.delete(from: table, selection, because: nil, limit: .max)
    }
    edgesRemoved += went.edges
    return went.rows
  }

  // MARK: - Edges

  private struct StoredEdge {
    let relation: EdgeRelation
    let join: JoinTable
    let ends: [String]

    /// Whether the row `e` is it, with its ends as `$1` and `$2`.
    var isRow: String {
      "\(join.source.equal("e", text: "$1")) AND \(join.destination.equal("e", text: "$2"))"
    }
  }

  private func stored(
    _ name: String, _ from: Node, _ to: Destination, _ rules: Rules?
  ) throws -> StoredEdge {
    guard case .node(let to) = to else { throw notYet("edges to files are") }
    let (source, destination) = (try table(from.collection), try table(to.collection))
    let relation = store.binding.relations.first {
      $0.isStored && $0.name == name && $0.source.number == source.number
        && $0.destination.number == destination.number
    }
    guard let relation, let join = relation.join else {
      throw notYet(
        "stored edges that the model does not declare (\"\(name)\" from \"\(from.collection)\" to "
          + "\"\(to.collection)\") are")
    }
    if let rules, rules != relation.rules {
      throw notYet("an edge with other rules than the model gives \"\(name)\" is")
    }
    return StoredEdge(
      relation: relation, join: join,
      ends: [try key(of: from, in: source), try key(of: to, in: destination)])
  }

  /// An edge that was there when the transaction began was not added by it.
  private mutating func add(_ edge: StoredEdge, isDeclared: Bool) throws {
    touch(edge)
    let (relation, join) = (edge.relation, edge.join)
    let values = join.source.parts(of: "$1::text") + join.destination.parts(of: "$2::text")
    edgesAdded += try db.run(
      """
      INSERT INTO \(join.name) SELECT \(values.joined(separator: ", ")), \(isDeclared),
        CASE WHEN EXISTS (SELECT FROM cascade.journal j
          WHERE j.batch = \(batch) AND j.subject = \(relation.number) AND j.key = $1 AND j.other = $2
          AND j.what IN (\(JournalSubject.lost.rawValue), \(JournalSubject.widowed.rawValue)))
        THEN 0 ELSE \(batch) END
      ON CONFLICT DO NOTHING
      """, edge.ends
    ).changed
  }

  private mutating func touch(_ edge: StoredEdge) {
    touched[edge.relation.source.number, default: []].insert(edge.ends[0])
    touched[edge.relation.destination.number, default: []].insert(edge.ends[1])
  }

  private mutating func unlink(_ edge: StoredEdge, as removal: CascadeModel.Removal) throws {
    touch(edge)
    let went = try remove(
      edge.relation, edge.join, "\(edge.isRow) AND NOT e.is_declared", edge.ends, as: removal)
    if went == 0 { skipped += 1 }
  }

  private mutating func remove(
    _ relation: EdgeRelation, _ join: JoinTable, _ condition: String, _ values: [String?],
    as removal: CascadeModel.Removal
  ) throws -> Int {
    let what: JournalSubject? =
      switch removal {
      case .sourceDeleted: .lost
      case .destinationDeleted: .widowed
      case .edgeDeleted: nil
      }
    let went = try Removal(store: store, batch: batch).unlink(
      relation, join, Removal.Selection(row: "e", condition: condition, values: values), as: what,
      isRequest: true)
    edgesRemoved += went
    return went
  }

  /// The declared edges of a node become these.
  private mutating func declare(_ edges: [DeclaredEdge], of node: Node) throws {
    let table = try table(node.collection)
    let wanted = try edges.map { try stored($0.name, node, $0.destination, $0.rules) }
    for relation in store.binding.relations(from: table) where relation.isStored {
      guard let join = relation.join else { continue }
      let keys = wanted.filter { $0.relation.number == relation.number }.map { $0.ends[1] }
      let isOther = """
        \(join.source.equal("e", text: "$1")) AND e.is_declared
        AND NOT \(join.destination.isAny("e", "$2"))
        """
      _ = try remove(
        relation, join, isOther, [key(of: node, in: table), arrayText(keys)], as: .sourceDeleted)
    }
    for edge in wanted { try add(edge, isDeclared: true) }
  }

  // MARK: - The end

  /// A new edge to what is not there has lost that end.
  private func journalMissingEnds() throws {
    if edgesAdded == 0 { return }
    for relation in store.binding.relations where relation.isStored {
      for end in EdgeEnd.allCases {
        let dangling = relation.dangling(at: end)
        try db.run(
          """
          INSERT INTO cascade.journal(what, subject, key, batch)
          SELECT DISTINCT \(JournalSubject.gone.rawValue), \(dangling.table.number), \(dangling.key),
          \(batch) FROM \(dangling.edges) WHERE e.added = \(batch) AND \(dangling.condition)
          """)
      }
    }
  }

  /// Judges what was done, and carries out what follows.
  mutating func finish(
    _ submission: Submission, isApproved: (HeldPlan) throws -> Bool
  ) throws -> Receipt {
    try journalMissingEnds()
    let changed = try written.finish()
    edgesAdded += changed.added
    edgesRemoved += changed.removed
    try judge(submission, isApproved: isApproved)
    var waves = try Waves(store, batch: batch, isSweep: false)
    repeat {
      while try waves.step(.max) != nil {}
    } while try waves.deleteUncounted(.max) > 0
    let validation = Validation(store: store)
    if !store.binding.judgements.isEmpty {
      try validation.touch(batch, touched.merging(written.keys) { $0.union($1) })
    }
    let notices = try waves.finish(at: submission.at).notices
    if !store.binding.judgements.isEmpty {
      let violations = try validation.violations(.touched, limit: .max).list
      if !violations.isEmpty { throw Rejection(violations) }
    }
    return try receipt(submission, waves.count.edges + edgesRemoved, notices)
  }

  private func judge(
    _ submission: Submission, isApproved: (HeldPlan) throws -> Bool
  ) throws {
    var closure = try Closure(store, journal: "j.batch = \(batch)")
    closure.ownBatch = batch
    try closure.complete()
    let denials = try closure.denials()
    if !denials.isEmpty { throw Rejection(denials) }
    if let held = try closure.heldPlan(id: submission.id, includingFirst: true),
      try !isApproved(held)
    {
      throw held
    }
  }

  private func receipt(
    _ submission: Submission, _ edges: Int, _ notices: Int
  ) throws -> Receipt {
    let summary = try BatchSummary(store, batch)
    try Ledger(store).add(
      submission, batch: batch, deleted: summary.deletedCount, edges: edges, notices: notices,
      skipped: skipped)
    var receipt = Receipt(id: submission.id, outcome: .applied)
    receipt.author = submission.author
    receipt.batch = batch
    receipt.deleted = summary.deleted
    receipt.deletedCount = summary.deletedCount
    receipt.byRule = summary.byRule
    receipt.edgesAdded = edgesAdded
    receipt.edgesRemoved = edges
    receipt.notices = notices
    receipt.skippedChanges = skipped
    return receipt
  }
}
