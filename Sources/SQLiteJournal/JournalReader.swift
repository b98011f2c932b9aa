internal import CascadeModel
package import CascadeSQLite
package import SQLiteBinding
package import SQLiteTables

/// Reads the journal, and checks which of its suspicions hold now. Nodes that are gone are put into
/// `temp.dead`, edges that are lost into `temp.lost_edges`.
///
/// An edge that was removed counts as having lost its source. The exception is an
/// edge that a foreign key removed because its destination was deleted: it has lost its
/// destination. The order of the journal shows this, because a parent is journaled before what a
/// foreign key removes with it. If the application itself removes an edge whose destination is
/// gone, the edge has lost both ends.
package struct JournalReader {
  package let binding: Binding
  package let watches: [Watch]
  /// Whether the cause of each node's deletion is to be reported.
  package let reportsCauses: Bool
  /// Up to this number, journal rows exist because of what an earlier sweep did or found.
  package let endOfOwnRows: Int64
  /// Whether some journal rows record what a sweep of one kind deleted and has written notices for
  /// (`JournalPositions.swift`).
  package let hasNotifiedRows: Bool
  package let scope: JournalScope

  package init(
    binding: Binding, watches: [Watch], scope: JournalScope, reportsCauses: Bool,
    endOfOwnRows: Int64 = 0, hasNotifiedRows: Bool = false
  ) {
    (self.binding, self.watches, self.reportsCauses) = (binding, watches, reportsCauses)
    self.scope = scope
    (self.endOfOwnRows, self.hasNotifiedRows) = (endOfOwnRows, hasNotifiedRows)
  }

  /// Reads the journal rows after `first`, up to and including `last`.
  package func read(_ db: borrowing Connection, above first: Int64, upTo last: Int64) throws {
    let rows: [Value] = [.integer(first), .integer(last)]
    let hasUsedKeys = try findUsedKeys(db, rows)
    let counted = reportsCauses || hasUsedKeys ? [] : try relationsCountedByRow(db)
    for watch in watches {
      guard case .rows(let collection) = watch.meaning.watchSubject,
        let table = binding.collection(collection),
        try reportsCauses || hasNotifiedRows || deletionHasConsequences(table, db)
      else { continue }
      try findGone(db, watch, table, rows)
    }
    for relation in binding.edgeRelations where relation.isWatched {
      for watch in watches {
        for old in try binding.journaledEdge(relation, in: watch, db) {
          let rows = [.integer(watch.number)] + rows
          if counted.contains(relation) {
            try findDestinationsWithoutEdges(db, relation, old, rows)
          } else {
            try findLost(db, relation, old, rows, asksWhen: hasUsedKeys)
            try findRemovedByForeignKey(db, relation, old, rows)
          }
        }
      }
    }
    if hasUsedKeys { try dropLosses(ofUsedKeysIn: db) }
    try storeLost(db)
    if hasUsedKeys { try numberUsedKeys(db) }
    try findLostInSweepRows(db, rows)
    try db.empty(.ownedBy(.journalReader))
  }

  private func findGone(
    _ db: borrowing Connection, _ watch: Watch, _ table: NodeTable, _ rows: [Value]
  ) throws {
    try db.run(
      generated: """
        INSERT INTO temp.staged(collection, key, via, asks, rule)
        SELECT \(table.id), j.key, min(j.seq), max(j.seq) > ?4, max(j.seq)
        FROM main.cascade_journal AS j
        WHERE j.what = ?1 AND j.seq > ?2 AND j.seq <= ?3 \(scope.and("j")) AND j.key IS NOT NULL
        AND \(table.hasNoRow(withKey: "j.key"))
        GROUP BY j.key
        """, [.integer(watch.number)] + rows + [.integer(endOfOwnRows)])
    try db.numberFound(present: false)
    if hasNotifiedRows {
      // `rule` is the last journal row of a node.
      try db.run(
        generated: """
          INSERT OR IGNORE INTO temp.already_notified(id) SELECT f.id FROM temp.staged AS f
          WHERE \(JournalReader.isNotified("f.rule"))
          """)
    }
    try db.run(
      """
      INSERT OR IGNORE INTO temp.explained_elsewhere SELECT id FROM temp.staged
      WHERE NOT asks OR id IN (SELECT id FROM temp.already_notified)
      """)
    try db.run(
      """
      INSERT INTO temp.gone_since SELECT id, via, rule FROM temp.staged WHERE true
      ON CONFLICT DO UPDATE SET seq = min(seq, excluded.seq), last = max(last, excluded.last)
      """)
    try db.moveFoundToDead()
  }

  /// Finds edges that no longer exist, and whose destination still does.
  private func findLost(
    _ db: borrowing Connection, _ relation: EdgeRelation, _ old: JournaledEdge, _ rows: [Value],
    asksWhen: Bool
  ) throws {
    let isStored =
      try db.integer(
        "SELECT 1 FROM cascade_edge WHERE name = ? LIMIT 1", .integer(relation.nameId)) != nil
    // If one of the relations that may hold the same edge has it now, it was not removed.
    let sayings =
      binding.edgeRelations(like: relation).map { $0.stillRefers(old) }
      + (isStored ? [relation.isDeclared(old)] : [])
    let asksWhen =
      asksWhen || hasNotifiedRows && relation.rules.contains(.notifyIfSourceDeleted)
    try db.run(
      generated: """
        INSERT INTO temp.journaled_losses(source_collection, source_key, source_row, source_present,
          destination, destination_key, destination_row, destination_collection,
          name, rules, removal, seq)
        SELECT DISTINCT \(relation.oldSourceColumns), \(relation.destinationColumns(of: Reference(old.reference))),
          \(relation.destination.id), \(relation.nameId), \(relation.rules.rawValue),
          \(Removal.sourceDeleted.code), \(asksWhen ? "max(o.seq)" : "NULL")
        FROM main.cascade_journal AS o \(old.elementsJoin) \(relation.destinationRow(of: Reference(old.reference)))
        LEFT JOIN \(relation.source.rows) AS s ON \(relation.source.hasKey("s", "o.key"))
        WHERE o.what = ?1 AND o.seq > ?2 AND o.seq <= ?3 \(scope.and("o")) AND o.key IS NOT NULL
        AND \(old.isEdge)
        \(sayings.map { "AND NOT EXISTS (\($0))" }.joined(separator: "\n"))
        \(asksWhen ? "GROUP BY o.key, \(old.reference)" : "")
        """, rows)
  }

  /// Finds edges that a foreign key removed from their source. If the source refers to another
  /// destination by now, its application has assigned that, and the edge is ignored.
  private func findRemovedByForeignKey(
    _ db: borrowing Connection, _ relation: EdgeRelation, _ old: JournaledEdge, _ rows: [Value]
  ) throws {
    if relation.leadsToFiles || !relation.losesEdgesByForeignKey { return }
    // A source that can refer to one thing only refers to nothing now.
    let refersToNothing =
      relation.hasReferenceInColumns ? "NOT (\(relation.isReference(relation.reference)))" : "1"
    try db.run(
      generated: """
        INSERT INTO temp.journaled_losses(source_collection, source_key, source_row, source_present,
          destination, destination_collection, name, rules, removal, seq)
        SELECT DISTINCT \(relation.oldSourceColumns), k.id, \(relation.destination.id), \(relation.nameId),
          \(relation.rules.rawValue), \(Removal.destinationDeleted.code), NULL
        FROM main.cascade_journal AS o \(old.elementsJoin)
        CROSS JOIN temp.known AS k ON k.id > 0 AND k.collection = \(relation.destination.id)
          AND k.key = \(old.reference)
        CROSS JOIN temp.gone_since AS p ON p.id = k.id AND p.seq < o.seq
        CROSS JOIN \(relation.source.rows) AS s ON \(relation.source.hasKey("s", "o.key"))
        WHERE o.what = ?1 AND o.seq > ?2 AND o.seq <= ?3 \(scope.and("o")) AND \(old.isEdge)
        AND \(refersToNothing)
        AND NOT EXISTS (\(relation.stillRefers(old)))
        """, rows)
  }

  /// Finds edges that a step of a sweep removed together with one of their ends
  /// (`JournalPositions.swift`): the other end, if it still exists, has lost them. Their former
  /// origin does not matter, because the batch of that step has them in its trash. Edges in the
  /// application's tables (`LostEdgeJournal.swift`) are used only if the model still describes
  /// them.
  private func findLostInSweepRows(_ db: borrowing Connection, _ rows: [Value]) throws {
    let relations =
      ["(0, 0, 0, 0)"]
      + binding.examinedRelations.map {
        "(\($0.nameId), \($0.rules.rawValue), \($0.source.id), \($0.destination.id))"
      }
    let hasLostSource = "j.key = \(Removal.sourceDeleted.code)"
    let end = "SELECT collection FROM main.cascade_node WHERE id = iif(\(hasLostSource), j.c, j.a)"
    try db.run(
      generated: """
        INSERT OR IGNORE INTO temp.lost_edges(source, name, destination, origin, rules, born, removal)
        SELECT a, b, c, \(Origin.declared.rawValue), d, 0, key FROM main.cascade_journal AS j
        WHERE what < \(JournalSubject.firstWatch) AND seq > ? AND seq <= ? \(scope.and("j"))
        AND EXISTS (\(end))
        AND NOT EXISTS (SELECT 1 FROM temp.used_nodes AS u
          WHERE u.id = iif(\(hasLostSource), j.c, j.a) AND j.seq <= u.since)
        AND (what = \(JournalSubject.storedEdge) OR EXISTS (
          SELECT 1 FROM (VALUES \(relations.unique.joined(separator: ", "))) AS p
          WHERE p.column1 = j.b AND p.column2 & j.d
          AND iif(\(hasLostSource), p.column4, p.column3) = (\(end))))
        """, rows)
  }

  /// Numbers both ends of each lost edge, and moves the edges into `temp.lost_edges`.
  private func storeLost(_ db: borrowing Connection) throws {
    for (end, present, isMissing) in [
      ("source", "l.source_present", "1"), ("destination", "1", "l.destination IS NULL"),
    ] {
      try db.run(
        """
        INSERT OR IGNORE INTO temp.known(id, collection, key, row, present)
        SELECT (SELECT n.id FROM cascade_node AS n
            WHERE n.collection = l.\(end)_collection AND n.key = l.\(end)_key),
          l.\(end)_collection, l.\(end)_key, l.\(end)_row, \(present)
        FROM temp.journaled_losses AS l WHERE \(isMissing)
        """)
    }
    try db.run(
      generated: """
        INSERT OR IGNORE INTO temp.lost_edges
        SELECT s.id, l.name, coalesce(l.destination, d.id), \(Origin.declared.rawValue), l.rules, 0,
          l.removal
        \(JournalReader.lossesWithNumbers)
        """)
    if hasNotifiedRows {
      // The notices for the deletion of a source did not cover the edges that were gone before.
      try db.run(
        generated: """
          INSERT OR IGNORE INTO temp.unnotified_edges SELECT s.id, l.name, coalesce(l.destination, d.id)
          \(JournalReader.lossesWithNumbers)
          WHERE l.seq NOTNULL AND NOT \(JournalReader.isNotified("l.seq"))
          """)
    }
  }

  fileprivate static let lossesWithNumbers: StaticString = """
    FROM temp.journaled_losses AS l
    JOIN temp.known AS s
      ON s.id > 0 AND s.collection = l.source_collection AND s.key = l.source_key
    LEFT JOIN temp.known AS d
      ON d.id > 0 AND d.collection = l.destination_collection AND d.key = l.destination_key
    """

  /// Whether Cascade wrote a journal row itself and has written the notices for it
  /// (`JournalPositions.swift`).
  fileprivate static func isNotified(_ seq: String) -> String {
    """
    EXISTS (SELECT 1 FROM cascade_meta AS m WHERE \(MetaKey.isNotifiedRange)
      AND \(seq) > \(MetaKey.startOfNotifiedRange) AND \(seq) <= m.value)
    """
  }

  // MARK: - A shorter way, if causes of deletions are not reported
  //
  // A counting rule only needs to know whether an edge remains at the end of a lost one, so the
  // journal need not be examined row by row.

  /// Relations of whose lost edges only the destination matters. The destination must be known by
  /// its row, so no part of a sweep may give a name to any row of its table.
  func relationsCountedByRow(_ db: borrowing Connection) throws -> Set<EdgeRelation> {
    let watched = binding.edgeRelations.filter(\.isWatched)
    let counted = watched.filter { relation in
      relation.mattersOnlyForCount && !binding.hasNodesAsRows(relation)
        && !watched.contains {
          $0.source == relation.destination
            || $0.destination == relation.destination && !$0.mattersOnlyForCount
        }
    }
    if counted.isEmpty { return [] }
    if try db.integer("SELECT 1 FROM cascade_candidate WHERE rule LIMIT 1") != nil { return [] }
    let numbers = try db.numbers(binding)
    return Set(counted.filter { numbers.isEachByRow(in: $0.destination) })
  }

  /// Whether the deletion of a node of this table has consequences, once its edges are handled.
  func deletionHasConsequences(_ table: NodeTable, _ db: borrowing Connection) throws -> Bool {
    if binding.examinedRelations.contains(where: { $0.isAffectedByDeletion(table) }) { return true }
    if try db.hasStoredNodes(of: table.id) { return true }
    return try db.integer(
      "SELECT 1 FROM cascade_notice WHERE receiver_collection = ? LIMIT 1", .integer(table.id))
      != nil
  }

  /// Finds the destinations at which no edge of the relation is left. While one is left, the rule
  /// does not apply; when that edge is removed too, it is found by its own journal row. If none is
  /// left, the edges in the journal are gone, whatever happened to their rows.
  func findDestinationsWithoutEdges(
    _ db: borrowing Connection, _ relation: EdgeRelation, _ old: JournaledEdge, _ rows: [Value]
  ) throws {
    let destination = relation.destination
    // No index finds the elements of lists, so the count decides later.
    let noEdgeIsLeft =
      relation.isInLists ? "" : "WHERE NOT EXISTS (SELECT 1 FROM \(relation.sources(of: "m")))"
    try db.run(
      generated: """
        INSERT OR IGNORE INTO temp.lost_edges
        SELECT 0, \(relation.nameId), \(destination.numberBase ?? 0) + \(destination.row("d")),
          \(Origin.declared.rawValue), \(relation.rules.rawValue), 0, \(Removal.sourceDeleted.code)
        FROM (
          SELECT \(old.reference) AS key FROM main.cascade_journal AS o \(old.elementsJoin)
          WHERE o.what = ?1 AND o.seq > ?2 AND o.seq <= ?3 \(scope.and("o"))
          AND o.key IS NOT NULL AND \(old.isEdge)
          GROUP BY 1
        ) AS m CROSS JOIN \(destination.rows) AS d ON \(destination.hasKey("d", "m.key"))
        \(noEdgeIsLeft)
        """, rows)
  }
}

