internal import CascadeModel
internal import CascadeSQLite
package import SQLiteBinding
package import SQLiteTables
internal import SQLiteRules

/// Notices: messages for surviving nodes that one of their edges lost its other end.
extension Writer {
  func writeNotices(_ slice: Slice) throws {
    if rulesInUse.isDisjoint(with: .notifying) { return }
    if !current.step.isHighFanOut {
      for effect in RuleEffect.all(.notify) {
        try collectEdgeNotices(LosingEdges(end: effect.lostEnd, slice: slice).rows, effect)
      }
    }
    for relation in binding.edgeRelations where !current.keepsReferencesUntilGone(relation, binding)
    {
      for effect in RuleEffect.all(.notify) {
        try collectRelationNotices(of: relation, effect) {
          try db.stageNodes(
            losing: effect.lostEnd, of: relation, rule: effect.bit, in: slice, current.numbers,
            from: current.numbers.gone,
            where: binding.isLosing(effect.lostEnd, relation, current.numbers))
        }
      }
    }
    try writeCollectedNotices()
    try markReceivers(slice)
  }

  /// Marks earlier notices whose receivers go now, including notices of an earlier flush of this
  /// transaction.
  private func markReceivers(_ slice: Slice) throws {
    if try db.integer("SELECT 1 FROM cascade_notice LIMIT 1") == nil { return }
    try db.storeKeysOfRows(
      binding, "SELECT id FROM temp.gone WHERE id < 0 AND seq > ?1 AND seq <= ?2", slice.bound)
    try db.run(
      """
      UPDATE cascade_notice SET receiver_deleted = 1
      WHERE (receiver_collection, receiver_key) IN (
        SELECT coalesce(n.collection, k.collection), coalesce(n.key, k.key)
        FROM temp.gone AS g LEFT JOIN cascade_node AS n ON n.id = g.id
        LEFT JOIN temp.known AS k ON k.id = g.id
        WHERE g.seq > ? AND g.seq <= ?)
      """, slice.bound[0], slice.bound[1])
  }

  /// Collects the notices for edges `e`, stored or removed, that lost an end.
  func collectEdgeNotices(_ edges: Query, _ effect: RuleEffect) throws {
    let end = effect.lostEnd
    try db.run(
      """
      INSERT INTO temp.pending_notices
      SELECT \(literal("\(end)Deleted")), \(end == .source ? 1 : 0), e.source, e.name, e.destination,
        e.rules, e.origin
      FROM \(edges) AND e.rules & \(effect.bit)
      AND e.\(end.other.rawValue) NOT IN (SELECT id FROM temp.gone)
      """)
  }

  /// Collects the notices for edges of a relation. The receivers get numbers first, since they may
  /// be rows of the application.
  func collectRelationNotices(
    of relation: EdgeRelation, _ effect: RuleEffect, staged stage: () throws -> Void
  ) throws {
    if !relation.rules.contains(effect.rule) { return }
    let end = effect.lostEnd
    try stage()
    try db.numberFound()
    let isTold = end == .destination && relation.leavesReferences ? "1" : "NOT leaves"
    let ends = EdgeEnd.allCases.map { $0 == end ? "f.via" : "f.id" }
    try db.run(
      """
      INSERT INTO temp.pending_notices
      SELECT DISTINCT \(literal("\(end)Deleted")), \(end == .source ? 1 : 0), \(ends[0]), f.name,
        \(ends[1]), \(relation.rules.rawValue), 1
      FROM temp.staged AS f
      WHERE NOT EXISTS (SELECT 1 FROM temp.still_to_go AS g WHERE g.id = f.id)
      AND f.via NOT IN (SELECT id FROM temp.already_notified WHERE \(isTold))
      """)
    try db.clearFound()
  }

  /// Collects the notices for the removed edges in `temp.lost_edges`. A sweep in steps does this
  /// while it plans, so no other writer waits for it, however many edges there are.
  package func collectRemovedEdgeNotices() throws {
    if !current.notifiesOfEarlierDeletions || rulesInUse.isDisjoint(with: .notifying) { return }
    for effect in RuleEffect.all(.notify) {
      let end = effect.lostEnd
      let isUnnotified =
        end == .source ? "OR (e.source, e.name, e.destination) IN temp.unnotified_edges" : ""
      try collectEdgeNotices(
        """
        temp.lost_edges AS e WHERE e.removal = \(end.removal)
        AND (e.\(end.rawValue) NOT IN (SELECT id FROM temp.already_notified WHERE NOT leaves)
          \(isUnnotified))
        """, effect)
    }
  }

