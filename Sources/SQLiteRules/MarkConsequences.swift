internal import CascadeModel
package import CascadeSQLite
package import SQLiteBinding
internal import SQLiteTables

/// What is written down when rows are marked: why they are, and notices.
extension MarkClosure {
  // MARK: - Why

  /// The values that the mark of a node `m` replaces.
  private static let old =
    "(SELECT w.old FROM temp.marking AS w WHERE w.collection = m.collection AND w.key = m.key)"

  /// Writes down that all ends that nodes `m` of `temp.mark_counted` have lost are reasons for their marks, also those
  /// that were marked before: where one of them comes back, the node does. `end` completes the rows.
  package func writeCountedReasons(
    _ isMeant: Query, _ end: Query, _ db: borrowing Connection
  ) throws {
    for effect in RuleEffect.all(.deleteLast) {
      let affected = effect.affectedEnd
      for relation in counted(effect) {
        let other = relation[affected.other]
        guard let marked = binding.marked[other.id] else { continue }
        let alias = affected.other.alias
        try db.run(
          """
          INSERT OR IGNORE INTO main.cascade_marked
          SELECT m.collection, m.key, \(other.id), \(other.key(alias)), m.name, m.rule, \(end), \(MarkClosure.old)
          \(relation.edges(at: affected, ofKeysIn: "temp.mark_counted AS m")) AND NOT m.remains AND \(isMeant)
          AND m.rule = \(effect.bit) AND m.name = \(relation.nameId) AND \(marked.isMarked(alias))
          """)
      }
      if rulesSeen.isEmpty { continue }
      try db.run(
        """
        INSERT OR IGNORE INTO main.cascade_marked
        SELECT m.collection, m.key, o.collection, o.key, m.name, m.rule, \(end), \(MarkClosure.old)
        \(storedEdges(at: affected, from: "temp.mark_counted AS m")) AND NOT m.remains AND \(isMeant)
        AND m.rule = \(effect.bit) AND m.name = e.name AND o.collection IN (\(numbers))
        """)
    }
  }

  // MARK: - Notices

  /// Notices for the nodes that lose a neighbour with a slice, as rows of `cascade_notice` without a number.
  package func notices(_ slice: Slice, batch: Int64, _ db: borrowing Connection) throws -> Int {
    var count = 0
    for effect in RuleEffect.all(.notify) {
      for relation in relations
      where relation.rules.contains(effect.rule)
        && binding.marked[relation[effect.lostEnd].id] != nil
      {
        let (end, other) = (effect.affectedEnd, relation[effect.affectedEnd])
        try db.run(
          insertion(
            effect, batch, name: "\(relation.nameId)", rules: "\(relation.rules.rawValue)",
            origin: "1", other: ("\(other.id)", other.key(end.alias)),
            """
            \(relation.edges(at: effect.lostEnd, ofKeysIn: "temp.marking AS m"))
            AND \(slice.contains("m.seq")) AND NOT m.is_done AND \(isThere(end.alias, other))
            """))
        count += db.changes
      }
      if !rulesSeen.contains(effect.rule) { continue }
      try db.run(
        insertion(
          effect, batch, name: "e.name", rules: "e.rules", origin: "e.origin",
          other: ("o.collection", "o.key"),
          """
          \(storedEdges(at: effect.lostEnd, from: "temp.marking AS m")) AND e.rules & \(effect.bit)
          AND \(slice.contains("m.seq")) AND NOT m.is_done AND \(isStoredThere(upTo: .max))
          """))
      count += db.changes
    }
    return count
  }

  private func insertion(
    _ effect: RuleEffect, _ batch: Int64, name: String, rules: String, origin: String,
    other: (collection: String, key: String), _ edges: Query
  ) -> Query {
    let (own, far) = ("m.collection, m.key", "\(other.collection), \(other.key)")
    let ends = effect.lostEnd == .source ? "\(own), \(far)" : "\(far), \(own)"
    return """
      INSERT INTO main.cascade_notice(id, reason, receiver_collection, receiver_key, name,
        source_collection, source_key, destination_collection, destination_key, rules, origin, batch)
      SELECT max((SELECT coalesce(max(id), 0) FROM main.cascade_notice),
          (SELECT coalesce(max(value), 0) FROM main.cascade_meta WHERE name = \(literal(MetaKey.lastNotice.name))))
          + row_number() OVER (ORDER BY m.seq),
        \(literal("\(effect.lostEnd)Deleted")), \(far), \(name), \(ends), \(rules), \(origin), \(batch)
      \(edges)
      """
  }
}
