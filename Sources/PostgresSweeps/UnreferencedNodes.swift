package import CascadeModel
internal import CascadeEngine
internal import CascadePostgres
internal import CascadeStore
package import PostgresBinding
package import PostgresTables

/// Nodes that a counting rule would keep, and that nothing refers to: rows of a table that have no
/// edge of any name at one end. No counting rule finds a node that never had one.
package struct UnreferencedNodes {
  package let table: MappedTable
  /// At which end of edges the rows are.
  private let end: EdgeEnd
  private let counted: CountedEnd
  private let binding: Binding
  private let spared: SparedCauses

  /// Nil if the table is not there, or some of its edges cannot be seen.
  package init?(_ counted: CountedEnd, _ binding: Binding, but spared: SparedCauses) {
    self.spared = spared
    guard let table = binding.tables[counted.collection],
      !binding.isPartlySeen(counted.collection, at: counted.end)
    else { return nil }
    (self.table, end, self.counted, self.binding) = (table, counted.end, counted, binding)
  }

  /// What `condition` calls the row.
  package var row: String { end == .source ? "s" : "t" }

  /// Also a reference to nothing is an edge here.
  package var condition: String {
    let edges =
      end == .destination
      ? binding.relations(to: table).filter { !$0.isTie }.map { $0.hasSource() }
      : binding.relations(from: table).filter { !$0.isTie }.map(hasEdge) + files
    let isMeant = [counted.types.map { isOne(of: $0, row) }, isNoRoot].compactMap { $0 }
    return (isMeant + ["NOT (\(([isSpared] + edges).joined(separator: " OR ")))"])
      .joined(separator: " AND ")
  }

  /// Whether it lost an edge by what a held plan owns, or what was given up.
  private var isSpared: String {
    let (key, isEnd) = (table.key.text(row), end == .destination)
    let relations = isEnd ? binding.relations(to: table) : binding.relations(from: table)
    let hasLost = spared.tellOfLoss(
      of: relations.map { "\($0.number)" }.joined(separator: ", "), from: isEnd ? nil : key,
      to: isEnd ? key : nil, as: [isEnd ? .lost : .widowed])
    let isGivenUp = spared.tellOfLoss(of: "\(table.number)", from: key, as: [.gone])
    return "\(hasLost) OR \(isGivenUp)"
  }

  private var isNoRoot: String? {
    counted.rootTypes.isEmpty ? nil : "(\(isOne(of: counted.rootTypes, row))) IS NOT TRUE"
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
    binding.files.filter { $0.source.number == table.number }.map(\.namesAny)
  }
}

extension Closure {
  package mutating func begin(with nodes: UnreferencedNodes) throws {
    let key = nodes.table.key.text(nodes.row)
    counts[nodes.table.number, default: 0] += try store.db.run(
      """
      INSERT INTO \(scratch.into(.gone)) SELECT \(nodes.table.number), \(key), 0
      FROM \(nodes.table.name) \(nodes.row)
      WHERE \(nodes.condition) AND NOT \(leases.holds(nodes.table, key)) ON CONFLICT DO NOTHING
      """
    ).changed
  }
}

extension StoreConnection {
  /// `isFree`: those that need no approval, or the others; nil: all.
  package func unreferencedNodes(isFree: Bool? = nil) throws -> [UnreferencedNodes] {
    let spared = try SparedCauses(self)
    return model.countedEnds
      .filter { isFree == nil || isFree == model.freelyUnreferenced.contains($0.collection) }
      .compactMap { UnreferencedNodes($0, binding, but: spared) }
  }
}

extension Waves {
  /// Returns how many went; nil if none is left. Locks first, as `lock` says.
  package mutating func deleteUnreferenced(_ nodes: UnreferencedNodes, _ limit: Int) throws -> Int?
  {
    let (table, row) = (nodes.table, nodes.row)
    let isFree = "\(nodes.condition) AND NOT \(leases.holds(table, table.key.text(row)))"
    let free = RowRemoval.Selection(row: row, condition: isFree)
    let locked = try lock(table, free, limit, skipsLocked: true)
    if locked.isEmpty { return nil }
    let selection = free.only(locked, of: table)
    let went = try changeUnlessRefused(table, selection, by: .delete) {
      try $0.removal.delete(from: table, $1, because: nil, limit: .max).rows
    }
    count.rows += went
    return went > 0 ? went : nil
  }
}
