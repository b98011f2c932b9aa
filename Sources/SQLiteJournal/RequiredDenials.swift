package import CascadeModel
internal import CascadeSQLite
package import SQLiteBinding
internal import SQLiteTables

/// The denials that the model, and the edges of the store, require.
package struct RequiredDenials {
  package let binding: Binding
  package let model: StoreModel
  /// The rules that some stored edge has, or once had.
  package let rulesSeen: Rules

  package init(binding: Binding, model: StoreModel, rulesSeen: Rules) {
    self.binding = binding
    self.model = model
    self.rulesSeen = rulesSeen
  }

  package var triggers: [Trigger] {
    let all = binding.edgeRelations.flatMap(refusals) + stored
    let displaceable = all.filter { model.watchesReplacedRows($0.denied.collection) }
    return all.enumerated().flatMap { $1.triggers($0) }
      + displaceable.enumerated().flatMap { $1.notingTriggers($0) }
      + displaceable.map(\.denied).unique.flatMap(\.displacedCheckTriggers)
  }

  private func refusals(_ relation: EdgeRelation) -> [DenialTriggers] {
    var found: [DenialTriggers] = []
    if relation.rules.contains(.denyDestinationDeletion) && relation.destination.isMapped {
      found.append(relation.deniesDestination)
    }
    if relation.rules.contains(.denySourceDeletion) { found.append(relation.deniesSource) }
    return found
  }

  private var stored: [DenialTriggers] {
    binding.collections.values.sorted { $0.id < $1.id }.flatMap { table in
      [Rules.denyDestinationDeletion, .denySourceDeletion].compactMap { rule in
        isDenialRequired(rule, table.collection) ? deniedByStoredEdges(table, rule) : nil
      }
    }
  }

  private func isDenialRequired(_ rule: Rules, _ collection: String) -> Bool {
    rulesSeen.contains(rule) || !possibleHolders(of: collection, rule).isEmpty
  }

  /// The collections that may hold a node of this one by the model's stored edges with this rule.
  private func possibleHolders(of collection: String, _ rule: Rules) -> [String] {
    model.relationships.filter { $0.edgeStorage == .stored && $0.rules.contains(rule) }
      .flatMap { relationship -> [String] in
        let from = model.collection(of: relationship.from)
        let to = relationship.to.collections.map(model.collection)
        if rule == .denySourceDeletion { return from == collection ? to : [] }
        return to.contains(collection) ? [from] : []
      }
  }

  /// A holder whose row is gone holds nothing. Only holders that the model names are checked,
  /// because the application cannot rebuild a table that a trigger names.
  private func deniedByStoredEdges(_ table: NodeTable, _ rule: Rules) -> DenialTriggers {
    let (own, other) =
      rule == .denySourceDeletion ? ("source", "destination") : ("destination", "source")
    let alive = possibleHolders(of: table.collection, rule).unique.sorted()
      .compactMap { binding.collections[$0] }.map { holder in
        """
         AND (o.collection <> \(holder.id) OR \(holder.hasRowInTrigger(withKey: "o.key")))
        """
      }
    func rows(_ row: String) -> String {
      """
      FROM cascade_node AS n CROSS JOIN cascade_edge AS e ON e.\(own) = n.id
          CROSS JOIN cascade_node AS o ON o.id = e.\(other)
          WHERE n.collection = \(table.id) AND n.key = +\(table.key(row))
          AND e.rules & \(rule.rawValue) AND o.id <> n.id\(alive.joined())
      """
    }
    return DenialTriggers(
      denied: table, rule: rule,
      relationship: "(SELECT name FROM cascade_name WHERE id = e.name)", whenDeleted: rows,
      whenRenamed: rows("OLD"),
      holder: "(SELECT name FROM cascade_collection WHERE id = o.collection) || '/' || "
        + NodeTable.shown("o.key"))
  }
}

extension EdgeRelation {
  fileprivate var deniesDestination: DenialTriggers {
    func rows(_ row: String) -> String {
      "\(sources) WHERE \(destination.isReference(reference, toRow: row))"
        + " AND \(isEdge) AND \(source.isNode("s")) AND \(leadsNowhereElseInTrigger)"
    }
    func isOther(_ row: String) -> String {
      source == destination ? " AND NOT (\(source.isSame("s", row)))" : ""
    }
    return DenialTriggers(
      denied: destination, rule: .denyDestinationDeletion, relationship: literal(name),
      whenDeleted: { rows($0) + isOther($0) }, whenRenamed: rows("OLD"),
      holder: source.described("s"))
  }

  /// The sources and their references, for a trigger.
  private var sources: String {
    guard let sourceReference, let table = referringTable else {
      return "FROM \(source.rowsInTrigger) AS s \(references)"
    }
    return "FROM \(quoted(table.name)) AS j CROSS JOIN \(source.rowsInTrigger) AS s "
      + "ON \(source.hasKey("s", sourceReference))"
  }

  /// A reference in the row itself moves to the new key with the row. One in a join table stays
  /// behind.
  fileprivate var deniesSource: DenialTriggers {
    func rows(_ row: String) -> String {
      let isOther = source == destination ? " AND NOT (\(destinationInTrigger.isSame(row)))" : ""
      return
        "\(sources)\(destinationInTrigger.join) WHERE \(source.isSame("s", row, "=")) AND \(isEdge)"
        + " AND \(destinationInTrigger.isThere)\(isOther)"
    }
    return DenialTriggers(
      denied: source, rule: .denySourceDeletion, relationship: literal(name), whenDeleted: rows,
      whenRenamed: joinRowsLeftBehind, holder: destinationInTrigger.name)
  }

  private var joinRowsLeftBehind: String? {
    guard let sourceReference, let table = referringTable else { return nil }
    return "FROM \(quoted(table.name)) AS j\(destinationInTrigger.join) "
      + "WHERE \(source.isReference(sourceReference, toRow: "OLD"))"
      + " AND \(isEdge) AND \(destinationInTrigger.isThere)"
  }

  /// The destination, for a trigger: its row `d`, or what a list says of a composite key. Only
  /// Cascade's own function could take such a list apart for a join.
  private var destinationInTrigger:
    (join: String, isThere: String, name: String, isSame: (String) -> String)
  {
    if destination.isComposite && !reference.hasSeveralValues {
      let list = reference.value
      return (
        "", "(\(destination.hasRowInTrigger(withKey: list)))",
        destination.described(list: list), { destination.isSame($0, list: list) }
      )
    }
    let join =
      " CROSS JOIN \(destination.rowsInTrigger) AS d "
      + "ON \(destination.hasKey("d", reference))"
    return (join, "1", destination.described("d"), { destination.isSame("d", $0) })
  }
}
