package import CascadeModel
package import CascadeSQLite
package import SQLiteBinding

/// A node that is to go, or is already gone.
package struct GoneNode {
  package let id: Int64
  package let node: Node
  package let isThere: Bool
}

extension Connection {
  /// The nodes of a slice: all of them, or those whose row `d` still exists and satisfies the
  /// condition.
  package func goneNodes(
    of end: NodeTable, _ slice: Slice, _ model: StoreModel, where condition: Query? = nil
  ) throws(SQLiteError) -> [GoneNode] {
    let isThere: Query = condition.map { "g.counts AND \($0)" } ?? "1"
    var nodes: [GoneNode] = []
    for form in NumberForm.allCases where form == .byKey || end.numberBase != nil {
      let row = "CROSS JOIN \(end.rows) AS d ON \(end.isRow("d", of: "m", form))"
      nodes += try all(
        """
        SELECT g.id, \(end.nodeKey(form)), g.counts
        FROM temp.gone AS g CROSS JOIN \(end.node(form, "g.id"))
        \(condition == nil ? "" : row)
        WHERE \(slice.contains()) AND \(isThere)
        """
      ) { row in
        let node = Node(end.collection, row.key(1, in: end.collection, model))
        return GoneNode(id: row.integer(0), node: node, isThere: row.integer(2) != 0)
      }
    }
    return nodes
  }
}

/// What a row of `temp.gone` is, as SQL. No rule is the reason of the nodes that D begins with.
package enum GoneRow {
  /// The node was gone before.
  package static func wentBefore(_ row: String) -> String {
    "\(row).rule = \(Rules.none.bits) AND NOT \(row).counts"
  }

  /// Cascade deletes the node, and no rule is the reason: no root reaches it, or nothing refers to it.
  package static func isFirst(_ row: String) -> String {
    "\(row).rule = \(Rules.none.bits) AND \(row).counts"
  }

  /// Cascade deletes the node.
  package static func goes(_ row: String) -> String {
    "(\(row).rule <> \(Rules.none.bits) OR \(row).counts)"
  }
}
