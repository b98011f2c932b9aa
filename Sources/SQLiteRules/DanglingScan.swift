package import CascadeModel
package import CascadeSQLite
package import CascadeStore
package import SQLiteBinding
internal import SQLiteTables
internal import SQLiteJournal

/// Scans whole tables for references to nothing, whatever the journal says.
extension Connection {
  /// Nothing records which notices were written for a missing node. So `notifiesMissingDestination` is set only where
  /// the node may have gone while the store was not watched.
  /// With `released`, only these missing nodes count as gone, all of which are held otherwise.
  /// `tell` is called before each relationship that is looked through.
  package func addDanglingEnds(
    _ binding: Binding, notifiesMissingDestination: Bool = false,
    releasing released: Set<Node> = [],
    telling tell: (_ subject: String, _ done: Int, _ total: Int) -> Void = { _, _, _ in }
  ) throws(SQLiteError) {
    try empty(.ownedBy(.danglingScan))
    if released.isEmpty { try addEndsOfStoredEdges(binding) }
    let notifies = notifiesMissingDestination || !released.isEmpty
    let relations = binding.edgeRelations.filter(\.mayStandForNothing).filter {
      $0.reactsToMissingDestination || notifies && $0.notifiesMissingDestination
    }
    for (number, relation) in relations.enumerated() {
      tell("\(relation.source.collection).\(relation.name)", number, relations.count)
      try run(
        generated: """
          INSERT INTO temp.missing_values
          SELECT \(relation.ends(lost: .destination)),
            \(relation.destination.asKey(relation.reference)), count(*)
          \(relation.all) AND \(relation.isDangling)
          AND NOT \(relation.destination.hasRow(asKeyOf: relation.reference))
          AND NOT \(relation.ledToDead)
          GROUP BY 6
          """)
    }
    for relation in binding.edgeRelations {
      guard let lost = relation.rowsWithoutSource else { continue }
      try run(
        generated: """
          INSERT INTO temp.missing_values
          SELECT \(relation.ends(lost: .source)), \(lost.source), count(*) \(lost.rows) GROUP BY 6
          """)
    }
    try leaveWhatWaits()
    try chooseHeldValues()
    try stageMissing(releasing: released, binding.model)
    try numberFound(present: false)
    if !notifies {
      // While the store was watched, an earlier sweep saw all of these nodes go, and notified the
      // nodes that still refer to them.
      let known = "FROM temp.staged WHERE id NOT IN (SELECT id FROM temp.dead)"
      try run(
        generated: "INSERT OR IGNORE INTO temp.already_notified(id, leaves) SELECT id, 1 \(known)")
      try run(generated: "INSERT OR IGNORE INTO temp.explained_elsewhere SELECT id \(known)")
    }
    try moveFoundToDead()
  }

  /// What a plan owns, or what was given up with one, is no finding of a scan.
  private func leaveWhatWaits() throws(SQLiteError) {
    for keys in [
      JournalScope.ownedDeletions, "SELECT via_collection, via_key FROM main.cascade_given_up",
    ] {
      if try integer(generated: "SELECT EXISTS (\(keys))") == 0 { continue }
      for table in ["missing_values", "staged"] {
        try run(generated: "DELETE FROM temp.\(table) WHERE (collection, key) IN (\(keys))")
      }
    }
  }

  private func addEndsOfStoredEdges(_ binding: Binding) throws(SQLiteError) {
    try run(
      """
      INSERT OR IGNORE INTO temp.dead
      SELECT source FROM cascade_edge WHERE source NOT IN (SELECT id FROM cascade_node)
      UNION
      SELECT destination FROM cascade_edge
      WHERE destination NOT IN (SELECT id FROM cascade_node)
      """)
    // Stored edges whose row no longer exists. A key of another type than the rows have now is no sign.
    let areRetyped = try meta(.retypedKeys) != nil
    for table in binding.collections.values {
      try run(
        generated: """
          INSERT INTO temp.staged(collection, key)
          SELECT n.collection, n.key FROM main.cascade_node AS n
          WHERE n.collection = \(table.id)
          AND \(table.hasNoRow(withKey: "n.key"))
          AND \(areRetyped ? table.mayBeKey("n.key") : "1")
          """)
    }
  }

  /// Holds references to a node that no row is and that no trigger saw go, if their value looks like
  /// "none": the scan has found the node missing, and does not count it as gone.
  func chooseHeldValues() throws(SQLiteError) {
    try run(
      generated: """
        INSERT INTO temp.held_values SELECT collection, key FROM temp.missing_values
        GROUP BY 1, 2 HAVING sum(referring) >= \(HeldValue.shared) OR looks_like_none(key)
        """)
    if changes == 0 { return }
    // A sweep that finds a node missing has its name in the trash, but not its row. The name of 0
    // or '' is no sign that there ever was such a row.
    try run(
      generated: """
        DELETE FROM temp.held_values WHERE (collection, key) IN (
          SELECT w.meaning ->> 'rows', j.key FROM main.cascade_journal AS j
          JOIN main.cascade_watch AS w ON w.what = j.what)
        OR (collection, key) IN (\(keysInTrash("kind IN ('row', 'object')")))
        OR NOT looks_like_none(key) AND (collection, key) IN (\(keysInTrash("kind = 'name'")))
        """)
  }

