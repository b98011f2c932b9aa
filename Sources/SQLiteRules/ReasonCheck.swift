internal import CascadeModel
package import CascadeSQLite
package import SQLiteBinding
internal import SQLiteTables

/// Whether the reasons for which planned nodes are to go still hold, after other connections have
/// committed.
///
/// The reason is in `temp.gone`: a rule, the edge's name, and the node at its other end (`via`). A
/// node of rule 0 is gone or unreachable itself.
package struct ReasonCheck {
  let binding: Binding
  let numbers: NumberedTables
  /// The kinds of nodes to check.
  let ends: NodeCounts
  /// Whether nodes may go before those that they refer to.
  let leavesFirst: Bool

  package init(
    _ binding: Binding, _ numbers: NumberedTables, _ ends: NodeCounts, leavesFirst: Bool = false
  ) {
    (self.binding, self.numbers, self.ends) = (binding, numbers, ends)
    self.leavesFirst = leavesFirst
  }

  /// Queries for the nodes that have no reason any more. A condition for rows `g` of `temp.gone` is
  /// to be added with AND.
  package var withoutReason: [Query] {
    (ends.has(.none) ? binding.collections.values.map(returned) : [])
      + [
        """
        SELECT g.id FROM temp.gone AS g WHERE g.via IN (SELECT id FROM temp.staying_nodes)
        AND NOT (\(leavesFirst ? 1 : 0) AND g.rule & \(Rules.ofLostDestination.rawValue))
        """ as Query
      ]
      + binding.examinedRelations.flatMap(stillLinked) + noLongerDangling
  }

  /// Nodes whose row was gone and exists again.
  private func returned(_ table: NodeTable) -> Query {
    """
    SELECT g.id FROM temp.gone AS g
    CROSS JOIN temp.known AS k ON k.id = g.id AND k.collection = \(table.id)
    CROSS JOIN \(table.rows) AS d ON \(table.hasKey("d", "k.key"))
    WHERE g.rule = \(Rules.none.bits) AND NOT k.present
    """
  }

  /// Nodes that still have an edge of the name. The plan expected every such edge to be lost before
  /// its node's turn. But the node at the other end may be in the plan too, and stay when its turn
  /// comes.
  private func stillLinked(_ relation: EdgeRelation) -> [Query] {
    var nodes: [Query] = []
    if ends.has(.deleteDestinationIfAllSourcesDeleted) && binding.countsAtDestination(relation) {
      nodes += destinations(of: relation, .deleteDestinationIfAllSourcesDeleted)
    }
    // One lost edge is enough to delete the destination. If its source exists again, the next plan
    // can tell what follows.
    if ends.has(.deleteDestinationIfSourceDeleted)
      && relation.rules.contains(.deleteDestinationIfSourceDeleted)
    {
      nodes += destinations(of: relation, .deleteDestinationIfSourceDeleted).map { edges -> Query in
        "\(edges) AND \(relation.source.mayBeNode("g.via", "s", numbers))"
      }
    }
    if !ends.has(.deleteSourceIfAllDestinationsDeleted) || !relation.countsAtSource { return nodes }
    return nodes
      + ends.forms(of: relation.source).map { form -> Query in
        let edges = relation.edgesFromSources(in: .gone, form)
        return
          "SELECT g.id \(edges) AND g.rule = \(Rules.deleteSourceIfAllDestinationsDeleted.bits) AND g.name = \(relation.nameId)"
      }
  }

  private func destinations(of relation: EdgeRelation, _ rule: Rules) -> [Query] {
    ends.forms(of: relation.destination).map { form -> Query in
      let edges = relation.edgesToDestinations(
        in: numbers.existingReferences(relation), form, numbers)
      return "SELECT g.id \(edges) AND g.rule = \(rule.bits) AND g.name = \(relation.nameId)"
    }
  }

  /// Nodes that were to be deleted with a node they referred to, and no longer refer to any such
  /// node.
  private var noLongerDangling: [Query] {
    let following = binding.examinedRelations.filter {
      $0.rules.contains(.deleteSourceIfDestinationDeleted)
    }
    let counted = binding.examinedRelations.filter { $0.countsAtSource && !$0.leadsToFiles }
    return noLongerDangling(following, .deleteSourceIfDestinationDeleted)
      + noLongerDangling(counted, .deleteSourceIfAllDestinationsDeleted)
  }

  private func noLongerDangling(_ relations: [EdgeRelation], _ rule: Rules) -> [Query] {
    if !ends.has(rule) { return [] }
    return Dictionary(grouping: relations, by: \.source).flatMap { source, relations -> [Query] in
      Dictionary(grouping: relations, by: \.nameId).flatMap { name, alike -> [Query] in
        let missing = alike.map { "NOT \(refersToMissingNode($0))" }
        return ends.forms(of: source).map { form -> Query in
          """
          SELECT g.id FROM temp.gone AS g CROSS JOIN \(source.row("s", of: "g.id", form))
          WHERE g.rule = \(rule.bits) AND g.name = \(name) AND g.via IN (SELECT id FROM temp.gone)
          AND \(missing.joined(separator: " AND "))
          """
        }
      }
    }
  }

  /// Whether the row `s` refers to a node that does not exist, or is to go.
  private func refersToMissingNode(_ relation: EdgeRelation) -> String {
    let table = relation.destination
    let stays = leavesFirst ? " AND \(table.stays("d", numbers))" : ""
    let isMissing = """
      \(relation.isEdge) AND NOT EXISTS (SELECT 1 FROM \(table.rows) AS d
        WHERE \(table.hasKey("d", relation.reference))\(stays)) AND \(leadsNowhereElse(relation))
      """
    if relation.references.isEmpty { return "coalesce(\(isMissing), 0)" }
    return "EXISTS (SELECT 1 FROM (SELECT 1) \(relation.references) WHERE \(isMissing))"
  }

  private func leadsNowhereElse(_ relation: EdgeRelation) -> String {
    leavesFirst ? relation.leadsNowhereElse(staying: numbers) : relation.leadsNowhereElse
  }
}

extension NodeTable {
  /// Whether the row `alias` is, or may be, the node that had this number when the plan was made. A
  /// row that came since has another key, or the same.
  fileprivate func mayBeNode(_ number: String, _ alias: String, _ numbers: NumberedTables) -> String
  {
    let own = self.number(alias, numbers)
    if kind == .managed { return "\(own) = \(number)" }
    guard numbers.byRowid.contains(id) else {
      return """
        NOT EXISTS (SELECT 1 FROM temp.known AS k
          WHERE k.id = \(number) AND (k.collection <> \(id) OR k.key <> +\(key(alias))))
        """
    }
    return """
      (\(row(alias)) > \(numbers.lastRowids[id] ?? 0) OR \(own) = \(number) OR \(own) IN (
        SELECT id FROM temp.gone WHERE seq <= (SELECT seq FROM temp.removed_up_to)))
      """
  }
}
