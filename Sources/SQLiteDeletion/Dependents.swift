package import CascadeModel
package import CascadeSQLite
package import SQLiteBinding
package import SQLiteTables
internal import SQLiteRules
internal import SQLiteEdges

/// The dependents of a node: rows and edges that refer to it and can be released in parts.
package enum Dependents {
  /// Rows that lose a reference.
  case references(EdgeRelation, Table)
  /// Rows of a join table, found by one of their ends.
  case joins(EdgeRelation, Table, Table.End, other: Table.End)
  /// Stored edges, and what the values of their sources say about them.
  case edges(EdgeEnd, weight: Int64)

  /// Selects what identifies each row. The weight is how many ordinary rows are released in the
  /// time that one of these takes.
  package typealias DependentQuery = (sql: Query, weight: Int64)

  /// One query for each form of number that the nodes have.
  package func rows(
    _ slice: Slice, _ numbers: NumberedTables, leavesLater: Bool? = nil
  ) -> [DependentQuery] {
    let queries =
      switch self {
      case .references(let relation, let table):
        relation.losingRows(
          of: table, numbers.forms(of: relation.destination), in: slice, numbers)
      case .joins(let relation, let table, let end, let other):
        table.joinRows(
          of: relation, end, other: other, slice, numbers, leavesLater: leavesLater)
      case .edges(let end, _): [LosingEdges(end: end, slice: slice).identities]
      }
    return queries.map { ($0, weight) }
  }

  /// The rows that are written for a slice. A list is written once, however many of its members go.
  package func writtenQueries(_ slice: Slice, _ numbers: NumberedTables) -> [DependentQuery] {
    let rows = rows(slice, numbers)
    guard case .references(let relation, _) = self, relation.isWrittenOnce else { return rows }
    return rows.map { ("SELECT DISTINCT * FROM (\($0.sql))", $0.weight) }
  }

  /// An upper bound: also has the rows that are deleted themselves.
  package func writtenUpperBound(_ slice: Slice, _ numbers: NumberedTables) -> [DependentQuery] {
    guard case .references(let relation, let table) = self else {
      return rows(slice, numbers, leavesLater: false)
    }
    let row = relation.isWrittenOnce ? "DISTINCT \(table.identityColumns("s"))" : "1"
    let gone = numbers.gone.limited(to: slice)
    return numbers.forms(of: relation.destination).map {
      ("SELECT \(row) \(relation.edges(at: .destination, in: gone, $0, numbers))", weight)
    }
  }

  /// Objects whose values lose a reference.
  package static func objects(_ slice: Slice) -> DependentQuery {
    (LosingEdges(end: .destination, slice: slice).objectsToNullify, costlyWeight)
  }

  private var weight: Int64 {
    switch self {
    case .references(let relation, _), .joins(let relation, _, _, _):
      relation.isInLists || relation.hasNotifyRule ? Dependents.costlyWeight : 1
    case .edges(_, let weight): weight
    }
  }

  /// Writing a notice takes so many times longer, and so does writing an object or a list.
  fileprivate static let costlyWeight: Int64 = 16
}

/// Some of a node's dependents: those that the query finds first.
package struct DependentsPart {
  let hanger: Dependents
  private let index: Int
  let slice: Slice
  let most: Int64

  package init(_ hanger: Dependents, _ index: Int, _ slice: Slice, most: Int64) {
    (self.hanger, self.index, self.slice, self.most) = (hanger, index, slice, most)
  }

  func rows(_ numbers: NumberedTables) -> Query {
    "SELECT * FROM (\(hanger.rows(slice, numbers)[index].sql) LIMIT \(bind: most))"
  }
}

extension Writer {
  /// Writes notices, keeps the trash and removes. Returns how many dependents there were.
  package func releaseDependents(_ part: DependentsPart) throws -> Int {
    let count =
      switch part.hanger {
      case .references(let relation, let table): try releaseReferences(of: relation, table, part)
      case .joins(let relation, let table, let end, _):
        try releaseJoinRows(of: relation, table, end, part)
      case .edges(let end, _):
        try releaseDependents(LosingEdges(end: end, slice: part.slice, edgeLimit: part.most))
      }
    current.counts.edgesRemoved += count
    return count
  }

  private func releaseReferences(
    of relation: EdgeRelation, _ table: Table, _ part: DependentsPart
  ) throws -> Int {
    let rows = part.rows(current.numbers)
    if relation.hasNotifyRule {
      for effect in RuleEffect.all(.notify) where effect.lostEnd == .destination {
        let rows = "\(relation.source.rows) AS s WHERE \(table.identity("s"))"
        try collectNotices(of: relation, effect, rows, part)
      }
      try writeCollectedNotices()
    }
    if keepsTrash { try trashReferences(of: relation, [rows], part.slice) }
    let count = try nullify(relation, of: table, in: rows, part.slice)
    if relation.isInLists { try db.deleteListed(relation, part.slice, most: count) }
    return count
  }

