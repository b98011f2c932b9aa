package import CascadeModel
internal import CascadeEngine
internal import CascadeSQLite

extension Binding {
  /// Relations for the application's foreign keys between nodes. SQLite follows or enforces these
  /// keys when Cascade deletes, so the rules must see them beforehand: ON DELETE CASCADE as rule 4,
  /// a refusal as rule 128.
  func bindForeignKeys(_ numbers: some Numbering) throws -> [EdgeRelation] {
    try collections.values.sorted { $0.id < $1.id }.flatMap { child in
      try (child.table?.foreignKeys ?? []).compactMap { key -> EdgeRelation? in
        guard let (parent, form) = end(of: key), let rules = rules(of: key, child, parent) else {
          return nil
        }
        let name = "FOREIGN KEY (\(key.columns.joined(separator: ", ")))"
        return EdgeRelation(
          name: name, nameId: try numbers.nameId(name), rules: rules, kind: .column,
          source: child, destination: parent, form: form, relationship: nil)
      }
    }
  }

  /// The collection that a foreign key refers to, and the form of the reference.
  private func end(of key: Table.ForeignKey) -> (parent: NodeTable, form: EdgeRelation.Form)? {
    if let parent = parent(of: key), let columns = parent.columns(of: key) {
      return (parent, .column(columns))
    }
    guard let parent = collections.values.first(where: { $0.table.map(key.refers) ?? false })
    else { return nil }
    return key.fits(parent.table!) ? (parent, .foreignKey(key)) : nil
  }

  /// The collection whose key the foreign key refers to.
  func parent(of key: Table.ForeignKey) -> NodeTable? {
    collections.values.first { $0.columns(of: key) != nil }
  }

  private func rules(
    of key: Table.ForeignKey, _ child: NodeTable, _ parent: NodeTable
  ) -> Rules? {
    switch key.onDelete {
    case .cascade: return .deleteSourceIfDestinationDeleted
    case .setNull, .setDefault:
      // A node that lost its key would be gone, even if something holds it.
      return key.columns.contains(where: child.hasInKey) ? .denyDestinationDeletion : nil
    case .noAction, .restrict:
      // No denial is needed for a reference that the rules take away first, or that is denied
      // already.
      let isAnswered = edgeRelations.contains {
        $0.source == child
          && ($0.nullifies(key)
            || $0.rules.contains(.denyDestinationDeletion)
              && $0.destination == parent && $0.form == parent.columns(of: key).map { .column($0) })
      }
      return isAnswered ? nil : .denyDestinationDeletion
    }
  }

  /// Relations for join tables that are collections too. A join row is a node then, and is deleted
  /// with either end. If it is deleted alone, the edge that it stands for has lost its source.
  func joinRows() -> [EdgeRelation] {
    edgeRelations.flatMap { relation -> [EdgeRelation] in
      guard case .join(let table, let source, let destination) = relation.form,
        let rows = collection(in: table)
      else { return [] }
      func follower(_ columns: [String], _ end: NodeTable, _ rules: Rules) -> EdgeRelation {
        EdgeRelation(
          name: relation.name, nameId: relation.nameId,
          rules: rules.union(.deleteSourceIfDestinationDeleted), kind: .join, source: rows,
          destination: end, form: .column(columns), relationship: nil)
      }
      return [
        follower(source, relation.source, []),
        follower(destination, relation.destination, relation.rules.intersection(.ofLostSource)),
      ]
    }
  }

  /// Whether no other row that stays holds the same edge as the join row `s`. A row
  /// that is not a join row is always an edge of its own.
  private func isLastForEdge(of relation: EdgeRelation, _ numbers: NumberedTables) -> String {
    guard let columns = columnsOfEdge(to: relation) else { return "1" }
    let isSame = columns.map { "o.\(quoted($0)) = s.\(quoted($0))" }.joined(separator: " AND ")
    return """
      NOT EXISTS (SELECT 1 FROM \(relation.source.rows) AS o
        WHERE \(isSame) AND \(relation.source.isNotListed("temp.gone", "o", numbers)))
      """
  }

  /// Whether the join rows are nodes, which count for their edges.
  package func hasNodesAsRows(_ relation: EdgeRelation) -> Bool {
    relation.joinTable.map { collection(in: $0) != nil } ?? false
  }

