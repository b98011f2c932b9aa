package import CascadeModel

/// A way along the edges of a relation, for what the roots of the model reach.
///
/// An edge leads to its destination. It also leads back to a source that goes with its destination
/// (rules 4 and 16). A join row that is a node lives by its ends; it is no path from one to the other,
/// its edge is.
package struct EdgePath {
  package let relation: EdgeRelation
  /// The end of the edges to which it leads.
  package let end: EdgeEnd

  package var to: MappedTable { relation.table(at: end) }
  package var from: MappedTable { relation.table(at: end.other) }

  /// A query for the nodes to which it leads from the one that a row names by its `collection` and `key`.
  package func ends(of node: String) -> String { nodes(at: end, besides: node) }

  /// The same for the nodes from which it leads there.
  package func beginnings(of node: String) -> String { nodes(at: end.other, besides: node) }

  private func nodes(at end: EdgeEnd, besides node: String) -> String {
    let table = relation.table(at: end)
    let isOther = "\(node).collection = \(relation.table(at: end.other).number)"
    switch end {
    case .source:
      return """
        SELECT \(table.number), \(table.key.text("s")) FROM \(relation.edges())
        WHERE \(isOther) AND \(relation.leads(toText: "\(node).key"))
        """
    case .destination:
      let edges = relation.edges(ofText: "\(node).key")
      return """
        SELECT \(table.number), \(table.key.text("t")) FROM \(edges.from), \(table.name) t
        WHERE \(isOther) AND \(edges.condition) AND \(relation.leads(to: "t"))
        """
    }
  }
}

extension Binding {
  package var paths: [EdgePath] {
    relations.flatMap { relation in
      EdgeEnd.allCases.filter { leads(relation, to: $0) }.map {
        EdgePath(relation: relation, end: $0)
      }
    }
  }

  private func leads(_ relation: EdgeRelation, to end: EdgeEnd) -> Bool {
    end == .destination
      ? !relation.isTie : !relation.allRules.isDisjoint(with: .ofLostDestination)
  }

  /// Whether the roots may reach rows of the table.
  package func isReachable(_ table: MappedTable) -> Bool {
    (collected + roots).contains { $0.number == table.number }
  }

  /// Whether an edge of the relation may be what keeps its node at this end from being unreachable.
  package func mayReach(_ end: EdgeEnd, of relation: EdgeRelation) -> Bool {
    leads(relation, to: end)
      && collected.contains { $0.number == relation.table(at: end).number }
  }

  /// Each table behind those whose rows refer to it, as far as they do not do so in a circle.
  package var sourcesFirst: [MappedTable] {
    var order: [MappedTable] = []
    var seen: Set<Int64> = []
    func visit(_ table: MappedTable) {
      if !seen.insert(table.number).inserted { return }
      for relation in relations(to: table) { visit(relation.source) }
      order.append(table)
    }
    for table in tables.values.sorted(by: { $0.number < $1.number }) { visit(table) }
    return order
  }
}

extension StoreModel {
  /// Whether nodes of a table may go because no root reaches them.
  package func collects(_ table: MappedTable) -> Bool {
    !roots.isEmpty && !roots.contains(table.collection)
      && (table.isManaged || isReachableByModel(table.collection))
  }
}
