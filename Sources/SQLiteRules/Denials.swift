package import CascadeModel
package import CascadeSQLite
package import CascadeStore
internal import CascadeEngine
package import SQLiteBinding
package import SQLiteTables
internal import SQLiteJournal

/// Denials: nodes that must not go although the rules say so. A node that goes
/// itself cannot deny. A node that never existed cannot be denied.
extension Writer {
  package func rejectIfDenied() throws {
    let protected = try db.protections(
      of: "SELECT id FROM temp.gone UNION SELECT id FROM temp.new_candidates", binding)
    if !protected.isEmpty { throw Rejection(protected.map(\.reason)) }
    let denies =
      !rulesInUse.isDisjoint(with: .denying) || !binding.holdsOutsideModel.isEmpty
      || !binding.kept.isEmpty
    if try !denies && !db.hasNewCandidates { return }
    let denials = try db.denials(binding, current.numbers, stored: identities.counters.rulesSeen)
    if !denials.isEmpty { throw Rejection(denials.map(\.reason)) }
  }

  /// What a denied node waits for first: another kind of sweep, which may delete what denies it, or
  /// the rest of this one.
  package var denialsWaitFor: WaitsFor {
    get throws {
      if current.sweep.followedRules != .all { return .deletionByOtherKind }
      let kinds = sweepRun.requestedKinds
      if current.sweep.readsJournal || kinds.cascades && kinds.counts { return .restOfSweep }
      // Another kind, which reads the journal, may delete what denied a node.
      let isUnread = try db.integer(
        generated: """
          SELECT EXISTS (SELECT 1 FROM cascade_journal) OR EXISTS (
            SELECT 1 FROM cascade_candidate WHERE waits_for IN \(WaitsFor.laterSweeps) AND rule)
          """)
      return isUnread == 1 ? .deletionByOtherKind : .restOfSweep
    }
  }

  /// The sweep has deleted nothing that denied these nodes: now they wait until that goes.
  package func keepDenialsOfThisSweep() throws {
    if try attachment.isDetached || !db.hasDenialsOfThisSweep { return }
    try group {
      try db.run(
        "UPDATE cascade_candidate SET waits_for = ? WHERE waits_for = ?",
        .integer(WaitsFor.endOfDenial.rawValue), .integer(WaitsFor.restOfSweep.rawValue))
    }
  }
}

