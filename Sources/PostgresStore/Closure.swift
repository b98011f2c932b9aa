internal import CascadeModel
internal import CascadePostgres
internal import CascadeStore

/// Computes in a temporary table what would go, without deleting anything: for plans, the hold and
/// denials. It must run in a transaction, which the table does not outlive.
struct Closure {
  let store: StoreConnection
  /// Which rows `j` of the journal it begins with; nil for none.
  let journal: String?
  private var level = 0

  private var db: Session { _read { yield store.db } }
  private var binding: Binding { store.binding }

  init(_ store: StoreConnection, journal: String?) throws {
    (self.store, self.journal) = (store, journal)
    try store.db.execute(
      """
      CREATE TEMPORARY TABLE IF NOT EXISTS gone(
        collection int NOT NULL, key text NOT NULL, level int NOT NULL, rule smallint, via int,
        other text, PRIMARY KEY(collection, key)) ON COMMIT DELETE ROWS;
      CREATE TEMPORARY TABLE IF NOT EXISTS denied(
        collection int NOT NULL, key text NOT NULL, via int NOT NULL, source text NOT NULL,
        destination text NOT NULL) ON COMMIT DELETE ROWS;
      CREATE TEMPORARY TABLE IF NOT EXISTS kept(
        collection int NOT NULL, key text NOT NULL, PRIMARY KEY(collection, key))
        ON COMMIT DELETE ROWS;
      CREATE TEMPORARY TABLE IF NOT EXISTS first_gone(LIKE pg_temp.gone) ON COMMIT DELETE ROWS;
      TRUNCATE pg_temp.gone, pg_temp.first_gone, pg_temp.denied, pg_temp.kept
      """)
  }

  // MARK: - Where it begins

  /// Begins with rows that are there, and whose deletion is asked for.
  func begin(with table: MappedTable, keys: [String]) throws {
    try db.run(
      """
      INSERT INTO pg_temp.gone SELECT \(table.number), t.\(table.key)::text, 0 FROM \(table.name) t
      WHERE t.\(table.key) = ANY\("$1".array(of: table.family)) ON CONFLICT DO NOTHING
      """, [arrayText(keys)])
  }

  private func beginWithJournal() throws {
    guard let journal else { return }
    for table in binding.tables.values {
      try db.run(
        """
        INSERT INTO pg_temp.gone SELECT DISTINCT j.subject, j.key, 0 FROM cascade.journal j
        WHERE \(journal) AND j.what = \(JournalSubject.gone.rawValue)
        AND j.subject = \(table.number) AND NOT \(exists(table, "j.key")) ON CONFLICT DO NOTHING
        """)
    }
  }

  /// Begins also with destinations that do not exist.
  func begin(with missing: [DanglingReferences.Missing]) throws {
    for value in missing {
      try db.run(
        "INSERT INTO pg_temp.gone VALUES(\(value.relation.destination.number), $1, 0) "
          + "ON CONFLICT DO NOTHING", [value.value])
    }
  }

  // MARK: - What follows

  /// Completes the set. What is denied is left out, with what follows from it alone, until nothing
  /// more is denied: what goes anyway denies nothing.
  mutating func complete() throws {
    try beginWithJournal()
    try db.execute("INSERT INTO pg_temp.first_gone SELECT * FROM pg_temp.gone")
    repeat {
      try close()
    } while try leaveOutDenied()
  }

  private mutating func close() throws {
    level = 0
    while true {
      while try followDeletes() {}
      if try !followCounts() { return }
    }
  }

  private mutating func followDeletes() throws -> Bool {
    var isAny = false
    for relation in binding.relations {
      if relation.rules.contains(.deleteSourceIfDestinationDeleted) {
        if try addSources(relation) { isAny = true }
      }
      if relation.rules.contains(.deleteDestinationIfSourceDeleted) {
        if try addDestinations(relation, .deleteDestinationIfSourceDeleted, "true") { isAny = true }
      }
    }
    level += 1
    return isAny
  }

