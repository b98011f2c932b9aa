internal import CascadeModel
internal import CascadeSQLite

/// Reads the journal, and checks which of its suspicions hold now. Nodes that are gone are put into
/// `temp.dead`, edges that are lost into `temp.lost`.
///
/// An edge that was removed counts as having lost its source (DESIGN 2.3, 1). The exception is an
/// edge that a foreign key removed because its destination was deleted: it has lost its
/// destination. The order of the journal shows this, because a parent is journaled before what a
/// foreign key removes with it. If the application itself removes an edge whose destination is
/// gone, the edge has lost both ends.
struct Digest {
  let binding: Binding
  let watches: [Watch]
  /// Whether the cause of each node's deletion is to be reported.
  let tellsWhy: Bool
  /// Up to this number, journal rows exist because of what an earlier sweep did or found.
  var ownEnd: Int64 = 0
  /// Whether some journal rows record what a sweep of one kind deleted and has written notices for
  /// (`Marks.swift`).
  var hasMourned = false

  /// Reads the journal rows after `first`, up to and including `last`.
  func read(_ db: borrowing Connection, above first: Int64, upTo last: Int64) throws {
    let rows: [Value] = [.integer(first), .integer(last)]
    let counted = tellsWhy ? [] : try countedInPlace(db)
    for watch in watches {
      guard case .rows(let collection) = watch.meaning.subject,
        let table = binding.collection(collection),
        try tellsWhy || hasMourned || isMissed(table, db)
      else { continue }
      try findGone(db, watch, table, rows)
    }
    for place in binding.places where place.isWatched {
      for watch in watches {
        for old in try binding.old(place, in: watch, db) {
          let rows = [.integer(watch.number)] + rows
          if counted.contains(place) {
            try findUncounted(db, place, old, rows)
          } else {
            try findLost(db, place, old, rows)
            try findLeft(db, place, old, rows)
          }
        }
      }
    }
    try keepLost(db)
    try findLostStored(db, rows)
  }

  private func findGone(
    _ db: borrowing Connection, _ watch: Watch, _ table: NodeTable, _ rows: [Value]
  ) throws {
    try db.run(
      generated: """
        INSERT INTO temp.found(collection, key, via, asks, rule)
        SELECT \(table.id), j.key, min(j.seq), max(j.seq) > ?4, max(j.seq)
        FROM main.cascade_journal AS j
        WHERE j.what = ?1 AND j.seq > ?2 AND j.seq <= ?3 AND j.key IS NOT NULL
        AND \(table.hasNoRow(withKey: "j.key"))
        GROUP BY j.key
        """, [.integer(watch.number)] + rows + [.integer(ownEnd)])
    try db.internFound(present: false)
    if hasMourned { try db.mournFound() }
    try db.run(
      """
      INSERT OR IGNORE INTO temp.recalled SELECT id FROM temp.found
      WHERE NOT asks OR id IN (SELECT id FROM temp.mourned)
      """)
    try db.run(
      """
      INSERT INTO temp.departed SELECT id, via FROM temp.found WHERE true
      ON CONFLICT DO UPDATE SET seq = min(seq, excluded.seq)
      """)
    try db.buryFound()
  }

  /// Finds edges that no longer exist, and whose destination still does.
  private func findLost(
    _ db: borrowing Connection, _ place: Place, _ old: OldEdge, _ rows: [Value]
  ) throws {
    let sayings = try sayings(of: place, old, db)
    let asksWhen = hasMourned && place.rules.contains(.notifyIfSourceDeleted)
    try db.run(
      generated: """
        INSERT INTO temp.loss(source_collection, source_key, source_row, source_present,
          destination, destination_key, destination_row, destination_collection,
          name, rules, removal, seq)
        SELECT DISTINCT \(place.oldSourceColumns), \(place.destinationColumns(of: old.reference)),
          \(place.destination.id), \(place.nameId), \(place.rules.rawValue), 0,
          \(asksWhen ? "max(o.seq)" : "NULL")
        FROM main.cascade_journal AS o \(old.values) \(place.destinationRow(of: old.reference))
        LEFT JOIN \(place.source.rows) AS s ON \(place.source.hasKey("s", "o.key"))
        WHERE o.what = ?1 AND o.seq > ?2 AND o.seq <= ?3 AND o.key IS NOT NULL AND \(old.isEdge)
        \(sayings.map { "AND NOT EXISTS (\($0))" }.joined(separator: "\n"))
        \(asksWhen ? "GROUP BY o.key, \(old.reference)" : "")
        """, rows)
  }