/// A node that must stay, and why.
package struct Denial {
  package let denied: Int64
  package let reason: Reason
  /// Whether it may end without a change of the tables or of the model.
  var mayEnd = true

  package init(denied: Int64, reason: Reason, mayEnd: Bool = true) {
    (self.denied, self.reason, self.mayEnd) = (denied, reason, mayEnd)
  }
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
      for effect in RuleEffect.all(.deny) where relation.rules.contains(effect.rule) {
        let end = effect.lostEnd
        let isLost =
          end == .destination
          ? binding.isLosing(end, relation, numbers) : binding.edgeStillExists(relation, numbers)
        let holds = "\(relation.stays(end.other, numbers)) AND \(isLost)"
        denials += try self.denials(
          relation, losing: end, ends?.forms(of: relation[end]), model, slice, numbers, where: holds
        )
      }
    }
    if try integer("SELECT 1 FROM temp.blocked LIMIT 1") != nil {
      // A blocked node also keeps the node that it refers to by an ON DELETE CASCADE: deleting that
      // one would delete the blocked node.
      for relation in binding.impliedRelations
      where relation.isForeignKey && relation.rules.contains(.deleteSourceIfDestinationDeleted) {
        denials += try self.denials(
          relation, losing: .destination, nil, model, slice, numbers,
          where: "NOT (\(relation.source.isNotListed("temp.blocked", "s", numbers)))")
      }
      denials += try denialsThroughOutsideTables(binding, slice, numbers)
    }
    // What cannot be deleted or restored, and what rows outside of the model deny.
    let held =
      binding.kept.map { ($0.nodes, "1" as Query, $0.reason, false) }
      + binding.holdsOutsideModel.map { ($0.parent, $0.holds, $0.reason, true) }
    for (nodes, holds, why, mayEnd) in held {
      denials += try goneNodes(of: nodes, slice, model, where: holds).map {
        Denial($0, because: why, mayEnd: mayEnd)
      }
    }
    return try denials + leaseDenials(binding)
  }

  private func storedDenials(_ model: StoreModel, _ slice: Slice) throws -> [Denial] {
    let edges = RuleEffect.all(.deny).map { effect -> Query in
      let (lost, other) = (effect.lostEnd.rawValue, effect.lostEnd.other.rawValue)
      return """
        SELECT e.source AS source, e.name AS name, e.destination AS destination,
          e.origin AS origin, e.rules AS rules, \(effect.lostEnd == .source ? 1 : 0) AS denies_source
        FROM temp.gone AS g CROSS JOIN main.cascade_edge AS e ON e.\(lost) = g.id
        WHERE g.counts AND \(slice.contains()) AND e.rules & \(effect.bit)
        AND e.\(other) NOT IN (SELECT id FROM temp.gone)
        """
    }
    return try all(
      """
      SELECT m.name, sc.name, s.key, dc.name, d.key, x.rules, x.origin, x.denies_source,
        iif(x.denies_source, x.source, x.destination)
      FROM (\(edges.joined(separator: " UNION ALL "))) AS x
      JOIN cascade_name AS m ON m.id = x.name
      JOIN cascade_node AS s ON s.id = x.source
      JOIN cascade_collection AS sc ON sc.id = s.collection
      JOIN cascade_node AS d ON d.id = x.destination
      JOIN cascade_collection AS dc ON dc.id = d.collection
      ORDER BY 2, 3, 1, 4, 5
      """
    ) { Denial(row: $0, model) }
  }

  /// The nodes of the slice that edges of the relation keep, where the condition holds. `forms`:
  /// how the nodes may be numbered, if that is known.
  private func denials(
    _ relation: EdgeRelation, losing end: EdgeEnd, _ forms: [NumberForm]?, _ model: StoreModel,
    _ slice: Slice, _ numbers: NumberedTables, where condition: String
  ) throws -> [Denial] {
    let driver = numbers.existingReferences(relation).limited(to: slice)
    return try (forms ?? numbers.forms(of: relation[end])).flatMap { form in
      let keys = EdgeEnd.allCases.map {
        $0 == end ? relation[end].nodeKey(form) : relation[$0].key($0.alias)
      }
      return try all(
        """
        SELECT \(bind: .text(relation.name)), \(bind: .text(relation.source.collection)), \(keys[0]),
          \(bind: .text(relation.destination.collection)), \(keys[1]),
          \(relation.rules.rawValue), 1, \(end == .source ? 1 : 0), g.id
        \(relation.edges(at: end, in: driver, form, numbers)) AND g.counts AND \(condition)
        """
      ) { Denial(row: $0, model) }
    }
  }

  private func denialsThroughOutsideTables(
    _ binding: Binding, _ slice: Slice, _ numbers: NumberedTables
  ) throws -> [Denial] {
    if binding.foreignKeyPathName == nil { return [] }
    let parents = ForeignKeyPlanSQL(binding.foreignKeyPlan, numbers)
      .parents(in: slice, ofThoseIn: "temp.blocked")
    let why =
      "a row that stays would be deleted with it, "
      + "through a table that is not in the model (ON DELETE CASCADE)"
    return try binding.collections.values.sorted { $0.id < $1.id }.flatMap { table in
      try goneNodes(of: table, slice, binding.model, where: "g.id IN (\(parents))")
        .map { Denial($0, because: why) }
    }
  }

  /// Whether some of the blocked nodes did not wait for the end of a denial already.
  package var blocksMore: Bool {
    get throws(SQLiteError) {
      try integer(
        """
        SELECT 1 FROM temp.blocked
        WHERE id NOT IN (SELECT node FROM temp.due_candidates WHERE node IS NOT NULL) LIMIT 1
        """) != nil
    }
  }

  package var waitsForEndOfDenial: Bool {
    get throws(SQLiteError) {
      try integer(
        "SELECT 1 FROM cascade_candidate WHERE waits_for = ? LIMIT 1",
        .integer(WaitsFor.endOfDenial.rawValue)) != nil
    }
  }

  package var hasDenialsOfThisSweep: Bool {
    get throws(SQLiteError) {
      try integer(
        "SELECT 1 FROM cascade_candidate WHERE waits_for = ? LIMIT 1",
        .integer(WaitsFor.restOfSweep.rawValue)) != nil
    }
  }
}

extension Denial {
  init(_ found: GoneNode, because why: String, mayEnd: Bool = true) {
    (denied, self.mayEnd) = (found.id, mayEnd)
    reason = .mustStay(found.node, because: why)
  }

  fileprivate init(row: Row, _ model: StoreModel) {
    let edge = Edge(row: row, model)
    let end: EdgeEnd = row.integer(7) != 0 ? .source : .destination
    let follows = end == .destination && edge.rules.contains(.deleteSourceIfDestinationDeleted)
    self.denied = row.integer(8)
    reason = .mustStay(at: end, of: edge, by: follows ? "ON DELETE CASCADE" : nil)
  }
}

extension Edge {
  /// From the columns: name, the source's collection and key, the destination's collection and key,
  /// rules, origin.
  package init(row: Row, _ model: StoreModel) {
    let origin = Origin(rawValue: row.integer(6)) ?? .manual
    let destination = row.destination(4, in: row.text(3), model)
    self.init(
      name: row.text(0), source: row.node(1, model), destination: destination,
      rules: Rules(rawValue: row.integer(5)), origin: origin, kind: origin.kind(to: destination))
  }
}