  /// Whether edges of this relation hold their destination. A join row that is a node does so for
  /// the edge that it stands for, which leads to one of the ends. With the other end it is only
  /// deleted.
  package func countsAtDestination(_ relation: EdgeRelation) -> Bool {
    if hasNodesAsRows(relation) { return false }
    let isJoinRow = relation.kind == .join && relation.relationship == nil
    return !isJoinRow || columnsOfEdge(to: relation) != nil
  }

  /// The columns of both ends of the edge for which the join rows stand, if these are nodes, and the
  /// relation leads from them to the destination of that edge.
  private func columnsOfEdge(to relation: EdgeRelation) -> [String]? {
    guard relation.kind == .join, case .column(let destination, nil) = relation.form else {
      return nil
    }
    return edgeRelations.lazy.compactMap { join in
      guard case .join(relation.source.table, let source, destination) = join.form,
        join.nameId == relation.nameId
      else { return nil }
      return source + destination
    }.first
  }

  /// Whether the edge of the join row `j` still exists. A request to delete the row removes the
  /// edge, which has then lost its source, whatever happens to its destination.
  package func edgeStillExists(_ relation: EdgeRelation, _ numbers: NumberedTables) -> String {
    relation.joinTable.flatMap(collection)?.isNotListed("temp.dead", "j", numbers) ?? "1"
  }

  /// Whether an edge loses this end with the nodes that go: it was not removed before, no other row
  /// holds it, and its reference leads to no other node that stays.
  package func isLosing(
    _ end: EdgeEnd, _ relation: EdgeRelation, _ numbers: NumberedTables
  ) -> String {
    end == .source
      ? isLastForEdge(of: relation, numbers)
      : "\(edgeStillExists(relation, numbers)) AND \(relation.leadsNowhereElse(staying: numbers)) "
        + "AND \(relation.isNotWaiting(numbers))"
  }

  /// The join table of a relation if its rows are not nodes, and its ends, each with the other end.
  package func joinRowsWithoutNodes(of relation: EdgeRelation) -> (
    table: Table, ends: [(end: Table.End, other: Table.End)]
  )? {
    guard case .join(let table, let from, let to) = relation.form, collection(in: table) == nil
    else { return nil }
    let (source, destination) = ((from, relation.source), (to, relation.destination))
    return (table, [(source, destination), (destination, source)])
  }

  /// Collections whose rows take other rows with them by foreign keys, or are held by them.
  func findParents() -> Set<Int64> {
    let tables = collections.values.compactMap(\.table) + edgeRelations.compactMap(\.joinTable)
    let keys = tables.flatMap(\.foreignKeys)
    let parents = collections.values.filter { parent in
      keys.contains { $0.refers(to: parent.table!) }
    }
    return Set(parents.map(\.id))
  }

  /// Children before their parents, as far as foreign keys do not form cycles.
  func orderedByForeignKeys() -> [NodeTable] {
    childrenBeforeParents(collections.values.sorted { $0.id < $1.id }) { child, parent in
      child.table!.foreignKeys.contains { $0.refers(to: parent.table!) }
    }
  }
}

extension EdgeRelation {
  /// Whether rule 64 takes the reference of a foreign key away before SQLite checks the key.
  func nullifies(_ key: Table.ForeignKey) -> Bool {
    guard case .column(let columns, nil) = form, alternatives.isEmpty else { return false }
    return rules.contains(.nullifySourceIfDestinationDeleted) && columns.contains(where: key.has)
  }
}

extension NodeTable {
  /// The columns of a foreign key in the order of this collection's key; nil if it refers to other
  /// columns.
  func columns(of foreignKey: Table.ForeignKey) -> [String]? {
    guard case .mapped(let table, let key, _) = kind, foreignKey.refers(to: table),
      foreignKey.columns.count == key.count
    else { return nil }
    let named = foreignKey.names(in: table)
    let parts = key.map { part in
      named.firstIndex { $0.folded == part.name.folded }.map { foreignKey.columns[$0] }
    }
    return parts.contains(nil) ? nil : parts.compactMap(\.self)
  }

  func hasInKey(_ column: String) -> Bool {
    columnsOfKey.contains { $0.name.folded == column.folded }
  }
}
