package import CascadeModel
package import CascadeSQLite
package import CascadeStore
internal import CascadePlanning
package import SQLiteTables

/// Denials: nodes that must not go although the rules say so (DESIGN 2.3, 5). A node that goes
/// itself cannot deny. A node that never existed cannot be denied.
extension Writer {
  package func rejectIfDenied() throws {
    let denies = !rulesInUse.isDisjoint(with: .denying) || !binding.holdsOutsideModel.isEmpty
    if try !denies && !db.hasNewCandidates { return }
    let denials = try db.denials(binding, current.numbers, stored: identities.counters.rulesSeen)
    if !denials.isEmpty { throw Rejection(denials.map(\.reason)) }
  }
}

/// A node that must stay, and why.
package struct Denial {
  package let denied: Int64
  package let reason: Reason
}

extension Connection {
  /// `rules`: the rules that some stored edge ever had. `ends`: the kinds of nodes in the slice, if
  /// these are known.
  package func denials(
    _ binding: Binding, _ numbers: NumberedTables, stored rules: Rules, in slice: Slice = .all,
    _ ends: NodeCounts? = nil
  ) throws -> [Denial] {
    let model = binding.model
    var denials = rules.isDisjoint(with: .denying) ? [] : try storedDenials(model, slice)
    for relation in binding.examinedRelations {
      denials += try self.denials(relation, binding, slice, ends, numbers)
    }
    if try integer("SELECT 1 FROM temp.blocked LIMIT 1") != nil {
      for relation in binding.impliedRelations where relation.isForeignKey {
        denials += try denialsByBlockedRows(relation, model, slice, numbers)
      }
      denials += try denialsThroughOutsideTables(binding, slice, numbers)
    }
    return try denials + outsideDenials(binding, in: slice) + leaseDenials(binding)
  }

  private func storedDenials(_ model: StoreModel, _ slice: Slice) throws -> [Denial] {
    try all(
      """
      WITH denial(source, name, destination, origin, rules, denies_source) AS (
        SELECT e.source, e.name, e.destination, e.origin, e.rules, 0
        FROM temp.gone AS g CROSS JOIN cascade_edge AS e ON e.destination = g.id
        WHERE g.counts AND g.seq > ?1 AND g.seq <= ?2 AND e.rules & 128 AND e.source NOT IN (SELECT id FROM temp.gone)
        UNION ALL
        SELECT e.source, e.name, e.destination, e.origin, e.rules, 1
        FROM temp.gone AS g CROSS JOIN cascade_edge AS e ON e.source = g.id
        WHERE g.counts AND g.seq > ?1 AND g.seq <= ?2 AND e.rules & 256 AND e.destination NOT IN (SELECT id FROM temp.gone)
      )
      SELECT m.name, sc.name, s.key, dc.name, d.key, x.rules, x.origin, x.denies_source,
        iif(x.denies_source, x.source, x.destination)
      FROM denial AS x
      JOIN cascade_name AS m ON m.id = x.name
      JOIN cascade_node AS s ON s.id = x.source
      JOIN cascade_collection AS sc ON sc.id = s.collection
      JOIN cascade_node AS d ON d.id = x.destination
      JOIN cascade_collection AS dc ON dc.id = d.collection
      ORDER BY 2, 3, 1, 4, 5
      """, .integer(slice.low), .integer(slice.high)
    ) { Denial(row: $0, model) }
  }

  private func denials(
    _ relation: EdgeRelation, _ binding: Binding, _ slice: Slice, _ ends: NodeCounts?,
    _ numbers: NumberedTables
  ) throws -> [Denial] {
    if relation.rules.isDisjoint(with: .denying) { return [] }
    var queries: [String] = []
    let isThere = binding.edgeStillExists(relation, numbers)
    let (source, destination) = (relation.source, relation.destination)
    func forms(_ table: NodeTable) -> [NumberForm] {
      ends?.forms(of: table) ?? numbers.forms(of: table)
    }
    if relation.rules.contains(.denyDestinationDeletion) {
      queries += forms(destination).map { form in
        """
        SELECT ?1, ?2, \(source.key("s")), ?3, \(destination.nodeKey(form)),
          \(relation.rules.rawValue), 1, 0, g.id
        \(relation.edgesToDestinations(in: numbers.existingReferences(relation), form, numbers))
        AND \(source.stays("s", numbers)) AND \(isThere)
        """
      }
    }
    if relation.rules.contains(.denySourceDeletion) {
      queries += forms(source).map { form in
        """
        SELECT ?1, ?2, \(source.nodeKey(form)), ?3, \(destination.key("d")),
          \(relation.rules.rawValue), 1, 1, g.id
        \(relation.edgesFromSources(in: .gone, form, withDestinations: true))
        AND \(destination.stays("d", numbers)) AND \(isThere)
        """
      }
    }
    return try queries.flatMap { try denials(relation, binding.model, slice, $0) }
  }

