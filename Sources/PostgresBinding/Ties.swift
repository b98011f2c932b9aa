package import CascadeModel

/// Relations by which join rows that are nodes go with their ends.
extension EdgeRelation {
  /// None where the join rows are no nodes; nil if one has no number.
  package func ties(_ number: ([String]) throws -> Int64?) rethrows -> [EdgeRelation]? {
    guard let join, let nodes = join.nodes else { return [] }
    let ties = try EdgeEnd.allCases.compactMap { end -> EdgeRelation? in
      let (table, columns) = (table(at: end), join.columns(at: end))
      let names = columns.all.map(\.name)
      let parts = [
        name, nodes.collection, table.collection, EdgeRelation.partOfTie(names),
      ]
      return try number(parts).map { number in
        EdgeRelation(
          number: number, name: name, rules: .deleteSourceIfDestinationDeleted, storage: storage,
          none: none, source: nodes, destination: table, form: .columns(columns), isTie: true)
      }
    }
    return ties.count == EdgeEnd.allCases.count ? ties : nil
  }

  /// Tells a tie apart by the quoted names of its columns.
  package static func partOfTie(_ columns: [String]) -> String {
    "tie: \(columns.joined(separator: ", "))"
  }

  /// Whether it ties join rows to this end of a relation.
  package func isTie(of relation: EdgeRelation, at end: EdgeEnd) -> Bool {
    guard isTie, let join = relation.join, let nodes = join.nodes else { return false }
    return source.number == nodes.number && columns == join.columns(at: end)
      && destination.number == relation.table(at: end).number
  }
}

extension Binding {
  /// The relations whose edges the rows of a table have. Ties are none.
  package func relations(heldBy table: MappedTable) -> [EdgeRelation] {
    relations.filter { $0.holder?.number == table.number && !$0.isTie }
  }
}
