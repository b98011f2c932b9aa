package import CascadeModel
package import CascadeEngine

/// One count of the nodes at the other ends of edges, for which the model has bounds.
package struct Judgement {
  package let demand: Demand
  /// Whose other ends are counted: for `unique`, the destinations.
  package let subject: MappedTable
  /// The type of the objects that are judged; nil: all.
  let subjectType: String?
  package let outgoing: [EdgeRelation]
  package let incoming: [EdgeRelation]
  package let isUnique: Bool
  /// The types of the objects at the other ends that count, by the number of their table; nil: all.
  fileprivate let otherTypes: [Int64: [String]]

  /// Whether the row of a table counts at the other end.
  package func counts(_ table: MappedTable, _ row: String) -> String {
    otherTypes[table.number].map { isOne(of: $0, row) } ?? "true"
  }

  /// Whether the row of the subject is judged.
  package func judges(_ row: String) -> String {
    subjectType.map { isOne(of: [$0], row) } ?? "true"
  }

  /// Whether too few edges violate it.
  fileprivate var hasMinimum: Bool { !isUnique && demand.constraint.hasMinimum }

  /// A reference in columns of a row is at most one edge.
  fileprivate var isKept: Bool {
    !isUnique && !hasMinimum && demand.constraint.max == 1 && incoming.isEmpty
      && outgoing.allSatisfy { $0.columns != nil }
      && Set(outgoing.map(\.storage)).count < 2
  }
}

extension Binding {
  /// What cannot be seen is not judged: a demand that concerns a table that is missing asks for
  /// nothing.
  package func makeJudgements(_ model: StoreModel) -> [Judgement] {
    Demand.all(in: model).flatMap { demand -> [Judgement] in
      let constraint = demand.constraint
      guard let own = tables[demand.collection], isSeen(demand) else { return [] }
      let others = demand.others.compactMap { tables[$0.collection] }
      if others.count < demand.others.count { return [] }
      let types = Dictionary(grouping: zip(demand.others, others)) { $0.1.number }.compactMapValues
      {
        let types = $0.map(\.0.type)
        return types.contains(nil) ? nil : types.compactMap(\.self)
      }
      let bounded = Judgement(
        demand: demand, subject: own, subjectType: demand.type,
        outgoing: relations(constraint.outgoing, [own], others),
        incoming: relations(constraint.incoming, others, [own]), isUnique: false,
        otherTypes: types)
      let unique = zip(demand.others, others).map { other, table in
        Judgement(
          demand: demand, subject: table, subjectType: other.type, outgoing: [],
          incoming: relations(constraint.outgoing, [own], [table]), isUnique: true,
          otherTypes: demand.type.map { [own.number: [$0]] } ?? [:])
      }
      let isBounded = constraint.isBounded && !bounded.isKept
      return (isBounded ? [bounded] : []) + (constraint.unique ? unique : [])
    }
  }

  private func isSeen(_ demand: Demand) -> Bool {
    !stopped.relationships.contains {
      $0.name == demand.constraint.outgoing && $0.source == demand.collection
        || $0.name == demand.constraint.incoming && $0.destination == demand.collection
    }
  }

  private func relations(
    _ name: String?, _ sources: [MappedTable], _ destinations: [MappedTable]
  ) -> [EdgeRelation] {
    relations.filter { relation in
      relation.name == name && !relation.isTie
        && sources.contains { $0.number == relation.source.number }
        && destinations.contains { $0.number == relation.destination.number }
    }
  }

  /// The numbers of the relations of which a node may have too few edges, if they lose this end.
  package func needed(by end: EdgeEnd) -> Set<Int64> {
    let counted = judgements.filter(\.hasMinimum).flatMap {
      end == .source ? $0.incoming : $0.outgoing
    }
    return Set(counted.map(\.number))
  }
}
