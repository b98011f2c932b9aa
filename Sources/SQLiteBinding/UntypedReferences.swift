package import CascadeSQLite

/// References to one of several tables, where no type says which.
///
/// 1. Such a reference leads to a node in each of the tables that has its key. Each table has a
///    relation of its own, which knows the others.
/// 2. The reference is lost when the last of these nodes goes. Until then, no rule for the loss of a
///    destination applies to it.
/// 3. It dangles if no table has its key. The first table whose key it may be stands for all.
extension EdgeRelation {
  private var others: [NodeTable] { alternatives.filter { $0.id != destination.id } }

  /// Whether no other table has a node that the reference leads to.
  package var leadsNowhereElse: String { leadsNowhereElse { _ in "1" }.text }

  /// Whether no other table has such a node that stays.
  package func leadsNowhereElse(staying numbers: NumberedTables) -> String {
    leadsNowhereElse { Query($0.stays("a", numbers)) }.text
  }

  /// Whether no other table has such a node outside of the slice. One that goes later may stay when
  /// its turn comes.
  package func leadsNowhereElse(but slice: Slice, _ numbers: NumberedTables) -> Query {
    let going: Query = "(SELECT g.id FROM temp.gone AS g WHERE \(slice.contains()))"
    return leadsNowhereElse { $0.isNotListed(going, "a", numbers) }
  }

  private func leadsNowhereElse(_ condition: (NodeTable) -> Query) -> Query {
    let missing = others.map { table -> Query in
      """
      NOT EXISTS (SELECT 1 FROM \(table.rows) AS a
        WHERE \(table.hasKey("a", reference)) AND \(condition(table)))
      """
    }
    return missing.isEmpty ? "1" : missing.joined(separator: " AND ")
  }

  /// The same for a trigger.
  package var leadsNowhereElseInTrigger: String {
    let missing = others.map { table in
      "NOT EXISTS (SELECT 1 FROM \(table.rowsInTrigger) AS a WHERE \(table.hasKey("a", reference)))"
    }
    return missing.isEmpty ? "1" : missing.joined(separator: " AND ")
  }

  // MARK: - References to nothing

  /// Whether a reference to nothing is reported as one of this relation. A value may be a key of one
  /// table and none of another: a number, where the other has texts.
  package var standsForNothing: String {
    let tables = alternatives.prefix { $0.id != destination.id }.map {
      "NOT (\(leading(to: $0).isReference(reference)))"
    }
    return tables.isEmpty ? "1" : tables.joined(separator: " AND ")
  }

  /// Whether it may report any.
  package var mayStandForNothing: Bool {
    alternatives.prefix { $0.id != destination.id }.allSatisfy {
      leading(to: $0).isReference(reference) != isReference(reference)
    }
  }

  /// Whether it led to a node of another table that is known to be gone. That node's deletion decides
  /// about the reference.
  package var ledToDead: String {
    let dead = others.map { $0.isListed("temp.dead", by: reference) }
    return dead.isEmpty ? "0" : "(\(dead.joined(separator: " OR ")))"
  }

  /// Whether a reference is counted as an edge of this relation: each only once.
  package var countsReferences: Bool { alternatives.first.map { $0.id == destination.id } ?? true }

  private func leading(to table: NodeTable) -> EdgeRelation {
    var leading = self
    leading.destination = table
    return leading
  }
}
