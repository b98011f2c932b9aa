internal import CascadeModel
internal import CascadeEngine
package import CascadeSQLite

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

  init() {}

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

  fileprivate var identityCount: Int { rowid == nil ? primaryKey.count : 1 }
}

/// Rows that the application's foreign keys delete or change along with ours.
///
/// Rows of tables that are not collections go by ON DELETE CASCADE: no rule examines them. Other
/// rows stay, and lose a reference by ON DELETE SET NULL or SET DEFAULT.
package struct ForeignKeyEffect {
  package let table: Table
  /// Selects the rows that a slice affects, as SQL.
  package let rows: (Slice) -> Query
  /// The foreign key by which they lose a reference; nil where the rows go.
  package let lost: Table.ForeignKey?
}

extension Connection {
  /// The tables of these names that can be read.
  package func tables(_ names: [String]) throws -> [Table] {
    if names.isEmpty { return [] }
    let catalog = try Catalog(self)
    return names.compactMap { try? catalog.table($0, in: self).get() }
  }
}

/// The rows that go with a slice by foreign keys that lead out of the model, as SQL.
package struct ForeignKeyPlanSQL {
  private typealias Step = ForeignKeyPlan.KeyLink

  private let ways: ForeignKeyPlan
  private let numbers: NumberedTables

  package init(_ ways: ForeignKeyPlan, _ numbers: NumberedTables) {
    (self.ways, self.numbers) = (ways, numbers)
  }

  /// The rows that go, parents before their children; behind them, the rows that only lose a
  /// reference.
  package func followers() -> [ForeignKeyEffect] {
    ways.followingTables.filter(ways.deletesRows).map { table in
      ForeignKeyEffect(
        table: ways.tables[table], rows: { rows(of: table, in: $0) }, lost: nil)
    }
      + ways.clearingLinks.map { step in
        ForeignKeyEffect(
          table: ways.tables[step.child], rows: { rows(losing: step, in: $0) }, lost: step.key)
      }
  }

  // MARK: - Nodes

  /// The nodes that go with the nodes of the slice. Each query returns the columns that `found`
  /// selects from the node's row `r`, and the node of the slice that it goes with.
  package func nodes(in slice: Slice, _ found: (NodeTable) -> String) -> [Query] {
    ways.linksBackToNodes.map { step in
      let node = ways.nodes[step.child]
      return """
        SELECT \(found(node)), f.g \(fromFound(step, in: "(\(rowsOnPath(to: step.parent, slice))) AS f", "r"))
        WHERE \(node.isNode("r", numbers))
        """
    }
  }

  /// The numbers of the nodes in the slice that would take along a node of `list`.
  package func parents(in slice: Slice, ofThoseIn list: String) -> Query {
    ways.linksBackToNodes.map { step in
      """
      SELECT f.g \(fromFound(step, in: "(\(rowsOnPath(to: step.parent, slice))) AS f", "r"))
      WHERE NOT (\(ways.nodes[step.child].isNotListed(list, "r", numbers)))
      """
    }.joined(separator: "\nUNION ")
  }

  // MARK: - Rows

  private func rows(of child: Int, in slice: Slice) -> Query {
    "SELECT \(identities(of: child)) FROM (\(rowsOnPath(to: child, slice))) AS f WHERE f.t = \(child)"
  }

  /// The rows that stay and lose a reference. A row that goes in a later part of the transaction
  /// loses the reference now. The trash keeps the row in that later part, without the reference.
  private func rows(losing step: Step, in slice: Slice) -> Query {
    let columns = ways.tables[step.child].identityColumns("w1")
    let going: Query = "(SELECT id FROM temp.gone WHERE \(slice.contains("seq")))"
    let stays =
      ways.isNode(step.child) ? ways.nodes[step.child].isNotListed(going, "w1", numbers) : "1"
    if ways.isNode(step.parent) {
      let rows = fromNodes(step, slice).map { "SELECT \(columns) \($0) AND \(stays)" as Query }
      return Table.union(rows)
    }
    let found = fromFound(step, in: "(\(rowsOnPath(to: step.parent, slice))) AS f")
    return "SELECT \(columns) \(found) WHERE \(stays)"
  }

  /// All rows on the way to a table: `t`, the index of their table (negative for a row that is an
  /// edge); `g`, the node that they go with; and the columns that identify them.
  private func rowsOnPath(to table: Int, _ slice: Slice) -> Query {
    let within = ways.tablesOnPath(to: table)
    let first = ways.linksFromNodes.filter { within.contains($0.child) }.flatMap { step in
      fromNodes(step, slice).map {
        "\(selected(step.child, step.isOfEdge ? "-" : "", "g.id")) \($0)" as Query
      }
    }
    let more = ways.linksBetweenFollowing.filter {
      within.contains($0.child) && within.contains($0.parent)
    }.map {
      "\(selected($0.child, "", "f.g")) \(fromFound($0, in: "f"))" as Query
    }
    return """
      WITH RECURSIVE f(t, g, \(identityAliases.joined(separator: ", "))) AS (
        \((first + more).joined(separator: "\nUNION ")))
      SELECT * FROM f
      """
  }

  private func fromNodes(_ step: Step, _ slice: Slice) -> [Query] {
    let parent = ways.nodes[step.parent]
    return numbers.forms(of: parent).map { form in
      """
      FROM temp.gone AS g CROSS JOIN \(parent.row("w0", of: "g.id", form))
      \(children(step)) WHERE \(slice.contains())
      """
    }
  }

  private func fromFound(_ step: Step, in found: Query, _ child: String = "w1") -> Query {
    """
    FROM \(found) CROSS JOIN \(name(step.parent)) AS w0 ON abs(f.t) = \(step.parent)
      AND \(ways.tables[step.parent].identity("w0")) = (\(identities(of: step.parent)))
    \(children(step, child))
    """
  }

  private func children(_ step: Step, _ child: String = "w1") -> String {
    "CROSS JOIN \(name(step.child)) AS \(child) ON "
      + step.key.matches(child, "w0", ways.tables[step.parent])
  }

  // MARK: - Columns

  private func name(_ table: Int) -> String { "main.\(quoted(ways.tables[table].name))" }

  private func selected(_ table: Int, _ sign: String, _ node: String) -> String {
    let own = ways.tables[table]
    let missing = identityAliases.dropFirst(own.identityCount).map { _ in ", NULL" }.joined()
    return "SELECT \(sign)\(table), \(node), \(own.identityColumns("w1"))\(missing)"
  }

  private func identities(of table: Int) -> String {
    identityAliases.prefix(ways.tables[table].identityCount).map { "f.\($0)" }.joined(
      separator: ", ")
  }

  private var identityAliases: [String] {
    (0..<(ways.tables.map(\.identityCount).max() ?? 1)).map { "i\($0)" }
  }
}