  private func denials(
    _ relation: EdgeRelation, _ model: StoreModel, _ slice: Slice, _ query: String
  ) throws -> [Denial] {
    try all(
      generated: "\(query) AND g.counts AND g.seq > ?4 AND g.seq <= ?5",
      relation.names + slice.bound
    ) { Denial(row: $0, model) }
  }

  private func denialsThroughOutsideTables(
    _ binding: Binding, _ slice: Slice, _ numbers: NumberedTables
  ) throws -> [Denial] {
    if binding.foreignKeyPathName == nil { return [] }
    let parents = ForeignKeyPlanSQL(binding.foreignKeyPlan, numbers, .first).parents(
      ofThoseIn: "temp.blocked")
    let why =
      "a row that stays would be deleted with it, "
      + "through a table that is not in the model (ON DELETE CASCADE)"
    return try binding.collections.values.sorted { $0.id < $1.id }.flatMap { table in
      try goneNodes(of: table, slice, binding.model, where: "g.id IN (\(parents))")
        .map { Denial($0, because: why) }
    }
  }

  /// A blocked node also keeps the node that it refers to by an ON DELETE CASCADE: deleting that
  /// one would delete the blocked node.
  private func denialsByBlockedRows(
    _ relation: EdgeRelation, _ model: StoreModel, _ slice: Slice, _ numbers: NumberedTables
  ) throws -> [Denial] {
    guard relation.rules.contains(.deleteSourceIfDestinationDeleted) else { return [] }
    let (source, destination) = (relation.source, relation.destination)
    return try numbers.forms(of: destination).flatMap { form in
      try denials(
        relation, model, slice,
        """
        SELECT ?1, ?2, \(source.key("s")), ?3, \(destination.nodeKey(form)),
          \(relation.rules.rawValue), 1, 0, g.id
        \(relation.edgesToDestinations(in: numbers.existingReferences(relation), form, numbers))
        AND NOT (\(source.isNotListed("temp.blocked", "s", numbers)))
        """)
    }
  }
}

extension EdgeRelation {
  fileprivate var names: [Value] {
    [.text(name), .text(source.collection), .text(destination.collection)]
  }
}

extension Denial {
  init(_ found: GoneNode, because why: String) {
    denied = found.id
    reason = Reason(.denied, "\(found.node) must stay: \(why)", node: found.node)
  }

  fileprivate init(row: Row, _ model: StoreModel) {
    let edge = Edge(row: row, model)
    let deniesSource = row.integer(7) != 0
    let denied: Node? = deniesSource ? edge.source : edge.destination.node
    let holder: Node? = deniesSource ? edge.destination.node : edge.source
    let follows = !deniesSource && edge.rules.contains(.deleteSourceIfDestinationDeleted)
    let rule = deniesSource ? "denySourceDeletion" : "denyDestinationDeletion"
    self.denied = row.integer(8)
    reason = Reason(
      .denied,
      "\(denied?.description ?? "") must stay: \(holder?.description ?? "") holds it by "
        + "\"\(edge.name)\" (\(follows ? "ON DELETE CASCADE" : rule))",
      node: denied, edge: edge)
  }
}

extension Edge {
  /// From the columns: name, the source's collection and key, the destination's collection and key,
  /// rules, origin.
  package init(row: Row, _ model: StoreModel) {
    let origin = Origin(rawValue: row.integer(6)) ?? .manual
    let destination = Destination(row: row, 3, model)
    self.init(
      name: row.text(0), source: row.node(1, model), destination: destination,
      rules: Rules(rawValue: row.integer(5)), origin: origin, kind: origin.kind(to: destination))
  }
}

extension Connection {
  /// What rows outside of the model deny, for the nodes of a slice.
  func outsideDenials(_ binding: Binding, in slice: Slice) throws(SQLiteError) -> [Denial] {
    var denials: [Denial] = []
    for hold in binding.holdsOutsideModel {
      let held = try goneNodes(of: hold.parent, slice, binding.model, where: hold.holds)
      denials += held.map { Denial($0, because: hold.reason) }
    }
    return denials
  }
}