  /// Queries for the same edge, one for each relation that may hold it now. If one finds it, the
  /// edge has moved and was not removed (DESIGN 2.2).
  private func sayings(
    of place: Place, _ old: OldEdge, _ db: borrowing Connection
  ) throws -> [String] {
    let isStored =
      try db.integer(
        "SELECT 1 FROM cascade_edge WHERE name = ? LIMIT 1", .integer(place.nameId)) != nil
    return binding.places(like: place).map { $0.isStill(old) }
      + (isStored ? [place.isDeclared(old)] : [])
  }

  /// Finds edges that a foreign key removed from their source. If the source refers to another
  /// destination by now, its application has assigned that, and the edge is ignored.
  private func findLeft(
    _ db: borrowing Connection, _ place: Place, _ old: OldEdge, _ rows: [Value]
  ) throws {
    if place.leadsToFiles || !place.isTakenByForeignKey { return }
    try db.run(
      generated: """
        INSERT INTO temp.loss(source_collection, source_key, source_row, source_present,
          destination, destination_collection, name, rules, removal)
        SELECT DISTINCT \(place.oldSourceColumns), k.id, \(place.destination.id), \(place.nameId),
          \(place.rules.rawValue), 1
        FROM main.cascade_journal AS o \(old.values)
        CROSS JOIN temp.known AS k ON k.id > 0 AND k.collection = \(place.destination.id)
          AND k.key = \(old.reference)
        CROSS JOIN temp.departed AS p ON p.id = k.id AND p.seq < o.seq
        CROSS JOIN \(place.source.rows) AS s ON \(place.source.hasKey("s", "o.key"))
        WHERE o.what = ?1 AND o.seq > ?2 AND o.seq <= ?3 AND \(old.isEdge) AND \(place.isLetGo)
        AND NOT EXISTS (\(place.isStill(old)))
        """, rows)
  }

  /// Finds edges that a step of a sweep removed together with one of their ends (`Marks.swift`):
  /// the other end, if it still exists, has lost them. Their former origin does not matter, because
  /// the batch of that step has them in its trash. Edges in the application's tables
  /// (`LostPlaces.swift`) are used only if the model still describes them.
  private func findLostStored(_ db: borrowing Connection, _ rows: [Value]) throws {
    let places =
      ["(0, 0, 0, 0)"]
      + binding.looked.map {
        "(\($0.nameId), \($0.rules.rawValue), \($0.source.id), \($0.destination.id))"
      }
    let end = "SELECT collection FROM main.cascade_node WHERE id = iif(j.key = 0, j.c, j.a)"
    try db.run(
      generated: """
        INSERT OR IGNORE INTO temp.lost(source, name, destination, origin, rules, born, removal)
        SELECT a, b, c, 1, d, 0, key FROM main.cascade_journal AS j
        WHERE what < 1 AND seq > ? AND seq <= ? AND EXISTS (\(end)) AND (what = 0 OR EXISTS (
          SELECT 1 FROM (VALUES \(places.unique.joined(separator: ", "))) AS p
          WHERE p.column1 = j.b AND p.column2 & j.d AND iif(j.key = 0, p.column4, p.column3) = (\(end))))
        """, rows)
  }