  private func add(_ table: MappedTable, _ rows: String) throws -> Bool {
    try db.run(
      """
      INSERT INTO pg_temp.gone(collection, key, level, rule, via, other)
      SELECT DISTINCT ON (f.key) \(table.number), f.key, \(level + 1), f.rule, f.via, f.other
      FROM (\(rows)) f(key, rule, via, other)
      WHERE NOT EXISTS (SELECT FROM pg_temp.kept k
        WHERE k.collection = \(table.number) AND k.key = f.key)
      ON CONFLICT DO NOTHING
      """
    ).changed > 0
  }

  private func addSources(_ relation: ColumnRelation) throws -> Bool {
    try add(
      relation.source,
      """
      SELECT x.\(relation.source.key)::text, \(Rules.deleteSourceIfDestinationDeleted.rawValue),
      \(relation.number), g.key
      FROM pg_temp.gone g JOIN \(relation.source.name) x
      ON x.\(relation.column) = \("g.key".cast(to: relation.destination.family))
      WHERE g.collection = \(relation.destination.number) AND g.level = \(level)
      """)
  }

  /// Destinations `x` of edges that lost their source, because it is in the set or the journal says
  /// so.
  private func addDestinations(
    _ relation: ColumnRelation, _ rule: Rules, _ condition: String
  ) throws -> Bool {
    let (source, table) = (relation.source, relation.destination)
    let isLevel = rule == .deleteDestinationIfSourceDeleted ? "g.level = \(level)" : "true"
    let ofSet = """
      SELECT x.\(table.key)::text, \(rule.rawValue), \(relation.number), g.key
      FROM pg_temp.gone g JOIN \(source.name) s
      ON s.\(source.key) = \("g.key".cast(to: source.family))
      JOIN \(table.name) x ON x.\(table.key) = s.\(relation.column)
      WHERE g.collection = \(source.number) AND \(isLevel) AND \(condition)
      """
    let isOnce = rule == .deleteDestinationIfSourceDeleted && level > 0
    return try add(
      table,
      journal == nil || isOnce
        ? ofSet : "\(ofSet) UNION ALL \(journaled(relation, rule, condition))")
  }

  private func journaled(
    _ relation: ColumnRelation, _ rule: Rules, _ condition: String
  ) -> String {
    let (source, table) = (relation.source, relation.destination)
    return """
      SELECT x.\(table.key)::text, \(rule.rawValue), \(relation.number), j.key
      FROM cascade.journal j JOIN \(table.name) x
      ON x.\(table.key) = \("j.other".cast(to: table.family))
      WHERE \(journal ?? "false") AND j.what = \(JournalSubject.lost.rawValue)
      AND j.subject = \(relation.number) AND \(condition) AND NOT EXISTS (
        SELECT FROM \(source.name) s WHERE s.\(source.key) = \("j.key".cast(to: source.family))
        AND s.\(relation.column) = x.\(table.key))
      """
  }

  // MARK: - Counts

  private mutating func followCounts() throws -> Bool {
    var isAny = false
    for relation in binding.relations {
      if relation.rules.contains(.deleteDestinationIfAllSourcesDeleted) {
        if try addDestinations(
          relation, .deleteDestinationIfAllSourcesDeleted, "NOT (\(hasSource(relation)))")
        {
          isAny = true
        }
      }
      if relation.rules.contains(.deleteSourceIfAllDestinationsDeleted) {
        if try addSourcesWithoutDestination(relation) { isAny = true }
      }
    }
    level += 1
    return isAny
  }

  private func addSourcesWithoutDestination(_ relation: ColumnRelation) throws -> Bool {
    let source = relation.source
    let alike = binding.relations(from: source).filter { $0.name == relation.name }.map {
      """
      EXISTS (SELECT FROM \($0.destination.name) t
        WHERE t.\($0.destination.key) = x.\($0.column)
        AND NOT \(isGone($0.destination, "t.\($0.destination.key)::text")))
      """
    }
    return try add(
      source,
      """
      SELECT x.\(source.key)::text, \(Rules.deleteSourceIfAllDestinationsDeleted.rawValue),
      \(relation.number), g.key
      FROM pg_temp.gone g JOIN \(source.name) x
      ON x.\(relation.column) = \("g.key".cast(to: relation.destination.family))
      WHERE g.collection = \(relation.destination.number)
      AND NOT (\(alike.joined(separator: " OR ")))
      """)
  }

