internal import Model
internal import SQLite

extension Binding {
  /// The application's foreign keys between nodes. SQLite follows or refuses them when we delete, so
  /// the rules have to see them beforehand: ON DELETE CASCADE as rule 4, a refusal as rule 128.
  func bindForeignKeys(_ numbers: some Numbering) throws -> [Place] {
    var found: [Place] = []
    for child in collections.values.sorted(by: { $0.id < $1.id }) {
      for key in child.table?.foreignKeys ?? [] where key.columns.count == 1 {
        guard let parent = parent(of: key), let rules = rules(of: key, child, parent) else {
          continue
        }
        let name = "FOREIGN KEY (\(key.columns[0]))"
        found.append(
          Place(
            name: name, nameId: try numbers.number(ofName: name), rules: rules, kind: .column,
            source: child, destination: parent, form: .column(key.columns[0]), relationship: nil))
      }
    }
    return found
  }

  /// The collection whose key the foreign key refers to.
  func parent(of key: Table.ForeignKey) -> NodeTable? {
    collections.values.first { parent in
      guard case .mapped(let table, let columns, _) = parent.kind, columns.count == 1,
        key.refers(to: table)
      else { return false }
      guard let column = key.parentColumns.first else { return table.isPrimaryKey(columns[0].name) }
      return column.lowercased() == columns[0].name.lowercased()
    }
  }

  private func rules(
    of key: Table.ForeignKey, _ child: NodeTable, _ parent: NodeTable
  ) -> Rules? {
    switch key.onDelete {
    case "CASCADE": return .deleteSourceIfDestinationDeleted
    case "SET NULL", "SET DEFAULT": return nil
    default:
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

  /// Whether the join rows are nodes, by which their edges are counted.
  func isOfNodes(_ place: Place) -> Bool {
    guard case .join(let table, _, _) = place.form else { return false }
    return collection(in: table) != nil
  }

  /// As far as foreign keys do not go in circles.
  func orderedByForeignKeys() -> [NodeTable] {
    var rest = collections.values.sorted { $0.id < $1.id }
    var ordered: [NodeTable] = []
    while !rest.isEmpty {
      let next = rest.firstIndex { parent in !rest.contains { refers($0, to: parent) } } ?? 0
      ordered.append(rest.remove(at: next))
    }
    return ordered
  }

  private func refers(_ child: NodeTable, to parent: NodeTable) -> Bool {
    child != parent && child.table!.foreignKeys.contains { $0.refers(to: parent.table!) }
  }
}

extension Table {
  fileprivate func isPrimaryKey(_ column: String) -> Bool {
    primaryKey.count == 1 && primaryKey[0].lowercased() == column.lowercased()
  }
}