  package func writeCollectedNotices(_ few: Slice = .all) throws {
    let ends = ["source", "destination"].map {
      "SELECT \($0) AS id FROM temp.pending_notices WHERE rowid > ?1 AND rowid <= ?2"
    }
    try db.storeKeysOfRows(binding, ends.joined(separator: " UNION "), few.bound)
    if current.sweep.isResumed || current.sweep.isSweep && model.hasRelationshipsOfSameName {
      try dropWrittenNotices(few, since: current.batch)
    }
    // An edge that was removed may have been there again when a sweep of one kind deleted its
    // source: that sweep wrote the notice.
    if try db.integer("SELECT 1 FROM temp.unnotified_edges LIMIT 1") != nil {
      try dropWrittenNotices(
        few, since: db.meta(.notifiedSince) ?? 0,
        where: """
          (source, name, destination) IN temp.unnotified_edges
          AND source IN (SELECT id FROM temp.already_notified WHERE NOT leaves)
          """)
    }
    try insertNotices(few)
  }

  /// Drops notices that were written already. After a crash, and where others write, a further plan
  /// finds what an earlier one has notified. For a hub, the relations are notified one after the
  /// other.
  private func dropWrittenNotices(
    _ few: Slice, since batch: Int64, where condition: StaticString = "true"
  ) throws {
    try db.run(
      generated: """
        \(Writer.namedNotices)
        DELETE FROM temp.pending_notices WHERE rowid IN (
          SELECT number FROM named
          WHERE \(condition)
          AND (reason, name, sc, s, dc, d, origin > \(Origin.manual.rawValue)) IN (
            SELECT n.reason, n.name, n.source_collection, n.source_key, n.destination_collection,
              n.destination_key, n.origin > \(Origin.manual.rawValue)
            FROM (
              SELECT DISTINCT iif(to_destination, dc, sc) AS c, iif(to_destination, d, s) AS k
              FROM named
            ) AS r
            CROSS JOIN cascade_notice AS n ON n.receiver_collection = r.c AND n.receiver_key = r.k
            WHERE n.batch >= ?3))
        """, few.bound + [.integer(batch)])
  }

  /// Writes the notices. Their numbers continue behind the last notice that ever existed. An edge
  /// that is stored in two relations gets one notice.
  private func insertNotices(_ few: Slice) throws {
    try db.run(
      generated: """
        INSERT INTO cascade_notice(id, reason, receiver_collection, receiver_key, name,
          source_collection, source_key, destination_collection, destination_key,
          rules, origin, batch)
        \(Writer.namedNotices)
        SELECT max((SELECT coalesce(max(id), 0) FROM cascade_notice),
            (SELECT coalesce(max(value), 0) FROM cascade_meta WHERE name = ?4))
            + row_number() OVER (ORDER BY source, name, destination, origin, reason),
          reason, iif(to_destination, dc, sc), iif(to_destination, d, s), name, sc, s, dc, d,
          rules, origin, ?3
        FROM named
        GROUP BY reason, sc, s, name, dc, d, origin > \(Origin.manual.rawValue), to_destination
        """, few.bound + [.integer(current.batch), .text(MetaKey.lastNotice.name)])
    current.counts.notices += db.changes
    try db.run("DELETE FROM temp.pending_notices WHERE \(few.contains("rowid"))")
  }

  /// The notices to be written, with the collections and keys of both ends.
  private static let namedNotices = """
    WITH named AS (
      SELECT t.rowid AS number, t.*, coalesce(s.collection, sk.collection) AS sc,
        coalesce(s.key, sk.key) AS s, coalesce(d.collection, dk.collection) AS dc,
        coalesce(d.key, dk.key) AS d
      FROM temp.pending_notices AS t
      LEFT JOIN cascade_node AS s ON s.id = t.source
      LEFT JOIN temp.known AS sk ON sk.id = t.source
      LEFT JOIN cascade_node AS d ON d.id = t.destination
      LEFT JOIN temp.known AS dk ON dk.id = t.destination
      WHERE t.rowid > ?1 AND t.rowid <= ?2)
    """
}

extension EdgeRelation {
  /// Whether a source that stays keeps its reference to a deleted destination.
  fileprivate var leavesReferences: Bool {
    !isInJoinTable && !rules.contains(.nullifySourceIfDestinationDeleted)
  }
}
