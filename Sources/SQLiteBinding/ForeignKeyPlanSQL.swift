package import CascadeSQLite

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
    let stays = stays(step.child, slice)
    if ways.isNode(step.parent) {
      let rows = fromNodes(step, slice).map { "SELECT \(columns) \($0) AND \(stays)" as Query }
      return Table.union(rows)
    }
    let found = fromFound(step, in: "(\(rowsOnPath(to: step.parent, slice))) AS f")
    return "SELECT \(columns) \(found) WHERE \(stays)"
  }

  private func stays(_ child: Int, _ slice: Slice) -> Query {
    if !ways.isNode(child) { return "1" }
    let going: Query = "(SELECT id FROM temp.gone WHERE \(slice.contains("seq")))"
    return ways.nodes[child].isNotListed(going, "w1", numbers)
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

extension Table {
  fileprivate var identityCount: Int { rowid == nil ? primaryKey.count : 1 }
}
