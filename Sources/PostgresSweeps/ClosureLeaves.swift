internal import CascadeModel
internal import CascadePostgres
package import PostgresBinding
internal import PostgresTables

/// Nodes of a table to which one relation leads only have to be counted, if all that follows from them
/// can be counted like that, too. They are most of what goes.
///
/// Such tables are a tree below those whose nodes are in the set one by one. A join of the tables counts
/// them, by keys of their own types.
extension Closure {
  /// The relations whose sources are such nodes.
  func findLeaves() -> Set<Int64> {
    Set(binding.relations.filter { isLeaf($0) }.map(\.number))
  }

  private func isLeaf(_ relation: EdgeRelation, below seen: Set<Int64> = []) -> Bool {
    if seen.contains(relation.number) { return false }
    let table = relation.source
    let others = binding.relations.filter {
      $0.number != relation.number
        && ($0.source.number == table.number || $0.destination.number == table.number)
        && ($0.join != nil || !$0.rules.isDisjoint(with: .deciding)
          || binding.mayKeepDestination($0) || binding.mayKeepSource($0))
    }
    let hasFiles = binding.files.contains { $0.source.number == table.number }
    let isSeen = EdgeEnd.allCases.allSatisfy { !binding.isPartlySeen(table.collection, at: $0) }
    return relation.columns != nil && relation.alternatives.isEmpty && !hasFiles && isSeen
      && relation.destination.number != table.number
      && relation.rules.isDisjoint(with: .deciding.subtracting(.deleteSourceIfDestinationDeleted))
      && relation.rules.contains(.deleteSourceIfDestinationDeleted)
      && !binding.mayKeepDestination(relation) && !isJournaled(.widowed, relation)
      && others.allSatisfy {
        $0.source.number != table.number && isLeaf($0, below: seen.union([relation.number]))
      }
  }

  /// The relation by which nodes of a table are leaves.
  private func leafRelation(from table: MappedTable) -> EdgeRelation? {
    binding.relations(from: table).first { leafRelations.contains($0.number) }
  }

  /// Which leaves `s` of a relation would go, with the node `g` by which they do: a row of its key's
  /// columns.
  package func leaves(of relation: EdgeRelation) -> String {
    """
    FROM (\(destinations(of: relation))) g, \(relation.edges())
    WHERE \(relation.leads(to: "g")) AND \(isCounted(relation))
    """
  }

  /// The same without the node. The server then reads most of a table once, and looks for each row among the
  /// nodes.
  private func leavesAlone(of relation: EdgeRelation) -> String {
    """
    FROM \(relation.edges()) WHERE EXISTS (SELECT FROM (\(destinations(of: relation))) g
      WHERE \(relation.leads(to: "g"))) AND \(isCounted(relation))
    """
  }

  private func isCounted(_ relation: EdgeRelation) -> String {
    let table = relation.source
    return "\(stays(table, "s")) AND NOT \(leases.holds(table, table.key.text("s")))"
  }

  private func destinations(of relation: EdgeRelation) -> String {
    let table = relation.destination
    let key = zip(table.key.parts(of: "g.key"), table.key.all).map { "\($0) AS \($1.name)" }
    let inSet = """
      SELECT \(key.joined(separator: ", ")) FROM \(scratch[.gone]) g
      WHERE g.collection = \(table.number)
      """
    guard let leaf = leafRelation(from: table), mayHaveLeaves(leaf) else { return inSet }
    let names = table.key.all.map { "s.\($0.name)" }.joined(separator: ", ")
    let nodes = "SELECT \(names) \(leavesAlone(of: leaf))"
    return counts[table.number] == nil ? nodes : "\(inSet) UNION ALL \(nodes)"
  }

  private func mayHaveLeaves(_ relation: EdgeRelation) -> Bool {
    counts[relation.destination.number] != nil
      || leafRelation(from: relation.destination).map(mayHaveLeaves) ?? false
  }

  // MARK: - Counting

  /// Those that may have leaves, each behind the one that leads to its destinations.
  private var orderedLeafRelations: [EdgeRelation] {
    func depth(_ relation: EdgeRelation) -> Int {
      1 + (leafRelation(from: relation.destination).map(depth) ?? 0)
    }
    return binding.relations.filter { leafRelations.contains($0.number) && mayHaveLeaves($0) }
      .sorted { depth($0) < depth($1) }
  }

  /// A node is a leaf by one relation, so it is counted once.
  mutating func countLeaves() throws {
    let relations = orderedLeafRelations
    if relations.isEmpty { return }
    try expectLeaves()
    let sums = relations.map { "(SELECT count(*) \(leavesAlone(of: $0)))" }
    let row = try db.run("SELECT \(sums.joined(separator: ", "))").rows[0]
    leaves = zip(relations, row).compactMap { relation, count in
      count.flatMap { Int($0) }.flatMap { $0 > 0 ? (relation, $0) : nil }
    }
  }

  /// For a few nodes, an index of each table serves.
  private func expectLeaves() throws {
    if counts.values.reduce(0, +) <= 100 { return }
    try scratch.countRows(of: .gone, db)
    try db.execute("SET LOCAL enable_seqscan = on")
  }
}

extension Rules {
  /// The rules by which nodes go or stay.
  fileprivate static let deciding: Rules = [
    .deleteSourceIfDestinationDeleted, .deleteDestinationIfSourceDeleted,
    .deleteSourceIfAllDestinationsDeleted, .deleteDestinationIfAllSourcesDeleted,
    .denyDestinationDeletion, .denySourceDeletion,
  ]
}
