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
    return try isThere ? alive(table, key) : deleted(table, key)
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

  private struct Row {
    let batch: Int64
    let rule: String?
    let via: String?
    let other: String?
    /// Whether Cascade deleted it.
    let isOwn: Bool
  }

  /// The newest deletion of a node, up to a batch.
  private func row(_ table: MappedTable, _ key: String, upTo batch: Int64) throws -> Row? {
    try store.db.run(
      """
      SELECT k.batch, k.rule, k.via, k.other, k.is_own FROM cascade.deleted_node k
      WHERE \(table.isDeleted("k", "$1")) AND k.batch <= \(batch) ORDER BY k.id DESC LIMIT 1
      """, [key]
    ).rows.first.map {
      Row(batch: Int64($0[0]!)!, rule: $0[1], via: $0[2], other: $0[3], isOwn: $0[4] == "t")
    }
  }

  private func deleted(_ table: MappedTable, _ key: String) throws -> Why {
    guard let row = try row(table, key, upTo: .max), let entry = try entry(row.batch) else {
      return .unknown
    }
    let (chain, isOwn) = try chain(from: table, key, row)
    return .deleted(
      Why.Deletion(
        batch: row.batch, at: entry.at, id: entry.id, author: entry.author,
        cause: !entry.isSweep ? .file : isOwn ? .unreachable : .sweep, chainStart: nil,
        chain: chain))
  }

  /// The ledger has a sweep when it has ended. Until then it is one of now.
  func entry(_ batch: Int64) throws -> Why.LedgerCause? {
    try store.db.run(
      """
      SELECT at, id, author, part FROM cascade.ledger WHERE batch = \(batch)
      UNION ALL SELECT (extract(epoch FROM now()) * 1000)::bigint, 'sweep-\(batch)', NULL,
        \(Submission.partOfSweep)
      FROM cascade.meta WHERE key = 'sweep.batch' AND value = \(batch)
      """
    ).rows.first.map {
      Why.LedgerCause(
        batch: batch, at: Int64($0[0]!)!, id: $0[1]!, author: $0[2],
        isSweep: Int64($0[3]!)! == Submission.partOfSweep)
    }
  }

  /// Also returns whether Cascade deleted the last one, for no rule.
  private func chain(
    from table: MappedTable, _ key: String, _ row: Row
  ) throws -> ([Plan.Step], isOwn: Bool) {
    var (table, key, row) = (table, key, row)
    var steps: [Plan.Step] = []
    while steps.count < Receipt.mostListed {
      guard let rule = row.rule, let via = row.via, let other = row.other,
        let relation = store.binding.relation(Int64(via)!),
        let edge = store.edge(via, key, other, rule)
      else {
        steps.append(Plan.Step(node: table.node(key), edge: nil, rule: nil))
        break
      }
      steps.append(Plan.Step(node: table.node(key), edge: edge, rule: Rules.name(rule)))
      let losesSource = Rules(rawValue: Int64(rule)!).isSubset(of: .losingSource)
      (table, key) = (losesSource ? relation.source : relation.destination, other)
      guard let next = try self.row(table, key, upTo: row.batch) else { break }
      row = next
    }
    return (steps, row.isOwn && row.rule == nil)
  }
}
