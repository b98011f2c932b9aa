package import CascadeModel
package import CascadeSQLite
package import SQLiteBinding
package import SQLiteTables
internal import SQLiteJournal
internal import SQLiteRules
internal import SQLiteEdges

/// Remembers the nodes that a lease or a denial spared. The reason why such a node would have been
/// deleted is written down in the transaction that deletes everything else about that reason. When
/// nothing spares the node any more, a sweep checks whether the reason still holds.
///
/// An edge that is gone is treated as one that was just removed, so that the rules count and follow
/// as usual; but of rule 8, only as long as the node was given no edge of that name. A column that
/// still refers to nothing is reason enough: what it names is declared dead once more.
extension Writer {
  /// Called before anything is removed.
  func persistCandidates() throws {
    if try !db.hasNewCandidates { return }
    try findCandidates()
    try persistCandidates(.all)
  }

  /// Finds everything that is to be written down, while its edges still exist.
  package func findCandidates() throws {
    if try !db.hasNewCandidates { return }
    try db.run("DELETE FROM temp.new_candidates WHERE id IN (SELECT id FROM temp.gone)")
    try noteEdgesOfCandidates()
    // Stored edges and join rows are deleted with either end, and a managed destination leaves no
    // number behind.
    let rule = Rules.deleteSourceIfDestinationDeleted
    try db.run(
      """
      UPDATE temp.new_candidates SET stored = 1 WHERE rule = \(rule.bits) AND (
        EXISTS (SELECT 1 FROM cascade_edge AS e WHERE e.source = new_candidates.id
          AND e.name = new_candidates.name AND e.destination = new_candidates.via AND e.rules & \(rule.bits))
        OR EXISTS (SELECT 1 FROM temp.lost_edges AS l WHERE l.source = new_candidates.id
          AND l.name = new_candidates.name AND l.destination = new_candidates.via AND l.rules & \(rule.bits)))
      """)
    for relation in binding.examinedRelations
    where relation.isInJoinTable || relation.destination.kind == .managed {
      if !relation.rules.contains(rule) { continue }
      try db.run(
        """
        UPDATE temp.new_candidates SET stored = 1 WHERE rule = \(rule.bits)
        AND name = \(relation.nameId) AND collection = \(relation.source.id)
        """)
    }
  }

  package func persistCandidates(_ few: Slice) throws {
    current.hasCandidates = true
    let ends = ["id", "via"].map {
      "SELECT \($0) AS id FROM temp.new_candidates WHERE rowid > ?1 AND rowid <= ?2 AND \($0) < 0"
    }
    try db.storeKeysOfRows(binding, ends.joined(separator: " UNION "), few.bound)
    try db.run(
      """
      INSERT OR REPLACE INTO cascade_candidate(
        collection, key, via_collection, via_key, name, rule, stored, waits_for, edges)
      SELECT s.collection, coalesce(n.key, k.key),
        iif(coalesce(v.key, vk.key) IS NULL, 0, coalesce(v.collection, vk.collection)),
        coalesce(v.key, vk.key, ''), s.name, s.rule, s.stored, s.waits_for, s.edges
      FROM temp.new_candidates AS s
      LEFT JOIN cascade_node AS n ON n.id = s.id LEFT JOIN temp.known AS k ON k.id = s.id
      LEFT JOIN cascade_node AS v ON v.id = s.via LEFT JOIN temp.known AS vk ON vk.id = s.via
      WHERE s.rowid > ? AND s.rowid <= ? AND coalesce(n.key, k.key) IS NOT NULL
      """, few.bound[0], few.bound[1])
  }

