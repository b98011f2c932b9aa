internal import CascadeModel

/// The foreign keys that take rows outside of the model along. They begin with those that refer to
/// nodes, follow all that cascade, even several times through the same table, and end at keys that
/// lead to nodes again.
package struct ForeignKeyPlan: Sendable {
  struct KeyLink {
    let child: Int
    let key: Table.ForeignKey
    let parent: Int
    /// A row of a join table is an edge, and is deleted by the rules.
    let isOfEdge: Bool
  }

  private(set) var nodes: [NodeTable] = []
  /// The tables of the nodes come first.
  private(set) var tables: [Table] = []
  private(set) var linksFromNodes: [KeyLink] = []
  private(set) var linksBetweenFollowing: [KeyLink] = []
  /// Keys that lead from rows that follow back to nodes.
  private(set) var linksBackToNodes: [KeyLink] = []
  /// Keys by which a row stays and loses its reference.
  private(set) var clearingLinks: [KeyLink] = []
  /// The tables of the rows that follow, parents before their children as far as foreign keys do
  /// not form cycles.
  private(set) var followingTables: [Int] = []

  static let none = ForeignKeyPlan()

  private init() {}

  /// `following`: the tables with a foreign key that deletes or changes rows.
  init(_ binding: Binding, _ following: [Table]) {
    nodes = binding.collections.values.sorted { $0.id < $1.id }.filter { $0.table != nil }
    let parents = nodes.map { $0.table! }
    tables = parents + following.filter { child in !parents.contains { $0.isSame(as: child) } }
    let all = tables.indices.flatMap { child in
      tables[child].foreignKeys.flatMap { key in
        tables.indices.filter { key.refers(to: tables[$0]) }.map {
          KeyLink(
            child: child, key: key, parent: $0,
            isOfEdge: binding.isJoinKeyToEnd(key, of: tables[child]))
        }
      }
    }
    let cascades = all.filter { $0.key.onDelete == .cascade }
    linksFromNodes = cascades.filter { isNode($0.parent) && !isNode($0.child) }
    linksBetweenFollowing = cascades.filter { !isNode($0.parent) && !isNode($0.child) }
    followingTables = findReached()
    linksBackToNodes = cascades.filter { followingTables.contains($0.parent) && isNode($0.child) }
    clearingLinks = all.filter {
      $0.key.onDelete.clearsReference && !$0.isOfEdge
        && (isNode($0.parent) || followingTables.contains($0.parent))
    }
  }

  /// Whether these keys delete rows of a table, other than as edges.
  func deletesRows(_ child: Int) -> Bool {
    linksFromNodes.contains { $0.child == child && !$0.isOfEdge }
      || linksBetweenFollowing.contains { $0.child == child && followingTables.contains($0.parent) }
  }

  /// The tables through which rows of a table are found, and the table itself.
  func tablesOnPath(to table: Int) -> Set<Int> {
    transitiveClosure([table]) { ($0.child, $0.parent) }.intersection(followingTables)
  }

  func isNode(_ table: Int) -> Bool { table < nodes.count }

  private func findReached() -> [Int] {
    let found = transitiveClosure(Set(linksFromNodes.map(\.child))) { ($0.parent, $0.child) }
    return childrenBeforeParents(found.sorted()) { child, parent in
      linksBetweenFollowing.contains { $0.child == child && $0.parent == parent }
    }.reversed()
  }

  private func transitiveClosure(_ tables: Set<Int>, _ ends: (KeyLink) -> (from: Int, to: Int))
    -> Set<Int>
  {
    let more = linksBetweenFollowing.map(ends).filter { tables.contains($0.from) }.map(\.to)
    let all = tables.union(more)
    return all == tables ? all : transitiveClosure(all, ends)
  }
}

extension Table {
  package func isSame(as other: Table) -> Bool { name.folded == other.name.folded }
}
