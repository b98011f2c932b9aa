internal import CascadeModel

/// The foreign keys that take rows outside of the model along. They begin with those that refer to
/// nodes, follow all that cascade, even several times through the same table, and end at keys that
/// lead to nodes again.
struct ForeignWays: Sendable {
  struct Step {
    let child: Int
    let key: Table.ForeignKey
    let parent: Int
    /// A row of a join table is an edge, and is deleted by the rules.
    let isOfEdge: Bool
  }

  private(set) var nodes: [NodeTable] = []
  /// The tables of the nodes come first.
  private(set) var tables: [Table] = []
  private(set) var starts: [Step] = []
  private(set) var steps: [Step] = []
  /// Keys that lead from rows that follow back to nodes.
  private(set) var detours: [Step] = []
  /// Keys by which a row stays and loses its reference.
  private(set) var losses: [Step] = []
  /// The tables of the rows that follow, parents before their children as far as foreign keys do
  /// not form cycles.
  private(set) var reached: [Int] = []

  static let none = ForeignWays()

  private init() {}

  /// `following`: the tables with a foreign key that deletes or changes rows.
  init(_ binding: Binding, _ following: [Table]) {
    nodes = binding.collections.values.sorted { $0.id < $1.id }.filter { $0.table != nil }
    let parents = nodes.map { $0.table! }
    tables = parents + following.filter { child in !parents.contains { $0.isSame(as: child) } }
    let all = tables.indices.flatMap { child in
      tables[child].foreignKeys.flatMap { key in
        tables.indices.filter { key.refers(to: tables[$0]) }.map {
          Step(
            child: child, key: key, parent: $0, isOfEdge: binding.isOfEnd(key, of: tables[child]))
        }
      }
    }
    let cascades = all.filter { $0.key.onDelete == .cascade }
    starts = cascades.filter { isNode($0.parent) && !isNode($0.child) }
    steps = cascades.filter { !isNode($0.parent) && !isNode($0.child) }
    reached = findReached()
    detours = cascades.filter { reached.contains($0.parent) && isNode($0.child) }
    losses = all.filter {
      $0.key.onDelete.loses && !$0.isOfEdge && (isNode($0.parent) || reached.contains($0.parent))
    }
  }

  /// Whether these keys delete rows of a table, other than as edges.
  func takes(_ child: Int) -> Bool {
    starts.contains { $0.child == child && !$0.isOfEdge }
      || steps.contains { $0.child == child && reached.contains($0.parent) }
  }

  /// The tables through which rows of a table are found, and the table itself.
  func onTheWay(to table: Int) -> Set<Int> {
    closed([table]) { ($0.child, $0.parent) }.intersection(reached)
  }

  func isNode(_ table: Int) -> Bool { table < nodes.count }

  private func findReached() -> [Int] {
    let found = closed(Set(starts.map(\.child))) { ($0.parent, $0.child) }
    return inOrder(found.sorted()) { child, parent in
      steps.contains { $0.child == child && $0.parent == parent }
    }.reversed()
  }

  private func closed(_ tables: Set<Int>, _ ends: (Step) -> (from: Int, to: Int)) -> Set<Int> {
    let more = steps.map(ends).filter { tables.contains($0.from) }.map(\.to)
    let all = tables.union(more)
    return all == tables ? all : closed(all, ends)
  }
}

extension Table {
  func isSame(as other: Table) -> Bool { name.folded == other.name.folded }
}
