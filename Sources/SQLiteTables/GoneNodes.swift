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
  /// The nodes of a slice: all of them, those whose row is `stillThere`, or those whose row `d`
  /// satisfies the condition.
  package func goneNodes(
    of end: NodeTable, _ slice: Slice, _ model: StoreModel, stillThere: Bool = false,
    where condition: Query? = nil
  ) throws(SQLiteError) -> [GoneNode] {
    var nodes: [GoneNode] = []
    for form in NumberForm.allCases where form == .byKey || end.numberBase != nil {
      let row =
        stillThere || condition != nil
        ? "CROSS JOIN \(end.rows) AS d ON \(end.isRow("d", of: "m", form))" : ""
      nodes += try all(
        """
        SELECT g.id, \(end.nodeKey(form)), g.counts
        FROM temp.gone AS g CROSS JOIN \(end.node(form, "g.id"))
        \(row)
        WHERE \(row.isEmpty ? "1" : "g.counts") AND \(slice.contains()) AND \(condition ?? "1")
        """
      ) { row in
        let node = Node(end.collection, row.key(1, in: end.collection, model))
        return GoneNode(id: row.integer(0), node: node, isThere: row.integer(2) != 0)
      }
    }
    return nodes
  }
}