  /// Records, as rule 0, the leases without which a sweep would have found more unreachable nodes.
  /// No rule records them.
  package func recordReachingLeases(at now: Int64) throws {
    let were =
      try db.integer("SELECT 1 FROM cascade_candidate WHERE rule = \(Rules.none.bits) LIMIT 1")
      != nil
    if !were && !sweepRun.leasesKeepUnreachable { return }
    try group {
      try db.run("DELETE FROM cascade_candidate WHERE rule = \(Rules.none.bits)")
      if !sweepRun.leasesKeepUnreachable { return }
      try db.run(
        """
        INSERT OR IGNORE INTO cascade_candidate(
          collection, key, via_collection, via_key, name, rule, stored, waits_for)
        SELECT c.id, coalesce(l.key, ''), 0, '', 0, 0, 0, ?2
        FROM temp.holds AS l JOIN cascade_collection AS c ON c.name = l.collection
        WHERE l.expires > ?1
        """, .integer(now / 1_000), .integer(WaitsFor.lease.rawValue))
    }
  }

  /// Whether one of the leases that `recordReachingLeases` recorded has ended.
  package func hasReachingLeaseEnded(at now: Int64) throws -> Bool {
    if attachment.isDetached { return false }
    return try db.integer(
      """
      SELECT 1 FROM cascade_candidate AS s CROSS JOIN cascade_collection AS c ON c.id = s.collection
      WHERE s.rule = \(Rules.none.bits) AND NOT EXISTS (SELECT 1 FROM temp.holds AS l
        WHERE l.collection = c.name AND coalesce(l.key, '') = s.key
        AND l.expires > \(bind: now / 1_000)) LIMIT 1
      """) != nil
  }

  /// After a sweep that removed something or was resumed, nodes that waited for the other kind of
  /// sweep are queued again: what denied them may be gone. A sweep that follows all rules but read
  /// no journal examined none of the waiting nodes, so it queues all of them again. If a sweep of
  /// one kind removed nothing, `cascade` has read the whole journal and no denied node waits, then
  /// a node that an edge holds (`.removalByOtherKind`) is really held: no kind has a reason to
  /// remove the edge.
  package func requeueDenied() throws {
    let followed = current.sweep.followedRules
    let looked = followed == .all && !current.sweep.readsJournal ? [] : followed
    if looked == .all { return }
    if current.counts.deletedCount + current.counts.edgesRemoved > 0 || current.sweep.isResumed {
      return try db.run(
        generated: """
          UPDATE cascade_candidate SET waits_for = \(WaitsFor.anyDeletion.rawValue)
          WHERE waits_for IN \(WaitsFor.otherKind) AND NOT rule & ?
          """, [.integer(looked.rawValue)])
    }
    if current.sweep.followedRules == .all { return }
    if try current.notifiesOfEarlierDeletions || db.journalPosition(.cascade) >= db.lastInJournal {
      try db.run(
        """
        DELETE FROM cascade_candidate WHERE waits_for = ?
        AND NOT EXISTS (SELECT 1 FROM cascade_candidate WHERE waits_for = ?)
        """, .integer(WaitsFor.removalByOtherKind.rawValue),
        .integer(WaitsFor.deletionByOtherKind.rawValue))
    }
  }

  /// Called in a transaction that carries out what was found.
  package func deleteEndedCandidates() throws {
    try db.run(
      "DELETE FROM cascade_candidate WHERE id IN (SELECT id FROM temp.ended_candidates)")
  }

  /// Called in the transaction that carried out what followed, or after the steps that did.
  package func deleteDueCandidates(_ few: Slice = .all) throws {
    let due: Query = "FROM temp.due_candidates WHERE \(few.contains("id"))"
    try db.run("DELETE FROM main.cascade_candidate WHERE id IN (SELECT id \(due))")
    try db.run("DELETE \(due)")
  }

  /// Whether something may be held back.
  package var mayHoldBack: Bool {
    get throws {
      if let known = current.hasCandidates { return known }
      let found = try db.integer("SELECT 1 FROM cascade_candidate LIMIT 1") != nil
      current.hasCandidates = found
      return found
    }
  }