  /// Whether an edge of the relation's name leads to the row `x` from a row that stays.
  private func hasSource(_ relation: ColumnRelation) -> String {
    let table = relation.destination
    return binding.relations(to: table).filter { $0.name == relation.name }.map { alike in
      """
      EXISTS (SELECT FROM \(alike.source.name) h WHERE h.\(alike.column) = x.\(table.key)
        AND NOT \(isGone(alike.source, "h.\(alike.source.key)::text"))
        AND NOT \(isGone(table, "x.\(table.key)::text")))
      """
    }.joined(separator: " OR ")
  }

  private func isGone(_ table: MappedTable, _ key: String) -> String {
    """
    EXISTS (SELECT FROM pg_temp.gone o WHERE o.collection = \(table.number) AND o.key = \(key))
    """
  }

  private func exists(_ table: MappedTable, _ key: String) -> String {
    "EXISTS (SELECT FROM \(table.name) t WHERE t.\(table.key) = \(key.cast(to: table.family)))"
  }

  // MARK: - Denials

  private func leaveOutDenied() throws -> Bool {
    if !binding.denies { return false }
    for relation in binding.relations { try deny(relation) }
    let isNews =
      try db.run(
        """
        INSERT INTO pg_temp.kept SELECT DISTINCT d.collection, d.key FROM pg_temp.denied d
        ON CONFLICT DO NOTHING
        """
      ).changed > 0
    if !isNews { return false }
    try db.execute(
      """
      DELETE FROM pg_temp.gone;
      INSERT INTO pg_temp.gone SELECT * FROM pg_temp.first_gone f WHERE NOT EXISTS (
        SELECT FROM pg_temp.kept k WHERE k.collection = f.collection AND k.key = f.key)
      """)
    return true
  }

  private func deny(_ relation: ColumnRelation) throws {
    let (source, table) = (relation.source, relation.destination)
    let ends = "s.\(source.key)::text, t.\(table.key)::text"
    if relation.rules.contains(.denyDestinationDeletion) {
      try db.run(
        """
        INSERT INTO pg_temp.denied SELECT g.collection, g.key, \(relation.number),
          s.\(source.key)::text, g.key
        FROM pg_temp.gone g JOIN \(source.name) s
        ON s.\(relation.column) = \("g.key".cast(to: table.family))
        WHERE g.collection = \(table.number) AND NOT \(isGone(source, "s.\(source.key)::text"))
        AND (\(exists(table, "g.key")) OR \(isOwn("g")))
        """)
    }
    if relation.rules.contains(.denySourceDeletion) {
      try db.run(
        """
        INSERT INTO pg_temp.denied SELECT g.collection, g.key, \(relation.number), \(ends)
        FROM pg_temp.gone g JOIN \(source.name) s
        ON s.\(source.key) = \("g.key".cast(to: source.family))
        JOIN \(table.name) t ON t.\(table.key) = s.\(relation.column)
        WHERE g.collection = \(source.number) AND NOT \(isGone(table, "t.\(table.key)::text"))
        """)
      try denyJournaled(relation)
    }
  }

  /// A row that this transaction deleted is denied like one that is there.
  private func denyJournaled(_ relation: ColumnRelation) throws {
    guard let batch = ownBatch else { return }
    let table = relation.destination
    try db.run(
      """
      INSERT INTO pg_temp.denied SELECT \(relation.source.number), j.key, \(relation.number),
        j.key, j.other
      FROM cascade.journal j JOIN \(table.name) t
      ON t.\(table.key) = \("j.other".cast(to: table.family))
      WHERE j.batch = \(batch) AND j.what = \(JournalSubject.lost.rawValue)
      AND j.subject = \(relation.number) AND NOT \(isGone(table, "t.\(table.key)::text"))
      """)
  }

  /// The batch of a change file: what it deleted can still be brought back.
  var ownBatch: Int64?

  private func isOwn(_ row: String) -> String {
    guard let batch = ownBatch else { return "false" }
    return """
      EXISTS (SELECT FROM cascade.deleted k WHERE k.batch = \(batch) AND k.is_own
        AND k.collection = \(row).collection AND k.key = \(row).key)
      """
  }
}
