package import CascadeModel
package import CascadeEngine
internal import CascadePostgres
package import CascadeStore
package import PostgresBinding
package import PostgresTables

/// What a completed closure has.
extension Closure {
  /// The nodes that would go and are there: those of the journal are gone already.
  private var isThere: String { "g.level > 0" }

  package func countByCollection(includingFirst: Bool) throws -> [(MappedTable, Int)] {
    var counts = Dictionary(
      uniqueKeysWithValues: try store.db.run(
        """
        SELECT c.collection, sum(c.count) FROM (
          SELECT g.collection, count(*) FROM \(scratch[.gone]) g
          WHERE \(includingFirst ? "true" : isThere) GROUP BY 1
          UNION ALL SELECT k.collection, sum(k.size) FROM cascade.deleted k
          WHERE k.batch = \(journal?.ownBatch ?? 0) AND k.is_own AND k.id <= \(lastDeleted)
          GROUP BY 1) c
        GROUP BY 1
        """
      ).rows.map { (Int64($0[0]!)!, Int($0[1]!)!) })
    for leaf in leaves { counts[leaf.relation.source.number, default: 0] += leaf.count }
    return counts.compactMap { number, count in store.binding.table(number).map { ($0, count) } }
  }

  /// At least as many as would go.
  private var mostDeleted: Int {
    counts.values.reduce(0, +) + leaves.reduce(0) { $0 + $1.count }
  }

  /// Whether it has to wait for an approval, and what it is then; nil if not. `deletion` has what counts
  /// beside the nodes of the set. `isForSet`: an approval is for this set, and for no other one.
  package func judge(
    _ deletion: Hold.Deletion = Hold.Deletion([:]), id: String = HeldPlan.sweep,
    includingFirst: Bool = false, recent: [String: Int] = [:], approval: Hold.Approval? = nil,
    isForSet: Bool = true
  ) throws -> (verdict: Hold.Verdict, plan: HeldPlan)? {
    let (hold, losses) = (Hold(store.model), deletion.losses)
    let losesMuch = losses.areOver(store.model.limits.hold)
    let isAsked = losesMuch || deletion.needsApproval || approval != nil || lastDeleted > 0
    if !isAsked && !hold.needsSizes(mostDeleted, recent: recent) { return nil }
    let counts = try countByCollection(includingFirst: includingFirst)
    var deletion = deletion
    deletion.nodes = Dictionary(
      counts.map { ($0.0.collection, $0.1) }, uniquingKeysWith: +)
    let verdict =
      try losesMuch
      ? .held
      : hold.judge(deletion, recent: recent, approval: approval) { collection, enough in
        try size(collection, enough, gone: deletion.nodes[collection] ?? 0)
      }
    if verdict == .passes { return nil }
    let plan = HeldPlan(
      id: id, deletedCount: deletion.nodes.values.reduce(0, +), byCollection: deletion.nodes,
      lostCount: losesMuch ? losses.reduce(0) { $0 + $1.gone } : 0,
      checksum: isForSet ? try checksum() : 0)
    return (verdict, plan)
  }

  /// How many nodes a collection has, as far as `enough`. Some that go may be gone already.
  package func size(_ collection: String, _ enough: Int, gone: Int) throws -> Int? {
    guard let table = store.binding.tables[collection] else { return nil }
    let left = try store.readingWholeTables {
      try store.db.run(
        "SELECT count(*) FROM (SELECT FROM \(table.name) LIMIT \(enough)) t"
      ).integer
    }
    return max(Int(left ?? 0), gone)
  }

  /// The same for the same nodes, in whatever order.
  private func checksum() throws -> Int64 {
    func sum(_ nodes: String) throws -> Int64 {
      try store.db.run(
        """
        SELECT coalesce(bit_xor(hashtextextended(n.collection || '/' || n.key, 0)), 0)
        FROM (\(nodes)) n(collection, key)
        """
      ).integer ?? 0
    }
    let gone = try sum("SELECT g.collection, g.key FROM \(scratch[.gone]) g")
    return try store.readingWholeTables {
      try leaves.reduce(gone) { all, leaf in
        let (table, rows) = (leaf.relation.source, leaves(of: leaf.relation))
        return try all ^ sum("SELECT \(table.number), \(table.key.text("s")) \(rows)")
      }
    }
  }

