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
    (self.end, self.slice, self.edgeLimit) = (end, slice, edgeLimit)
  }

  package static func all(of slice: Slice) -> [LosingEdges] {
    EdgeEnd.allCases.map { LosingEdges(end: $0, slice: slice) }
  }

  /// The FROM and WHERE clauses, without the first keyword.
  package var rows: Query { "\(edgesClause) WHERE \(condition)" }

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
    "SELECT \(LosingEdges.identity) FROM \(LosingEdges(end: end, slice: slice).rows)"
  }

  package static let identity = "e.source, e.name, e.destination, e.origin"
}

extension Table {
  /// The rows of a join table that go with nodes of one end, one query for each way in which these
  /// are numbered. A value that refers to nothing does not go with a node of that key. With
  /// `leavesLater`, a join row whose ends both go is deleted with the later one; nil: if the slice
  /// has an end.
  package func joinRows(
    of relation: EdgeRelation, _ end: End, other: End, _ slice: Slice, _ numbers: NumberedTables,
    leavesLater: Bool? = nil
  ) -> [Query] {
    let (named, otherNamed) = (
      Reference(end.columns, of: "j", in: self), Reference(other.columns, of: "j", in: self)
    )
    let otherGoesLater = other.table.isGoingReference(
      otherNamed.hasSeveralValues ? otherNamed : Reference(other.table.asKey(otherNamed)), numbers,
      where: "g.seq > \(bind: slice.high)")
    let isEdgeOfOther = relation.isSome(joined: other.columns)
    let leavesLater = leavesLater ?? (slice.high != .max)
    let isLast: Query = leavesLater ? "NOT (\(otherGoesLater)\(isEdgeOfOther))" : "1"
    let isSome = relation.isSome(joined: end.columns)
    return numbers.forms(of: end.table).map { form in
      """
      SELECT \(identityColumns("j"))
      FROM temp.gone AS g CROSS JOIN \(end.table.node(form, "g.id"))
      CROSS JOIN main.\(quoted(name)) AS j
        ON \(end.table.isReferenceToNode(by: named, form))
      WHERE \(slice.contains()) AND \(isLast)\(isSome)
      """
    }
  }
}

extension Binding {
  /// The join table of a relation if its rows are not nodes, and its rows that go with the slice.
  package func goingJoinRows(
    of relation: EdgeRelation, _ slice: Slice, _ numbers: NumberedTables, leavesLater: Bool? = nil
  ) -> (table: Table, rows: [Query])? {
    guard let (table, ends) = joinRowsWithoutNodes(of: relation) else { return nil }
    let rows = ends.flatMap {
      table.joinRows(
        of: relation, $0.end, other: $0.other, slice, numbers, leavesLater: leavesLater)
    }
    return (table, rows)
  }
}

extension EdgeRelation {
  /// The rows of `table` (the source's) that stay and refer to nodes that go.
  package func losingRows(
    of table: Table, _ forms: [NumberForm], in slice: Slice, _ numbers: NumberedTables
  ) -> [Query] {
    forms.map { form in
      """
      SELECT \(table.identityColumns("s"))
      \(edges(at: .destination, in: numbers.gone.limited(to: slice), form, numbers))
      AND \(stays(.source, numbers)) AND \(leadsNowhereElse(but: slice, numbers))
      """
    }
  }
}

/// Counts the edges that a sweep would remove with the nodes in `temp.gone`, as the sweep itself
/// counts (`Removal.swift`).
extension Connection {
  package func edgesOfGone(
    _ binding: Binding, _ numbers: NumberedTables, _ slice: Slice
  ) throws(SQLiteError) -> Int {
    var kinds = [LosingEdges.all(of: slice).map(\.identities)]
    var joins: [String: [Query]] = [:]
    for relation in binding.edgeRelations {
      if let (table, rows) = binding.goingJoinRows(of: relation, slice, numbers) {
        joins[table.name, default: []] += rows
      } else if relation.rules.contains(.nullifySourceIfDestinationDeleted),
        let table = relation.source.table
      {
        let forms = numbers.forms(of: relation.destination)
        kinds.append(relation.losingRows(of: table, forms, in: slice, numbers))
      }
    }
    var count: Int64 = 0
    for rows in kinds + joins.values {
      count += try integer("SELECT count(*) FROM (\(rows.joined(separator: " UNION ")))") ?? 0
    }
    return Int(count)
  }
}
