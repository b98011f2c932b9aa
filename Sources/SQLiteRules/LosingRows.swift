internal import CascadeModel
package import CascadeSQLite
package import SQLiteBinding

/// Rows that lose an edge when nodes are deleted.

extension Table {
  /// The rows of a join table that go with nodes of one end, one query for each way in which these
  /// are numbered. A value that refers to nothing does not go with a node of that key. With
  /// `leavesLater`, a join row whose ends both go is deleted with the later one.
  package func joinRows(
    of relation: EdgeRelation, _ end: End, other: End, _ slice: Slice, _ numbers: NumberedTables,
    leavesLater: Bool
  ) -> [Query] {
    let (named, otherNamed) = (
      Reference(end.columns, of: "j", in: self), Reference(other.columns, of: "j", in: self)
    )
    let otherGoesLater = other.table.isGoingReference(
      otherNamed.hasSeveralValues ? otherNamed : Reference(other.table.asKey(otherNamed)), numbers,
      where: "g.seq > \(bind: slice.high)")
    let isEdgeOfOther = relation.isSome(joined: other.columns)
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
