package import CascadeModel
package import CascadeSQLite
internal import CascadeStore
package import CascadeEngine
package import SQLiteBinding
package import SQLiteTables

/// Validates the nodes that a transaction touched, at its end.
extension Writer {
  /// Notes a node whose relationships may have changed. A model without constraints pays nothing.
  package func touch(_ id: Int64) throws {
    if facts.demands.isEmpty { return }
    try db.run("INSERT OR IGNORE INTO temp.touched VALUES(?)", .integer(id))
  }

  /// A sweep is not validated.
  package func touchNeighbours() throws {
    if !current.sweep.isSweep { try db.touchNeighbours(facts.demands, binding, current.numbers) }
  }

  /// Touches the neighbours of an object whose type changes: those that count objects by type have
  /// a new count.
  package func touchNeighbours(of id: Int64, unlessOf type: String?) throws {
    try db.run(
      """
      INSERT OR IGNORE INTO temp.touched SELECT other FROM (
        SELECT source AS other FROM cascade_edge WHERE destination = ?1
        UNION ALL SELECT destination FROM cascade_edge WHERE source = ?1)
      WHERE EXISTS (SELECT 1 FROM cascade_node WHERE id = ?1 AND type IS NOT ?2)
      """, .integer(id), .text(type))
  }

  package func validate() throws {
    if facts.demands.isEmpty { return }
    try db.storeKeysOfRows(binding, "SELECT id FROM temp.touched WHERE id < 0")
    var violations: [Reason] = []
    let demands = facts.demands
    let judgements =
      demands.ofTouched ?? demands.all.flatMap { $0.judgements(binding, model, of: .touched) }
    demands.ofTouched = judgements
    for judgement in judgements {
      violations += try judgement.violations(db, model, limit: .max)
    }
    try db.empty(.touched)
    if !violations.isEmpty { throw Rejection(violations) }
  }
}

extension Connection {
  /// Touches the surviving neighbours of nodes that go, and both ends of removed edges.
  package func touchNeighbours(_ demands: Demands, _ binding: Binding, _ numbers: NumberedTables)
    throws
  {
    if demands.isEmpty { return }
    for end in EdgeEnd.allCases {
      try run(
        """
        INSERT OR IGNORE INTO temp.touched SELECT id FROM (
          SELECT e.\(end.other.rawValue) AS id FROM temp.gone AS g
          CROSS JOIN main.cascade_edge AS e ON e.\(end.rawValue) = g.id
          UNION ALL SELECT \(end.rawValue) FROM temp.lost_edges)
        WHERE id NOT IN (SELECT id FROM temp.new_candidates)
        """)
    }
    for relation in binding.edgeRelations { try touchNeighbours(relation, demands, numbers) }
  }

  private func touchNeighbours(
    _ relation: EdgeRelation, _ demands: Demands, _ numbers: NumberedTables
  ) throws {
    // What goes at one end counts for the node at the other.
    let losing = EdgeEnd.allCases.filter { end in
      demands.all.contains { $0.counts(end, of: relation) }
    }
    if losing.isEmpty { return }
    for end in losing {
      let isLost = end == .destination ? relation.isNotWaiting(numbers) : "1"
      try stageNodes(
        losing: end, of: relation, rule: 0, numbers,
        where: "\(relation.stays(end.other, numbers)) AND \(isLost)")
    }
    // A node that stays only because of a lease is not validated.
    try numberFound(
      movingBy: """
        INSERT OR IGNORE INTO temp.touched SELECT id FROM temp.staged
        WHERE id IS NOT NULL AND id NOT IN (SELECT id FROM temp.new_candidates)
        """)
  }
}

extension Demand {
  /// The judgements of the demand. None where a table that would have to be read is missing: what
  /// cannot be seen is not judged.
  package func judgements(
    _ binding: Binding, _ model: StoreModel, of scope: DemandQuery.Scope
  ) -> [Judgement] {
    let own = Other(collection: collection, type: type)
    let areSeen = (others + [own]).allSatisfy { other in
      guard case .mapped = model.collections[other.collection] else { return true }
      return binding.collections[other.collection] != nil && binding.problems.isEmpty
    }
    if !areSeen { return [] }
    let bounded = DemandQuery(
      subject: own, outgoing: constraint.outgoing, incoming: constraint.incoming, others: others,
      binding: binding, scope: scope)
    let destinations: DemandQuery.Scope =
      if case .touched = scope { .touchedDestinations } else { scope }
    let unique = others.map {
      DemandQuery(
        subject: $0, incoming: constraint.outgoing, others: [own], binding: binding,
        scope: destinations)
    }
    let queries =
      (constraint.isBounded ? [(bounded, false)] : [])
      + (constraint.unique ? unique.map { ($0, true) } : [])
    return queries.map { query, isUnique in
      Judgement(self, subject: query.subject.collection, isUnique: isUnique, sql: query.text)
    }
  }

  /// Whether the demand counts the nodes at this end of the relation's edges.
  fileprivate func counts(_ end: EdgeEnd, of relation: EdgeRelation) -> Bool {
    relation.name == (end == .destination ? constraint.outgoing : constraint.incoming)
      && relation[end.other].collection == collection
  }
}
