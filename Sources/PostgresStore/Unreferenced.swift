internal import CascadeModel
internal import CascadePlanning
internal import CascadePostgres
internal import CascadeStore

/// Nodes that a counting rule would keep, and that nothing refers to: rows of a table that have no
/// edge of any name at one end. No counting rule finds a node that never had one.
struct UnreferencedNodes {
  let table: MappedTable
  /// At which end of edges the rows are.
  private let end: EdgeEnd
  private let binding: Binding

  /// Nil if the table is not there.
  init?(_ counted: CountedEnd, _ binding: Binding) {
    guard let table = binding.tables[counted.collection] else { return nil }
    (self.table, end, self.binding) = (table, counted.end, binding)
  }

  /// What `condition` calls the row.
  var row: String { end == .source ? "s" : "t" }

  /// Also a reference to nothing is an edge here.
  var condition: String {
    let edges =
      end == .destination
      ? binding.relations(to: table).map { $0.hasSource() }
      : binding.relations(from: table).map(hasEdge) + files
    return "NOT (\((["false"] + edges).joined(separator: " OR ")))"
  }

  private func hasEdge(_ relation: EdgeRelation) -> String {
    if let join = relation.join {
      let isOfSource = join.source.equal("e", table.key, "s")
      return "EXISTS (SELECT FROM \(join.name) e WHERE \(isOfSource))"
    }
    guard let list = relation.list else { return "(\(relation.isEdge(in: "s")))" }
    return "EXISTS (SELECT FROM \(list.elements("s")) WHERE \(relation.isEdge()))"
  }

  private var files: [String] {
    binding.files.filter { $0.source.number == table.number }.map {
      "\($0.path(in: "s")) IS NOT NULL"
    }
  }
}

extension Closure {
  mutating func begin(with nodes: UnreferencedNodes) throws {
    let key = nodes.table.key.text(nodes.row)
    counts[nodes.table.number, default: 0] += try store.db.run(
      """
      INSERT INTO pg_temp.gone SELECT \(nodes.table.number), \(key), 0
      FROM \(nodes.table.name) \(nodes.row)
      WHERE \(nodes.condition) AND NOT \(leases.holds(nodes.table, key)) ON CONFLICT DO NOTHING
      """
    ).changed
  }
}

extension StoreConnection {
  /// `isFree`: those that need no approval, or the others; nil: all.
  func unreferencedNodes(isFree: Bool? = nil) -> [UnreferencedNodes] {
    model.countedEnds
      .filter { isFree == nil || isFree == model.freelyUnreferenced.contains($0.collection) }
      .compactMap { UnreferencedNodes($0, binding) }
  }
}

/// The sweep of unreferenced nodes. What is being built is not referred to yet, so what it finds
/// waits for approval, except in collections that need none.
extension PostgresWriter {
  func sweepUnreferenced(
    _ now: Int64, _ manners: StepPolicy, _ result: inout SweepResult
  ) throws {
    if result.outcome == .held || result.isCutShort { return }
    for isFree in [true, false] {
      // What went may have been the last to refer to something.
      while try sweepUnreferenced(isFree: isFree, now, manners, &result) {}
    }
  }

  /// Whether anything went.
  private func sweepUnreferenced(
    isFree: Bool, _ now: Int64, _ manners: StepPolicy, _ result: inout SweepResult
  ) throws -> Bool {
    let nodes = store.unreferencedNodes(isFree: isFree)
    guard let batch = try planUnreferenced(nodes, needsApproval: !isFree, &result) else {
      return false
    }
    var waves = try Waves(store, batch: batch, isSweep: true, isNew: false)
    for nodes in nodes {
      while try step(&waves, manners, { try $0.deleteUnreferenced(nodes, $1) }) {}
    }
    try carryOut(&waves, manners)
    var part = SweepResult(kinds: result.kinds, outcome: .nothing)
    try end(&waves, now, &part)
    result.add(part)
    return part.deletedCount > 0
  }

  /// The batch that was begun; nil if there is nothing to do, or if it has to wait.
  private func planUnreferenced(
    _ nodes: [UnreferencedNodes], needsApproval: Bool, _ result: inout SweepResult
  ) throws -> Int64? {
    let kinds = [SweepKind.unreferenced]
    do {
      return try db.transaction(.repeatableRead) {
        var closure = try Closure(store, journal: nil)
        try store.readingWholeTables {
          for nodes in nodes { try closure.begin(with: nodes) }
        }
        try closure.complete()
        if try closure.countByCollection(includingFirst: true).isEmpty { return nil }
        let held = try closure.heldPlan(
          id: HeldPlan.sweep, includingFirst: true, always: needsApproval)
        if let held, try !isApproved(held, kinds) { throw held }
        return try beginBatch(kinds)
      }
    } catch let held as HeldPlan {
      result.hold(held, kinds, plan: try persistPlan(held, file: kinds.planFile))
      return nil
    }
  }
}

extension Waves {
  /// Returns how many went; nil if none is left. Locks first, like `deleteUncounted`.
  mutating func deleteUnreferenced(_ nodes: UnreferencedNodes, _ limit: Int) throws -> Int? {
    let (table, row) = (nodes.table, nodes.row)
    let isFree = "\(nodes.condition) AND NOT \(leases.holds(table, table.key.text(row)))"
    let locked = try lock(
      table, Removal.Selection(row: row, condition: isFree), limit, skipsLocked: true)
    if locked.isEmpty { return nil }
    let selection = Removal.Selection(
      row: row, condition: "\(table.key.isAny(row, "$1")) AND \(isFree)",
      values: [arrayText(locked)])
    let went = try changeUnlessRefused(table, selection) {
      try $0.removal.delete(from: table, $1, because: nil, limit: .max).rows
    }
    count.rows += went
    return went > 0 ? went : nil
  }
}

extension SweepResult {
  /// Adds what another part of the sweep did, in a batch of its own.
  fileprivate mutating func add(_ part: SweepResult) {
    if part.outcome == .nothing { return }
    if outcome != .held { outcome = part.outcome }
    let room = max(0, Receipt.mostListed - deleted.count)
    deleted += part.deleted.prefix(room)
    deletedCount += part.deletedCount
    edgesRemoved += part.edgesRemoved
    notices += part.notices
    files += part.files
    byCollection.merge(part.byCollection, uniquingKeysWith: +)
    byRule.merge(part.byRule, uniquingKeysWith: +)
    blocked += part.blocked
    batch = batch ?? part.batch
    lockMilliseconds += part.lockMilliseconds
  }
}

extension PostgresReader {
  package func countUnreferenced() throws -> [(collection: String, count: Int)] {
    try ask { store in
      try store.readingWholeTables {
        let counts = try store.unreferencedNodes().map { nodes in
          let count = try store.db.run(
            "SELECT count(*) FROM \(nodes.table.name) \(nodes.row) WHERE \(nodes.condition)")
          return (collection: nodes.table.collection, count: Int(count.integer ?? 0))
        }
        return counts.filter { $0.count > 0 }
      }
    }
  }
}
