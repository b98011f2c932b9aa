package import CascadeModel
internal import CascadeSQLite
internal import CascadeSystem
package import CascadeStore
internal import CascadeEngine
internal import SQLiteBinding
internal import SQLiteTables
internal import SQLiteJournal
internal import SQLiteRules
internal import SQLiteDeletion

extension Reader {
  package func plan(deleting nodes: [Node], at now: Int64? = nil) throws -> Plan {
    try plan(at: now ?? SystemClock.wall()) { try markExistingDead(nodes) }
  }

  package func plan(of subject: DeletionJob.Subject) throws -> Plan {
    if case .marks(let after, let last) = subject {
      return try db.snapshot {
        let closure = MarkClosure(
          try binding(), rulesSeen: Rules(rawValue: try db.meta(.rulesSeen) ?? 0))
        try closure.find(Slice(low: after, high: last), batch: nil, db)
        return try db.planOfMarking(model)
      }
    }
    return try plan(at: SystemClock.wall()) {
      let binding = try binding()
      try db.findNodes(of: subject, binding, db.numbers(binding))
      try db.run("INSERT OR IGNORE INTO temp.dead SELECT id FROM temp.unreachable_nodes")
      try db.empty(.unreachableNodes)
    }
  }

  /// Marks those of the nodes as dead that exist.
  func markExistingDead(_ nodes: [Node]) throws {
    for node in nodes {
      guard let id = try number(of: node) else { continue }
      try db.run("INSERT OR IGNORE INTO temp.dead VALUES(?)", .integer(id))
    }
  }

  func plan(
    ofSweep kinds: [SweepKind]? = nil, at now: Int64, addDead: () throws -> Void
  ) throws -> Plan {
    try consequences(ofSweep: kinds, at: now, addDead: addDead) { denials, numbers in
      let recent = try kinds == nil ? [:] : recentDeletions(at: now)
      var plan = try describePlan(denials, recent: recent)
      if let kinds { plan.edgesRemoved = try edgesOfGone(numbers, kinds.followedRules) }
      return plan
    }
  }

  /// Computes the consequences of the deletions that `addDead` writes into `temp.dead`; `tell`
  /// finds them in `temp.gone`. A sweep leaves denied nodes. Any other deletion would be rejected
  /// because of them.
  func consequences<T>(
    ofSweep kinds: [SweepKind]? = nil, at now: Int64? = nil, addDead: () throws -> Void,
    tell: ([Reason], NumberedTables) throws -> T
  ) throws -> T {
    try db.snapshot {
      try addDead()
      let rules = try db.meta(.rulesSeen) ?? 0
      let binding = try binding()
      try db.findLeased(binding, at: now ?? SystemClock.wall())
      let numbers = try db.numbers(binding)
      let closure = Closure(
        rulesSeen: Rules(rawValue: rules), binding: binding, numbers: numbers, firstNewId: .max,
        following: kinds?.followedRules ?? .all,
        fromRootsOf: kinds?.sweepsUnreachable(from: model) == true ? model : nil)
      if kinds != nil { return try tell(closure.completeUndenied(db).denials, numbers) }
      try closure.complete(db)
      let denials = try db.denials(binding, numbers, stored: closure.rulesSeen)
      return try tell(denials.map(\.reason) + violations(numbers), numbers)
    }
  }

  /// How the nodes that remain would violate the demands of the model.
  private func violations(_ numbers: NumberedTables) throws -> [Reason] {
    let binding = try binding()
    let demands = Demands(model)
    try db.touchNeighbours(demands, binding, numbers)
    try db.storeKeysOfRows(binding, "SELECT id FROM temp.touched WHERE id < 0")
    return try demands.all.flatMap { $0.judgements(binding, model, of: .stayingNodes(numbers)) }
      .flatMap { try $0.violations(db, model, limit: Receipt.mostListed) }
  }

  private func recentDeletions(at now: Int64) throws -> [String: Int] {
    try HoldWindow(model, db.holdSlots()).sums(at: now)
  }

  private func describePlan(_ denials: [Reason], recent: [String: Int]) throws -> Plan {
    let counts = try db.goneByCollection()
    let deleted = counts.reduce(0) { $0 + $1.gone }
    let nodes = Dictionary(counts.map { ($0.name, $0.gone) }, uniquingKeysWith: +)
    let binding = try binding()
    let verdict = try Hold(model).judge(Hold.Deletion(nodes), recent: recent) { name, _ in
      try db.size(of: name, binding)
    }
    return Plan(
      steps: try planSteps(), deletedCount: deleted,
      byCollection: nodes,
      byRule: try countsByRule(), denials: denials, files: try db.filesInGone(),
      isOverLimit: verdict != .passes)
  }

  /// The edges of nodes that were gone before are removed by the kind of sweep that cascades.
  private func edgesOfGone(_ numbers: NumberedTables, _ followed: Rules) throws -> Int {
    let leavesCauses = followed.isDisjoint(with: .cascading)
    let low =
      try leavesCauses
      ? db.integer("SELECT max(seq) FROM temp.gone WHERE rule = \(Rules.none.bits)") : 0
    return try db.edgesOfGone(binding(), numbers, Slice(low: low ?? 0, high: .max))
  }

