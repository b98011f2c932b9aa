/// References to one of several tables, where nothing tells to which.
///
/// 1. Such a reference leads to a row in each of the tables that has its key. Each table has a relation
///    of its own, which knows the others.
/// 2. The reference is lost when the last of these rows goes. Until then, no rule for the loss of a
///    destination applies to it.
/// 3. It dangles if no table has its key. The first table whose key it may be stands for all.
package struct Alternative {
  /// Of the relation.
  package let number: Int64
  package let table: MappedTable
  /// The columns of the reference, as they name a key of this table.
  package let columns: Columns
  /// Whether the model lists it before the relation that knows it.
  package let isBefore: Bool

  package init(number: Int64, table: MappedTable, columns: Columns, isBefore: Bool) {
    (self.number, self.table, self.columns, self.isBefore) = (number, table, columns, isBefore)
  }

  fileprivate func isThere(text key: String) -> String {
    guard columns.all.count == 1, columns.all[0].isText else { return table.has(key) }
    return "CASE WHEN \(columns.all[0].family.isKey(key)) THEN \(table.has(key)) END"
  }
}

extension EdgeRelation {
  /// That no other table has a row, for which a condition on `a` holds, to which the reference of the
  /// row `s` leads.
  func leadsNowhereElse(
    in row: String = "s", where condition: (MappedTable) -> String? = { _ in nil }
  ) -> [String] {
    alternatives.map { other in
      let conditions = [other.columns.equal(row, other.table.key, "a"), condition(other.table)]
      return """
        NOT EXISTS (SELECT FROM \(other.table.name) a
          WHERE \(conditions.compactMap(\.self).joined(separator: " AND ")))
        """
    }
  }

  /// What to append to a condition for an edge, so that it has nowhere else to lead to.
  package func andNowhereElse(
    in row: String = "s", where condition: (MappedTable) -> String? = { _ in nil }
  ) -> String {
    leadsNowhereElse(in: row, where: condition).map { " AND \($0)" }.joined()
  }

  /// Whether a reference of the row `s` to nothing is told of as one of this relation. A value may be
  /// a key of one table and none of another.
  package var standsForNothing: String {
    let earlier = alternatives.filter(\.isBefore).map { "NOT (\($0.columns.isComplete("s")))" }
    return earlier.isEmpty ? "true" : earlier.joined(separator: " AND ")
  }

  /// Whether the references of a row are counted as edges of this relation: each only once.
  package var countsReferences: Bool { !alternatives.contains(where: \.isBefore) }

  /// What makes a reference an edge that is listed: its destination is there, or nothing is.
  package var isListed: String {
    if alternatives.isEmpty { return isEdge() }
    let leads = "EXISTS (SELECT FROM \(destination.name) t WHERE \(leads(to: "t")))"
    return "\(isEdge()) AND (\(leads) OR \(standsForNothing)\(andNowhereElse()))"
  }

  /// Whether a row has the key of a destination that a text names.
  package func isThere(text key: String) -> String {
    let all = [destination.has(key)] + alternatives.map { $0.isThere(text: key) }
    return "(\(all.joined(separator: " OR ")))"
  }

  /// The numbers of all relations of the same reference, as a list.
  package var numbers: String {
    ([number] + alternatives.map(\.number)).map { "\($0)" }.joined(separator: ", ")
  }

  /// The numbers of all collections to which it may lead, as a list.
  package var destinationNumbers: String {
    ([destination.number] + alternatives.map(\.table.number)).map { "\($0)" }
      .joined(separator: ", ")
  }
}