  /// Numbers both ends of each lost edge, and moves the edges into `temp.lost`.
  private func keepLost(_ db: borrowing Connection) throws {
    try db.run(
      """
      INSERT OR IGNORE INTO temp.known(id, collection, key, row, present)
      SELECT (SELECT n.id FROM cascade_node AS n
          WHERE n.collection = l.source_collection AND n.key = l.source_key),
        l.source_collection, l.source_key, l.source_row, l.source_present
      FROM temp.loss AS l
      """)
    try db.run(
      """
      INSERT OR IGNORE INTO temp.known(id, collection, key, row, present)
      SELECT (SELECT n.id FROM cascade_node AS n
          WHERE n.collection = l.destination_collection AND n.key = l.destination_key),
        l.destination_collection, l.destination_key, l.destination_row, 1
      FROM temp.loss AS l WHERE l.destination IS NULL
      """)
    try db.run(
      generated: """
        INSERT OR IGNORE INTO temp.lost
        SELECT s.id, l.name, coalesce(l.destination, d.id), 1, l.rules, 0, l.removal
        \(Digest.numbered)
        """)
    if hasMourned { try db.keepUntold() }
    try db.run("DELETE FROM temp.loss")
    try db.run("DELETE FROM temp.departed")
  }
}

extension Digest {
  fileprivate static let numbered: StaticString = """
    FROM temp.loss AS l
    JOIN temp.known AS s
      ON s.id > 0 AND s.collection = l.source_collection AND s.key = l.source_key
    LEFT JOIN temp.known AS d
      ON d.id > 0 AND d.collection = l.destination_collection AND d.key = l.destination_key
    """

  /// Whether Cascade wrote a journal row itself and has written the notices for it (`Marks.swift`).
  fileprivate static func isTold(_ seq: String) -> String {
    """
    EXISTS (SELECT 1 FROM cascade_meta AS m WHERE m.name GLOB 'told.*'
      AND \(seq) > CAST(substr(m.name, 6) AS INTEGER) AND \(seq) <= m.value)
    """
  }
}

extension Place {
  /// The source's collection, key, row and presence. The key is that of the row, if the row still
  /// exists.
  fileprivate var oldSourceColumns: String {
    let isFound = source.isFound("s")
    return
      "\(source.id), iif(\(isFound), \(source.key("s")), o.key), \(source.row("s")), \(isFound)"
  }

  /// Whether a source that can refer to one thing only refers to nothing now.
  fileprivate var isLetGo: String {
    switch form {
    case .column, .typed: "\(reference) IS NULL"
    case .join, .json, .foreignKey: "1"
    }
  }

  /// Whether a declared list of the source contains the edge.
  fileprivate func isDeclared(_ old: OldEdge) -> String {
    """
    SELECT 1 FROM main.cascade_node AS m
    CROSS JOIN main.cascade_edge AS e ON e.source = m.id AND e.name = \(nameId) AND e.origin >= 1
    CROSS JOIN main.cascade_node AS n ON n.id = e.destination AND n.collection = \(destination.id)
    WHERE m.collection = \(source.id) AND m.key = o.key AND n.key = \(old.reference)
    """
  }
}

extension Connection {
  /// Marks the found nodes for whose last journal row the notices are written. `rule` holds its
  /// number.
  fileprivate func mournFound() throws(SQLiteError) {
    try run(
      generated: """
        INSERT OR IGNORE INTO temp.mourned(id) SELECT f.id FROM temp.found AS f
        WHERE \(Digest.isTold("f.rule"))
        """)
  }

  /// Keeps the edges that were gone before Cascade deleted their sources. The notices for that
  /// deletion did not cover them.
  fileprivate func keepUntold() throws(SQLiteError) {
    try run(
      generated: """
        INSERT OR IGNORE INTO temp.untold SELECT s.id, l.name, coalesce(l.destination, d.id)
        \(Digest.numbered)
        WHERE l.seq NOTNULL AND NOT \(Digest.isTold("l.seq"))
        """)
  }

  /// Moves the found nodes into `temp.dead`: they are gone, or never existed.
  func buryFound() throws(SQLiteError) {
    try run("INSERT OR IGNORE INTO temp.dead SELECT id FROM temp.found")
    try forgetFound()
  }
}