  private func planSteps() throws -> [Plan.Step] {
    try db.storeKeysOfRows(
      binding(),
      """
      SELECT id FROM (SELECT id FROM temp.gone WHERE counts ORDER BY seq LIMIT ?1)
      UNION SELECT via FROM (SELECT via FROM temp.gone WHERE counts ORDER BY seq LIMIT ?1)
      """, [.integer(Int64(Receipt.mostListed))])
    return try db.all(
      """
      SELECT c.name, coalesce(n.key, k.key), m.name, oc.name, coalesce(o.key, ok.key), g.rule
      FROM temp.gone AS g
      LEFT JOIN cascade_node AS n ON n.id = g.id
      LEFT JOIN temp.known AS k ON k.id = g.id
      CROSS JOIN cascade_collection AS c ON c.id = coalesce(n.collection, k.collection)
      LEFT JOIN cascade_name AS m ON m.id = g.name
      LEFT JOIN cascade_node AS o ON o.id = g.via
      LEFT JOIN temp.known AS ok ON ok.id = g.via
      LEFT JOIN cascade_collection AS oc ON oc.id = coalesce(o.collection, ok.collection)
      WHERE g.counts AND c.name NOT GLOB 'cascade_file/*'
      ORDER BY g.seq LIMIT ?
      """, .integer(Int64(Receipt.mostListed))
    ) { Plan.Step(row: $0, model) }
  }

  private func countsByRule() throws -> [String: Int] {
    let rows = try db.all(
      """
      SELECT rule, count(*) FROM temp.gone WHERE rule AND counts
      AND collection NOT IN (SELECT id FROM cascade_collection WHERE name GLOB 'cascade_file/*')
      GROUP BY rule
      """
    ) { (Rules(rawValue: $0.integer(0)).names.first ?? "", Int($0.integer(1))) }
    return Dictionary(uniqueKeysWithValues: rows)
  }

  /// What a sweep would delete.
  package func planSweep(_ kinds: [SweepKind], at now: Int64? = nil) throws -> Plan {
    let now = now ?? SystemClock.wall()
    var needsApproval = false
    var plan = try plan(ofSweep: kinds, at: now) {
      let binding = try binding()
      if kinds.readsJournal {
        let start = try db.journalStart(kinds)
        try read(binding, ofPlan: nil, kinds, above: start, at: now)
      }
      if kinds.scansTables {
        try db.addDanglingEnds(binding)
        needsApproval = try !db.heldValues(model, limit: 1).isEmpty
      }
      if kinds.sweepsUnreachable { try db.findUnreachable(binding, model, at: now) }
      if kinds.sweepsUnreferenced(of: model) {
        try db.findUnreferenced(binding, model.countedEnds, at: now)
        let counts = try db.unreferencedCounts()
        needsApproval =
          needsApproval || counts.contains { !model.freelyUnreferenced.contains($0.name) }
      }
    }
    if kinds.sweepsFiles { plan.files += try unnamedFiles() }
    if kinds.deletesTrash {
      plan.batchesToDelete = try db.batchesInTrash(before: (now - model.trash.inMilliseconds, now))
    }
    let holdsAll = try kinds.scansTables && db.meta(.firstWatch) == 1
    if needsApproval || holdsAll && plan.deletedCount > 0 { plan.isOverLimit = true }
    return plan
  }

  private func read(
    _ binding: Binding, ofPlan plan: Int64?, _ kinds: [SweepKind], above start: Int64, at now: Int64
  ) throws {
    let scope = try JournalScope(plan: plan, db)
    try JournalReader(binding: binding, watches: db.watches(), scope: scope, reportsCauses: true)
      .read(db, above: start, upTo: .max)
    try db.examineCandidates(binding, following: kinds.followedRules, ofPlan: plan, at: now)
  }

  /// A plan that owns no causes is found by looking again.
  package func plan(ofHeld plan: Int64, kinds: [SweepKind]) throws -> Plan {
    let owns = try db.integer("SELECT owns FROM cascade_plan WHERE plan = ?", .integer(plan))
    if owns != 1 { return try planSweep(kinds) }
    let now = SystemClock.wall()
    return try self.plan(ofSweep: kinds, at: now) {
      try read(binding(), ofPlan: plan, kinds, above: 0, at: now)
    }
  }

  /// What the approval of a held value would delete.
  package func plan(ofHeld value: HeldValue) throws -> Plan {
    try plan(ofSweep: [.dangling], at: SystemClock.wall()) {
      try db.addDanglingEnds(binding(), releasing: [value.missing])
    }
  }

  private func unnamedFiles() throws -> Int {
    let count = try db.integer(
      """
      SELECT count(*)
      FROM cascade_collection AS c CROSS JOIN cascade_node AS n ON n.collection = c.id
      WHERE c.name GLOB 'cascade_file/*'
      AND NOT EXISTS (SELECT 1 FROM cascade_edge WHERE destination = n.id)
      """)
    return Int(count ?? 0)
  }
}

extension Plan.Step {
  /// Columns: collection and key, name of the edge, the other end's collection and key, rule.
  init(row: Row, _ model: StoreModel) {
    let node = row.node(0, model)
    let rules = Rules(rawValue: row.integer(5))
    var edge: Edge?
    if let name = row.optionalText(2), !row.isNull(3) {
      let otherEnd = row.node(3, model)
      let goesWithSource = !rules.isDisjoint(with: .ofLostSource)
      edge = Edge(
        name: name, source: goesWithSource ? otherEnd : node,
        destination: Destination(goesWithSource ? node : otherEnd), rules: rules,
        origin: .declared)
    }
    self.init(node: node, edge: edge, rule: rules.names.first)
  }
}
