internal import CascadeModel
internal import CascadeSQLite
extension Binding {
  /// The application's foreign keys between nodes. SQLite follows or refuses them when we delete, so
  /// the rules have to see them beforehand: ON DELETE CASCADE as rule 4, a refusal as rule 128.
  func bindForeignKeys(_ numbers: some Numbering) throws -> [Place] {
    var found: [Place] = []
    for child in collections.values.sorted(by: { $0.id < $1.id }) {
      for key in child.table?.foreignKeys ?? [] {
        guard let (parent, form) = end(of: key), let rules = rules(of: key, child, parent) else {
          continue
        }
        let name = "FOREIGN KEY (\(key.columns.joined(separator: ", ")))"
        found.append(
          Place(
            name: name, nameId: try numbers.number(ofName: name), rules: rules, kind: .column,
            source: child, destination: parent, form: form, relationship: nil))
      }
    }
    return found
  }

  /// What a foreign key refers to, and how.
  private func end(of key: Table.ForeignKey) -> (parent: NodeTable, form: Place.Form)? {
    if key.columns.count == 1, let parent = parent(of: key) {
      return (parent, .column(key.columns[0]))
    }
    let parent = collections.values.first { $0.table.map(key.refers) ?? false }
    guard let parent, key.fits(parent.table!) else { return nil }
    return (parent, .foreignKey(key))
  }

  /// The collection whose key the foreign key refers to.
  func parent(of key: Table.ForeignKey) -> NodeTable? {
    collections.values.first { parent in
      guard case .mapped(let table, let columns, _) = parent.kind, columns.count == 1,
        key.refers(to: table)
      else { return false }
      guard let column = key.parentColumns.first else { return table.isPrimaryKey(columns[0].name) }
      return column.folded == columns[0].name.folded
    }
  }

  private func rules(
    of key: Table.ForeignKey, _ child: NodeTable, _ parent: NodeTable
  ) -> Rules? {
    switch key.onDelete {
    case .cascade: return .deleteSourceIfDestinationDeleted
    case .setNull, .setDefault:
      // A node that lost its key would be gone, whoever holds it.
      return key.columns.contains(where: child.hasInKey) ? .denyDestinationDeletion : nil
    case .noAction, .restrict:
      // A reference that the rules take away first is in nobody's way, and one denial is enough.
      let isAnswered = places.contains {
        $0.source == child && $0.form == .column(key.columns[0])
          && ($0.rules.contains(.nullifySourceIfDestinationDeleted)
            || $0.rules.contains(.denyDestinationDeletion) && $0.destination == parent)
      }
      return isAnswered ? nil : .denyDestinationDeletion
    }
  }
}

extension Binding {
  /// Where a join table is a collection too, a join row is a node, and goes with either end. When it
  /// goes alone, the edge that it is has lost its source (DESIGN 2.3, 1).
  func joinRows() -> [Place] {
    let ofSource: Rules = [
      .deleteDestinationIfSourceDeleted, .deleteDestinationIfAllSourcesDeleted,
    ]
    return places.flatMap { place -> [Place] in
      guard case .join(let table, let source, let destination) = place.form,
        let rows = collection(in: table)
      else { return [] }
      func follower(_ column: String, _ end: NodeTable, _ rules: Rules) -> Place {
        Place(
          name: place.name, nameId: place.nameId,
          rules: rules.union(.deleteSourceIfDestinationDeleted), kind: .join, source: rows,
          destination: end, form: .column(column), relationship: nil)
      }
      return [
        follower(source, place.source, []),
        follower(destination, place.destination, place.rules.intersection(ofSource)),
      ]
    }
  }

  /// Whether no other row that stays says the edge of the join row `s` (DESIGN 2.2); of what is no
  /// join row, each is an edge of its own.
  func isLast(of place: Place, _ numbers: Numbers) -> String {
    guard place.kind == .join, case .column(let destination) = place.form else { return "1" }
    let columns = places.compactMap { join -> String? in
      guard case .join(place.source.table, let source, destination) = join.form,
        join.nameId == place.nameId
      else { return nil }
      return [source, destination].map { "o.\(quoted($0)) = s.\(quoted($0))" }
        .joined(separator: " AND ")
    }
    guard let isSame = columns.first else { return "1" }
    return """
      NOT EXISTS (SELECT 1 FROM \(place.source.rows) AS o
        WHERE \(isSame) AND \(place.source.isOutside("temp.gone", "o", numbers)))
      """
  }

  /// Whether the join rows are nodes, by which their edges are counted.
  func isOfNodes(_ place: Place) -> Bool {
    guard case .join(let table, _, _) = place.form else { return false }
    return collection(in: table) != nil
  }

  /// Whether edges of this place hold their destination. Join rows that are nodes do so for the edge that
  /// they are, which leads to one of the ends; the other end they only go with.
  func countsAtDestination(_ place: Place) -> Bool {
    if isOfNodes(place) { return false }
    guard place.kind == .join, place.relationship == nil, case .column(let column) = place.form
    else { return true }
    return places.contains { join in
      guard case .join(place.source.table, _, column) = join.form else { return false }
      return join.nameId == place.nameId
    }
  }

  /// Whether the edge is there that the join row `j` is. Who deletes the row himself removes the edge,
  /// which then has lost its source, whatever becomes of its destination.
  func isNotRemoved(_ place: Place, _ numbers: Numbers) -> String {
    guard case .join(let table, _, _) = place.form, let rows = collection(in: table) else {
      return "1"
    }
    return rows.isOutside("temp.dead", "j", numbers)
  }

  /// The table whose rows are the edges of a place and no nodes, and its ends, each with the other.
  func sideRows(of place: Place) -> (table: Table, ends: [(end: Table.End, other: Table.End)])? {
    guard case .join(let table, let from, let to) = place.form, collection(in: table) == nil else {
      return nil
    }
    let (source, destination) = ((from, place.source), (to, place.destination))
    return (table, [(source, destination), (destination, source)])
  }

  /// Those whose rows take others with them by foreign keys, or are held by these.
  func findParents() -> Set<Int64> {
    let joins = places.compactMap { if case .join(let join, _, _) = $0.form { join } else { nil } }
    let keys = (collections.values.compactMap(\.table) + joins).flatMap(\.foreignKeys)
    let parents = collections.values.filter { parent in
      keys.contains { $0.refers(to: parent.table!) }
    }
    return Set(parents.map(\.id))
  }

  /// As far as foreign keys do not go in circles.
  func orderedByForeignKeys() -> [NodeTable] {
    inOrder(collections.values.sorted { $0.id < $1.id }) { child, parent in
      child.table!.foreignKeys.contains { $0.refers(to: parent.table!) }
    }
  }
}

/// Children before their parents, as far as they do not refer in circles.
func inOrder<Item: Equatable>(
  _ items: [Item], _ refers: (_ child: Item, _ parent: Item) -> Bool
) -> [Item] {
  var rest = items
  var ordered: [Item] = []
  while !rest.isEmpty {
    let next = rest.firstIndex { parent in
      !rest.contains { $0 != parent && refers($0, parent) }
    }
    ordered.append(rest.remove(at: next ?? 0))
  }
  return ordered
}

extension NodeTable {
  func hasInKey(_ column: String) -> Bool {
    guard case .mapped(_, let key, _) = kind else { return false }
    return key.contains { $0.name.folded == column.folded }
  }
}

extension Table {
  fileprivate func isPrimaryKey(_ column: String) -> Bool {
    primaryKey.count == 1 && primaryKey[0].folded == column.folded
  }
}