  private func keysInTrash(_ condition: String) -> String {
    """
    SELECT l.collection, t.c0 FROM main.cascade_trash_layout AS l
    CROSS JOIN main.cascade_trash AS t
      ON t.batch = l.batch AND t.layout = l.layout AND t.part = 0
    WHERE l.\(condition) AND l.keys <= 1
    """
  }

  /// Moves the missing nodes into `temp.staged`: those that are not held, or only the held ones of
  /// `released`.
  func stageMissing(releasing released: Set<Node>, _ model: StoreModel) throws(SQLiteError) {
    if released.isEmpty {
      return try run(
        """
        INSERT INTO temp.staged(collection, key)
        SELECT DISTINCT v.collection, v.key FROM temp.missing_values AS v WHERE NOT EXISTS (
          SELECT 1 FROM temp.held_values AS h WHERE h.collection = v.collection AND h.key = v.key)
        """)
    }
    let held = try all(
      """
      SELECT DISTINCT v.destination, v.key, v.collection FROM temp.held_values AS h
      CROSS JOIN temp.missing_values AS v ON v.collection = h.collection AND v.key = h.key
      """
    ) { (node: $0.node(0, model), collection: $0.integer(2), key: $0.value(1)) }
    for (node, collection, key) in held where released.contains(node) {
      try run(
        "INSERT INTO temp.staged(collection, key) VALUES(?, ?)", .integer(collection), key)
    }
  }

  /// What the last scan has held: the most frequent values of all relationships.
  package func heldValues(
    _ model: StoreModel, limit: Int64 = 100
  ) throws(SQLiteError) -> [HeldValue] {
    try all(
      """
      SELECT v.name, v.source, v.lost = 'source', v.destination, v.key, sum(v.referring)
      FROM temp.held_values AS h
      CROSS JOIN temp.missing_values AS v ON v.collection = h.collection AND v.key = h.key
      GROUP BY v.name, v.source, v.lost, v.collection, v.key ORDER BY 6 DESC, 1, 2, 5 LIMIT ?
      """, .integer(limit)
    ) { row in
      HeldValue(
        name: row.text(0), from: row.text(1), lacksSource: row.integer(2) != 0,
        missing: row.node(3, model), count: Int(row.integer(5)))
    }
  }
}

extension EdgeRelation {
  /// Whether the node that the reference names does not exist, nor another one that it may lead to.
  ///
  /// A row with one reference is found by its rowid first. An index of the reference is enough for
  /// that, so the table is read only where something is missing.
  package var isDangling: String {
    let isMissing = [destination.isMissing(reference), leadsNowhereElse, standsForNothing]
      .filter { $0 != "1" }.joined(separator: " AND ")
    guard hasReferenceInColumns, let rowid = source.table?.rowid else { return isMissing }
    return """
      s.\(rowid) IN (
        SELECT s.\(rowid) FROM \(source.rows) AS s WHERE \(isEdge) AND \(isMissing))
      """
  }

  /// Only a join row can be without its source: the rows `j` without one, and the key that no row
  /// has.
  package var rowsWithoutSource: (source: String, rows: String)? {
    guard let sourceReference, let table = referringTable else { return nil }
    let rows = """
      FROM main.\(quoted(table.name)) AS j
      WHERE \(sourceReference.isComplete)\(isSome(sourceReference))
      AND \(source.isMissing(sourceReference)) AND NOT \(source.hasRow(asKeyOf: sourceReference))
      """
    return (source.asKey(sourceReference), rows)
  }

  /// Whether a missing destination has a consequence. If not, the reference is left as it is. A
  /// join row always minds: without its destination it has no meaning.
  package var reactsToMissingDestination: Bool {
    if isInJoinTable { return true }
    let rules = rules.subtracting(.notifying)
    return destination.kind != .files
      && !rules.isDisjoint(with: .following(losing: .destination))
  }

  /// The first columns of `temp.missing_values`.
  fileprivate func ends(lost end: EdgeEnd) -> String {
    let texts = [name, source.collection, "\(end)", self[end].collection].map(literal)
    return (texts + ["\(self[end].id)"]).joined(separator: ", ")
  }

  fileprivate var notifiesMissingDestination: Bool {
    destination.kind != .files && rules.contains(.notifyIfDestinationDeleted)
  }
}

extension NodeTable {
  /// Whether no row has the key that a column names. SQLite compares a number with a text as
  /// numbers, and an index of texts does not help with that. Then all keys are read once, not once
  /// for each reference.
  fileprivate func isMissing(_ reference: Reference) -> String {
    guard case .mapped(_, let key, _) = kind, key.count == 1, reference.isNumber,
      !key[0].affinity.isNumeric
    else { return "NOT \(hasRow(withKey: reference))" }
    let column = "d.\(quoted(key[0].name))"
    let keys = "SELECT \(column) FROM \(rows) AS d WHERE \(column) IS NOT NULL"
    return "\(reference.value) NOT IN (\(keys))"
  }
}