  package func denials() throws -> [Reason] {
    if !store.binding.denies { return [] }
    return try store.db.run(
      """
      SELECT DISTINCT d.collection, d.key, d.via, d.source, d.destination FROM \(scratch[.denied]) d
      ORDER BY 1, 2, 3, 4, 5 LIMIT \(Receipt.mostListed)
      """
    ).rows.compactMap { row in
      guard let table = store.binding.table(Int64(row[0]!)!) else { return nil }
      let node = table.node(row[1]!)
      if let refusal = stoppedRefusal(via: Int(row[2]!)!) {
        return .mustStay(node, because: refusal)
      }
      guard let relation = store.binding.relation(Int64(row[2]!)!) else { return nil }
      let edge = relation.edge(row[3]!, row[4]!)
      return .mustStay(at: node == edge.source ? .source : .destination, of: edge)
    }
  }

  private func stoppedRefusal(via: Int) -> String? {
    let all = store.binding.stopped.relationships
    return all.indices.first { Closure.via(stopped: $0) == via }.map { all[$0].refusal }
  }

  /// Whether a node or a file would go.
  package func deletes(_ end: Destination) throws -> Bool {
    switch end {
    case .file(let root, let path): return try FileRows(store: store).isReleased(path, in: root)
    case .node(let node):
      guard let table = store.binding.tables[node.collection], let key = table.key.text(node.key)
      else { return false }
      let asLeaf = leaves.filter { $0.relation.source.number == table.number }.map {
        "EXISTS (SELECT \(leaves(of: $0.relation)) AND \(table.key.equal("s", text: "$1")))"
      }
      let isGone = ([isGone(table, "$1")] + asLeaf).joined(separator: " OR ")
      return try store.db.run("SELECT \(isGone)", [key]).bool
    }
  }

  package func plan(limit: Int, includingFirst: Bool) throws -> Plan {
    let counts = try countByCollection(includingFirst: includingFirst)
    var rows = try store.db.run(
      """
      SELECT g.collection, g.key, g.rule, g.via, g.other FROM \(scratch[.gone]) g
      WHERE \(includingFirst ? "true" : isThere) ORDER BY g.level, g.collection, g.key
      LIMIT \(limit)
      """
    ).rows
    for leaf in leaves where rows.count < limit {
      rows += try self.rows(of: leaf.relation, limit: limit - rows.count)
    }
    return Plan(
      steps: rows.compactMap(step), deletedCount: counts.reduce(0) { $0 + $1.1 },
      byCollection: Dictionary(uniqueKeysWithValues: counts.map { ($0.0.collection, $0.1) }),
      byRule: try byRule(), denials: try denials(),
      files: try FileRows(store: store).countReleased(),
      isOverLimit: try judge(includingFirst: includingFirst, isForSet: false) != nil)
  }

  private func rows(of relation: EdgeRelation, limit: Int) throws -> [[String?]] {
    let table = relation.source
    return try store.db.run(
      """
      SELECT \(table.number), \(table.key.text("s")),
        \(Rules.deleteSourceIfDestinationDeleted.rawValue), \(relation.number),
        \(relation.destination.key.text("g"))
      \(leaves(of: relation)) ORDER BY 2 LIMIT \(limit)
      """
    ).rows
  }

  private func step(_ row: [String?]) -> Plan.Step? {
    guard let table = store.binding.table(Int64(row[0]!)!) else { return nil }
    return Plan.Step(
      node: table.node(row[1]!), edge: row[3].flatMap { store.edge($0, row[1]!, row[4]!, row[2]!) },
      rule: row[2].flatMap(Rules.name))
  }

  private func byRule() throws -> [String: Int] {
    let rows = try store.db.run(
      "SELECT g.rule, count(*) FROM \(scratch[.gone]) g WHERE g.rule IS NOT NULL GROUP BY 1"
    ).rows
    let byLeaf = leaves.compactMap { leaf in
      Rules.deleteSourceIfDestinationDeleted.names.first.map { ($0, leaf.count) }
    }
    return Dictionary(
      rows.map { (Rules.name($0[0]!)!, Int($0[1]!)!) } + byLeaf, uniquingKeysWith: +)
  }
}

extension StoreConnection {
  /// The edge by which a node goes: `other` is its other end.
  package func edge(_ relation: String, _ key: String, _ other: String, _ rule: String) -> Edge? {
    guard let relation = binding.relation(Int64(relation)!) else { return nil }
    let losesSource = Rules(rawValue: Int64(rule)!).isSubset(of: .losingSource)
    return losesSource ? relation.edge(other, key) : relation.edge(key, other)
  }
}
