package import CascadeModel
package import CascadeSQLite
package import SQLiteTables

/// Stored edges that lose one of their ends with a slice: rows of `cascade_edge`, called `e`.
package struct LosingEdges {
  package let end: End
  package let slice: Slice
  /// Limits the edges to this number, bound behind the slice; nil: all edges.
  package var edgeLimit: Int64?

  package init(end: End, slice: Slice, edgeLimit: Int64? = nil) {
    self.end = end
    self.slice = slice
    self.edgeLimit = edgeLimit
  }

  package enum End: String, CaseIterable {
    case source, destination

    package var other: End { self == .source ? .destination : .source }
    /// The rules by which the node at the other end may go.
    package var deletingRules: Int64 { self == .source ? 40 : 20 }
    package var notifyingRule: Int64 { self == .source ? 1 : 2 }
    package var removal: Removal { self == .source ? .sourceDeleted : .destinationDeleted }
  }

  package static func all(of slice: Slice) -> [LosingEdges] {
    End.allCases.map { LosingEdges(end: $0, slice: slice) }
  }

  package var bound: [Value] { slice.bound + (edgeLimit.map { [.integer($0)] } ?? []) }

  /// The FROM clause, without the keyword.
  package var edgesClause: String {
    let edges = "main.cascade_edge AS e"
    return edgeLimit == nil ? "temp.gone AS g CROSS JOIN \(edges) ON e.\(end) = g.id" : edges
  }

  package func condition(_ names: SliceParameters) -> String {
    guard edgeLimit != nil else { return names.condition }
    return
      "(\(LosingEdges.identity)) IN (SELECT * FROM (\(identities(names)) LIMIT \(names.extraParameter)))"
  }

  package func identities(_ names: SliceParameters) -> String {
    """
    SELECT \(LosingEdges.identity) FROM temp.gone AS g
    CROSS JOIN main.cascade_edge AS e ON e.\(end) = g.id WHERE \(names.condition)
    """
  }

  package static let identity = "e.source, e.name, e.destination, e.origin"
}