  /// A change file has put the node. So it stays, although it has lost an edge of rule 8.
  package func endWait(ofPut key: Value, in collection: Int64) throws {
    if try !mayHoldBack { return }
    try db.run(
      "DELETE FROM cascade_candidate WHERE collection = ? AND key = ? AND rule = ?",
      .integer(collection), key, .integer(Rules.deleteDestinationIfSourceDeleted.rawValue))
  }

  // MARK: - Candidates that are gone

  /// Removes the records of spared nodes that are gone by now. Such a node has no reason to be
  /// deleted any more: a node that has its key later is another one. This is checked whenever a
  /// sweep begins, and in each transaction of the daemon that deletes.
  package func deleteStaleCandidates() throws {
    if try attachment.isDetached || !hasStoredCandidates { return }
    try adaptToSchema()
    if isPartlyBound { return }
    try forEachSlice(of: "SELECT s.id \(staleCandidates)") { few in
      try db.run("DELETE \(staleCandidates) AND \(few.contains("s.id"))")
    }
  }

  /// Called in a transaction that deleted something.
  func deleteStaleCandidatesInTransaction() throws {
    if try hasStoredCandidates { try db.run(generated: "DELETE \(staleCandidates)", []) }
  }

  private var hasStoredCandidates: Bool {
    get throws { try db.integer("SELECT 1 FROM cascade_candidate WHERE rule LIMIT 1") != nil }
  }

  /// A file is no row, and counts as always there.
  private var staleCandidates: String {
    let isThere = binding.nodeExists(
      "s",
      object: """
        (s.collection IN (SELECT id FROM cascade_collection WHERE name GLOB 'cascade_file/*')
          OR EXISTS (SELECT 1 FROM main.cascade_node AS n
            WHERE n.collection = s.collection AND n.key = s.key))
        """)
    return "FROM main.cascade_candidate AS s WHERE s.rule AND NOT \(isThere)"
  }
}

extension Connection {
  /// Whether a lease has ended that spared something. `now` is in milliseconds, as everywhere.
  package func hasFreed(at now: Int64) throws(SQLiteError) -> Bool {
    if try integer("SELECT 1 FROM cascade_candidate WHERE rule LIMIT 1") == nil { return false }
    // A lease may be why something stays that denies the deletion.
    let lease = try integer("SELECT 1 FROM temp.holds WHERE expires > ?", .integer(now / 1_000))
    let waits = lease == nil ? WaitsFor.nextSweep : "(\(WaitsFor.lease.rawValue))"
    try findDueCandidates(.all, waitingFor: waits, ofPlan: nil, at: now, limit: 1)
    defer { try? empty(.dueCandidates) }
    return try integer("SELECT 1 FROM temp.due_candidates") != nil
  }