extension EdgeRelation {
  /// The source's collection, key, row and presence. The key is that of the row, if the row still
  /// exists.
  fileprivate var oldSourceColumns: String {
    let isFound = source.isFound("s")
    return
      "\(source.id), iif(\(isFound), \(source.key("s")), o.key), \(source.row("s")), \(isFound)"
  }

  /// Whether a declared list of the source contains the edge.
  fileprivate func isDeclared(_ old: JournaledEdge) -> String {
    """
    SELECT 1 FROM main.cascade_node AS m
    CROSS JOIN main.cascade_edge AS e ON e.source = m.id AND e.name = \(nameId)
      AND e.origin >= \(Origin.declared.rawValue)
    CROSS JOIN main.cascade_node AS n ON n.id = e.destination AND n.collection = \(destination.id)
    WHERE m.collection = \(source.id) AND m.key = o.key AND n.key = \(old.reference)
    """
  }

  /// Whether the loss of an edge matters only for the count of the remaining edges.
  fileprivate var mattersOnlyForCount: Bool {
    let others = Rules.notifying.union(.cascading).union(.deleteSourceIfAllDestinationsDeleted)
    return rules.contains(.deleteDestinationIfAllSourcesDeleted) && rules.isDisjoint(with: others)
      && destination.numberBase != nil && !losesEdgesByForeignKey
  }

  /// Whether the deletion of a destination has consequences, or a join row outlives one of its
  /// ends.
  fileprivate func isAffectedByDeletion(_ table: NodeTable) -> Bool {
    if isInJoinTable { return source == table || destination == table }
    return destination == table
      && (!rules.isDisjoint(with: .following(losing: .destination)) || losesEdgesByForeignKey)
  }
}
