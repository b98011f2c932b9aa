internal import CascadeEngine
internal import CascadeModel
internal import CascadePostgres
internal import CascadeStore
internal import PostgresBinding
internal import PostgresSweeps
internal import PostgresTables

/// Why a node is there, or why it went.
struct Explanation {
  let store: StoreConnection

  static let mostHolders = 1_000

  func why(_ node: Node) throws -> Why {
    guard let table = store.binding.tables[node.collection], let key = table.key.text(node.key)
    else { return .unknown }
    let isThere = try store.db.run(
      "SELECT \(table.has("$1"))", [key]
    ).bool
    if isThere { return try alive(table, key) }
    return try deletion(of: node).map(Why.deleted) ?? .unknown
  }

  private func alive(_ table: MappedTable, _ key: String) throws -> Why {
    let node = table.node(key)
    let incoming = EdgeListing(store: store, query: EdgeQuery(to: .node(node)))
    var holders = try incoming.page(after: nil, limit: Explanation.mostHolders).edges
    let outgoing = try EdgeListing(store: store, query: EdgeQuery(from: node))
      .page(after: nil, limit: Explanation.mostHolders).edges
      .filter { $0.rules.contains(.denySourceDeletion) }
    let total = try incoming.count() + outgoing.count
    holders += outgoing
    let leases = try LeaseList(store: store).leases(of: table, key)
    return .alive(holders: holders, total: total, leases: leases)
  }
}

extension Explanation: DeletionTrail {
  struct Entry: Hashable {
    let node: Node
    let batch: Int64
    fileprivate let rule: String?
    fileprivate let via: String?
    fileprivate let other: String?
    /// Whether Cascade deleted it.
    fileprivate let isOwn: Bool
  }

  func newest(_ node: Node, upTo batch: Int64) throws -> Entry? {
    try entry(node, "k.batch <= \(batch)")
  }

  private func entry(_ node: Node, _ batches: String) throws -> Entry? {
    guard let table = store.binding.tables[node.collection], let key = table.key.text(node.key)
    else { return nil }
    return try store.db.run(
      """
      SELECT k.batch, k.rule, k.via, k.other, k.is_own FROM cascade.deleted_node k
      WHERE \(table.isDeleted("k", "$1")) AND \(batches) ORDER BY k.id DESC LIMIT 1
      """, [key]
    ).rows.first.map {
      Entry(
        node: table.node(key), batch: Int64($0[0]!)!, rule: $0[1], via: $0[2], other: $0[3],
        isOwn: $0[4] == "t")
    }
  }

  func stretch(from first: Entry) throws -> DeletionStretch {
    var stretch = DeletionStretch(batch: first.batch, steps: [], isOwn: false)
    var (next, seen): (Entry?, Set<Entry>) = (first, [])
    while let entry = next, seen.insert(entry).inserted, seen.count < longestDeletionTrail {
      guard let (edge, rule, other) = reason(entry) else {
        stretch.steps.append(Plan.Step(node: entry.node, edge: nil, rule: nil))
        stretch.isOwn = entry.isOwn
        break
      }
      stretch.steps.append(Plan.Step(node: entry.node, edge: edge, rule: rule))
      next = try self.entry(other, "k.batch = \(first.batch)")
      if next == nil { stretch.steps.append(Plan.Step(node: other, edge: nil, rule: nil)) }
    }
    return stretch
  }

  /// The edge by which a node followed, the rule, and the node at the edge's other end.
  private func reason(_ entry: Entry) -> (Edge, rule: String?, other: Node)? {
    guard let rule = entry.rule, let via = entry.via, let other = entry.other,
      let relation = store.binding.relation(Int64(via)!),
      let key = store.binding.tables[entry.node.collection]?.key.text(entry.node.key),
      let edge = store.edge(via, key, other, rule)
    else { return nil }
    let losesSource = Rules(rawValue: Int64(rule)!).isSubset(of: .losingSource)
    let table = losesSource ? relation.source : relation.destination
    return (edge, Rules.name(rule), table.node(other))
  }

  /// The ledger has a sweep when it has ended. Until then it is one of now.
  func cause(ofBatch batch: Int64) throws -> Why.LedgerCause? {
    try store.db.run(
      """
      SELECT at, id, author, part FROM cascade.ledger WHERE batch = \(batch)
      UNION ALL SELECT (extract(epoch FROM now()) * 1000)::bigint, 'sweep-\(batch)', NULL,
        \(Submission.Kind.sweep.part)
      FROM cascade.meta WHERE key = 'sweep.batch' AND value = \(batch)
      """
    ).rows.first.map {
      Why.LedgerCause(
        batch: batch, at: Int64($0[0]!)!, id: $0[1]!, author: $0[2],
        kind: Submission.Kind(part: Int64($0[3]!)!))
    }
  }
}