  /// Presents to the rules the nodes that are no longer leased and still have a reason to be
  /// deleted.
  package func examineCandidates(
    _ binding: Binding, following followed: Rules, ofPlan plan: Int64? = nil, at now: Int64
  ) throws {
    try empty(.dueCandidates)
    try empty(.endedCandidates)
    if try integer("SELECT 1 FROM cascade_candidate LIMIT 1") == nil { return }
    try findEndedCandidates()
    // Where all rules are followed, no node waits for another kind.
    try findDueCandidates(
      followed, waitingFor: followed == .all ? nil : WaitsFor.noOtherSweep, ofPlan: plan, at: now,
      limit: -1)
    try findCandidateEnds(binding)
    try findGivenEdges(binding)
    try findRestoredReferences(binding)
    try findOtherDestinations(binding)
    // The batch of that time may explain why the node went, unless it came back and went again.
    try run(
      """
      INSERT OR IGNORE INTO temp.explained_elsewhere SELECT via FROM temp.due_candidates
      WHERE via IS NOT NULL AND NOT via_there AND via NOT IN (SELECT id FROM temp.dead)
      """)
    let vanished = """
      SELECT via FROM temp.due_candidates
      WHERE node IS NOT NULL AND via IS NOT NULL AND NOT via_there AND NOT stored
      AND rule = \(Rules.deleteSourceIfDestinationDeleted.bits)
      """
    // The sweep that wrote the notices about these nodes knew what was denied then. No second
    // notice is due.
    try run(
      generated: """
        INSERT OR IGNORE INTO temp.already_notified(id) \(vanished) AND via NOT IN (SELECT id FROM temp.dead)
        """)
    try run(generated: "INSERT OR IGNORE INTO temp.dead \(vanished)")
    let declared = Origin.declared.rawValue
    try run(
      generated: """
        INSERT INTO temp.lost_edges
        SELECT coalesce(via, 0), name, node, \(declared), rule, 0, \(Removal.sourceDeleted.code)
        FROM temp.due_candidates
        WHERE node IS NOT NULL
        AND (rule = \(Rules.deleteDestinationIfAllSourcesDeleted.bits)
          OR rule = \(Rules.deleteDestinationIfSourceDeleted.bits) AND NOT is_over)
        UNION ALL
        SELECT node, name, coalesce(via, 0), \(declared), rule, 0,
          \(Removal.destinationDeleted.code)
        FROM temp.due_candidates
        WHERE node IS NOT NULL AND (rule = \(Rules.deleteSourceIfAllDestinationsDeleted.bits)
          OR rule = \(Rules.deleteSourceIfDestinationDeleted.bits) AND stored AND NOT is_over)
        ON CONFLICT DO UPDATE SET rules = rules | excluded.rules
        """)
  }

  /// Finds those whose node an application has deleted since a sweep last read the journal. What was
  /// held back by then is no reason for a node that has the key now.
  package func findEndedCandidates() throws(SQLiteError) {
    let read = try max(journalPosition(.cascade), journalPosition(.refcount))
    try run(
      generated: """
        INSERT OR IGNORE INTO temp.ended_candidates
        SELECT s.id FROM cascade_journal AS j CROSS JOIN cascade_watch AS w ON w.what = j.what
        CROSS JOIN cascade_candidate AS s ON s.collection = w.meaning ->> 'rows' AND s.key = j.key
        WHERE \(GoneMark.isDeletion("j")) AND j.seq > ? AND s.rule
        """, [.integer(read)])
  }

  /// `waits` is a list of `WaitsFor`; nil: whatever they wait for.
  private func findDueCandidates(
    _ followed: Rules, waitingFor waits: String?, ofPlan plan: Int64?, at now: Int64, limit: Int64
  ) throws(SQLiteError) {
    let key = "json(l.key)"
    try run(
      generated: """
        INSERT INTO temp.due_candidates(id, collection, key, via_collection, via_key, name, rule, stored,
          edges)
        SELECT s.id, s.collection, s.key, s.via_collection, s.via_key, s.name, s.rule, s.stored, s.edges
        FROM cascade_candidate AS s CROSS JOIN cascade_collection AS c ON c.id = s.collection
        WHERE s.rule & ?1 AND \(waits.map { "s.waits_for IN \($0)" } ?? "true")
        AND s.plan IS ?4 AND s.id NOT IN (SELECT id FROM temp.ended_candidates)
        AND NOT EXISTS (SELECT 1 FROM temp.holds AS l
          WHERE l.collection = c.name AND l.key IS NULL AND l.expires > ?2)
        AND NOT EXISTS (SELECT 1 FROM temp.holds AS l
          WHERE l.collection = c.name AND l.expires > ?2
          AND (l.key = s.key OR CAST(l.key AS TEXT) = CAST(s.key AS TEXT)
            OR iif(json_valid(l.key), \(key), NULL) = s.key
            OR iif(json_valid(l.key), \(CompositeKeyPart.asTexts(key)), NULL) = s.key))
        LIMIT ?3
        """,
      [
        .integer(followed.rawValue), .integer(now / 1_000), .integer(limit),
        plan.map(Value.integer) ?? .null,
      ])
  }