  private func releaseJoinRows(
    of relation: EdgeRelation, _ table: Table, _ end: Table.End, _ part: DependentsPart
  ) throws -> Int {
    if relation.hasNotifyRule {
      try stageOtherEnds(of: relation, table, end, part)
      try writeCollectedNotices()
    }
    let rows = part.rows(current.numbers)
    if keepsTrash { try trashSideRows(of: table, [rows]) }
    return try deleteJoins(of: table, in: rows)
  }

  private func stageOtherEnds(
    of relation: EdgeRelation, _ table: Table, _ end: Table.End, _ part: DependentsPart
  ) throws {
    guard case .join(_, let source, let destination) = relation.form,
      let sourceReference = relation.sourceReference
    else { return }
    for effect in RuleEffect.all(.notify) {
      let lost = effect.lostEnd
      if end != (lost == .source ? source : destination, relation[lost]) { continue }
      let otherRow =
        lost == .source
        ? relation.destinationRow
        : "CROSS JOIN \(relation.source.rows) AS s ON "
          + relation.source.hasKey("s", sourceReference)
      let rows =
        "main.\(quoted(table.name)) AS j \(otherRow) WHERE \(relation.isEdge) "
        + "AND \(table.identity("j"))"
      try collectNotices(of: relation, effect, rows, part)
    }
  }

  /// Collects the notices for the other ends of a part, found by its rows. All of them lose the
  /// only node of the slice.
  private func collectNotices(
    of relation: EdgeRelation, _ effect: RuleEffect, _ rows: String, _ part: DependentsPart
  ) throws {
    let (end, numbers) = (effect.affectedEnd, current.numbers)
    try collectRelationNotices(of: relation, effect) {
      try db.run(
        """
        INSERT INTO temp.staged(id, key, row, collection, via, name, rule, asks)
        SELECT \(relation.numberKeyAndRow(of: end, numbers)), \(relation[end].id),
          (SELECT g.id FROM temp.gone AS g WHERE \(part.slice.contains())),
          \(relation.nameId), \(effect.bit), 1
        FROM \(rows) IN (\(part.rows(numbers)))
        """)
    }
  }

  private func releaseDependents(_ edges: LosingEdges) throws -> Int {
    if !rulesInUse.isDisjoint(with: .notifying) {
      for effect in RuleEffect.all(.notify) where effect.lostEnd == edges.end {
        try collectEdgeNotices(edges.rows, effect)
      }
      try writeCollectedNotices()
    }
    if keepsTrash {
      try trashLosingEdges(edges)
      try trashIdentities(edges.slice)
    }
    try storeDanglingReferences(edges)
    if edges.end == .destination { try nullifyReferences(edges) }
    try journal(edges)
    try db.run("DELETE FROM main.cascade_edge AS e WHERE \(edges.condition)")
    return db.changes
  }

  package var dependentGroups: [Dependents] {
    binding.edgeRelations.flatMap { $0.dependentGroups(binding, current) } + storedDependents
  }

  /// Stored edges never wait for the next plan. Only rows of the application do.
  private var storedDependents: [Dependents] {
    if current.numbers.tablesInNodes.isEmpty { return [] }
    let isDear = !identities.counters.rulesSeen.isDisjoint(with: .notifying)
    return EdgeEnd.allCases.map { .edges($0, weight: isDear ? Dependents.costlyWeight : 1) }
  }
}

extension EdgeRelation {
  fileprivate var hasNotifyRule: Bool { !rules.isDisjoint(with: .notifying) }

  /// Whether a row that loses several members at once is written once. No notice is due for each of
  /// them.
  fileprivate var isWrittenOnce: Bool { isInLists && !hasNotifyRule }

  /// None where the other kind of sweep has to follow the loss, or where a trigger or constraint of
  /// the application may refuse it.
  func dependentGroups(_ binding: Binding, _ current: TransactionState) -> [Dependents] {
    let others =
      current.sweep.followedRules == .all ? [] : rules.subtracting(current.sweep.followedRules)
    let isNews = !others.isDisjoint(with: [.cascading, .counting])
    if binding.hasTriggers || isNews { return [] }
    switch form {
    case .join:
      guard let (table, ends) = binding.joinRowsWithoutNodes(of: self) else { return [] }
      return ends.filter { table.hasIndex(on: $0.end.columns) }
        .map { .joins(self, table, $0.end, other: $0.other) }
    case .foreignKey: return []
    case .column, .json:
      guard rules.contains(.nullifySourceIfDestinationDeleted), let table = source.table,
        isInLists ? current.numbers.hasLists : isIndexed, table.allowsNull(columnsWithType)
      else { return [] }
      return [.references(self, table)]
    }
  }
}

extension Table {
  /// Whether these columns may become NULL, whatever else the row contains.
  func allowsNull(_ names: [String]) -> Bool {
    !hasChecks && !columns.contains(where: \.isGenerated)
      && !uniqueKeys.contains(where: \.hasExpressions)
      && !names.contains { name in
        column(name)?.isRequired != false
          || primaryKey.contains { $0.folded == name.folded }
      }
  }
}

extension TransactionState {
  /// Whether the rows that refer to the node by this relation stay as they are until the node is
  /// gone.
  func keepsReferencesUntilGone(_ relation: EdgeRelation, _ binding: Binding) -> Bool {
    step.isHighFanOut && !relation.dependentGroups(binding, self).isEmpty
  }
}
