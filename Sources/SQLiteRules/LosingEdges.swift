package import CascadeModel
package import CascadeSQLite
package import SQLiteBinding

/// Stored edges that lose one of their ends with a slice: rows of `cascade_edge`, called `e`.
package struct LosingEdges {
  package let end: EdgeEnd
  package let slice: Slice
  /// Limits the edges to this number; nil: all edges.
  package let edgeLimit: Int64?

  package init(end: EdgeEnd, slice: Slice, edgeLimit: Int64? = nil) {
    self.end = end
    self.slice = slice
    self.edgeLimit = edgeLimit
  }

  package static func all(of slice: Slice) -> [LosingEdges] {
    EdgeEnd.allCases.map { LosingEdges(end: $0, slice: slice) }
  }

  /// The FROM clause, without the keyword.
  package var edgesClause: String {
    let edges = "main.cascade_edge AS e"
    return edgeLimit == nil ? "temp.gone AS g CROSS JOIN \(edges) ON e.\(end) = g.id" : edges
  }

  package var condition: Query {
    guard let edgeLimit else { return slice.contains() }
    return
      "(\(LosingEdges.identity)) IN (SELECT * FROM (\(identities) LIMIT \(bind: edgeLimit)))"
  }

  package var identities: Query {
    """
    SELECT \(LosingEdges.identity) FROM temp.gone AS g
    CROSS JOIN main.cascade_edge AS e ON e.\(end.rawValue) = g.id WHERE \(slice.contains())
    """
  }

  package static let identity = "e.source, e.name, e.destination, e.origin"
}