  /// Looks up whether the node and the other end exist, and the numbers of both. A row in
  /// `cascade_node` does not say whether the application's row exists.
  private func findCandidateEnds(_ binding: Binding) throws(SQLiteError) {
    for (end, prefix) in [("node", ""), ("via", "via_")] {
      let (collection, key) = ("\(prefix)collection", "\(prefix)key")
      try run(
        generated: """
          UPDATE temp.due_candidates SET \(end) = (SELECT n.id FROM main.cascade_node AS n
            WHERE n.collection = due_candidates.\(collection) AND n.key = due_candidates.\(key))
          WHERE \(collection) NOT IN (\(binding.tableNumbers))
          """)
      for table in binding.collections.values {
        try run(
          generated: """
            INSERT INTO temp.staged(collection, key, row, via)
            SELECT \(table.id), \(table.key("d")), \(table.row("d")), x.id
            FROM temp.due_candidates AS x
            CROSS JOIN \(table.rows) AS d ON \(table.hasKey("d", "x.\(key)"))
            WHERE x.\(collection) = \(table.id)
            """)
      }
      try numberFound()
      try run(
        generated: """
          UPDATE temp.due_candidates SET \(end) = f.id FROM temp.staged AS f
          WHERE f.via = due_candidates.id
          """)
      try clearFound()
    }
    try run("UPDATE temp.due_candidates SET via_there = 1 WHERE via IS NOT NULL")
    try run(
      """
      INSERT INTO temp.staged(collection, key, via)
      SELECT via_collection, via_key, id FROM temp.due_candidates WHERE NOT via_there AND via_collection
      """)
    try numberFound(present: false)
    try run(
      "UPDATE temp.due_candidates SET via = f.id FROM temp.staged AS f WHERE f.via = due_candidates.id"
    )
    try clearFound()
  }

  /// An edge of rule 4 that went with its destination may be there again. A reference to an object,
  /// in a row, may have another value, or lead to an object again.
  private func findRestoredReferences(_ binding: Binding) throws(SQLiteError) {
    let rule = Rules.deleteSourceIfDestinationDeleted
    try run(
      """
      UPDATE temp.due_candidates SET is_over = 1 WHERE rule = \(rule.bits) AND stored AND EXISTS (
        SELECT 1 FROM cascade_edge AS e
        WHERE e.source = node AND e.name = due_candidates.name AND e.destination = via)
      """)
    for relation in binding.examinedRelations
    where relation.rules.contains(rule) && relation.alternatives.isEmpty {
      let edge = relation.edge(fromKey: "due_candidates.key", toKey: "due_candidates.via_key")
      let isEdge = "EXISTS (\(edge))"
      if !relation.isInJoinTable && relation.destination.kind != .managed { continue }
      try run(
        generated: """
          UPDATE temp.due_candidates SET is_over = 1
          WHERE rule = \(rule.bits) AND stored AND name = \(relation.nameId)
          AND collection = \(relation.source.id) AND via_collection = \(relation.destination.id)
          AND \(relation.isInJoinTable ? isEdge : "(via_there OR NOT \(isEdge))")
          """)
    }
  }

  /// A reference to an object that is gone counts as lost, because the object left no number behind.
  /// One without a type may lead to another node.
  private func findOtherDestinations(_ binding: Binding) throws(SQLiteError) {
    for relation in binding.edgeRelations where !relation.alternatives.isEmpty {
      let source = relation.source
      try run(
        generated: """
          UPDATE temp.due_candidates SET is_over = 1
          WHERE rule = \(Rules.deleteSourceIfDestinationDeleted.bits) AND stored AND name = \(relation.nameId)
          AND collection = \(source.id)
          AND EXISTS (SELECT 1 FROM \(source.rows) AS s
            WHERE \(source.hasKey("s", "due_candidates.key")) AND \(relation.isEdge)
            AND \(relation.destination.hasRow(withKey: relation.reference)))
          """)
    }
  }
}
