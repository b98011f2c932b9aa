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
  private var size = 0
  private var sizeKnown = 0
  private let leases: LiveLeases
  /// For many nodes it may be better to read a whole table.
  private var isSmall: Bool { size <= 1_000 }

  private var db: Session { _read { yield store.db } }
  private var binding: Binding { store.binding }

  init(_ store: StoreConnection, journal: String?) throws {
    (self.store, self.journal, leases) = try (store, journal, LiveLeases(store))
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
      DELETE FROM pg_temp.gone; DELETE FROM pg_temp.first_gone; DELETE FROM pg_temp.denied;
      DELETE FROM pg_temp.kept
      """)
  }

  // MARK: - Where it begins

  /// Begins with rows that are there, and whose deletion is asked for.
  func begin(with table: MappedTable, keys: [String]) throws {
    try db.run(
      """
      INSERT INTO pg_temp.gone SELECT \(table.number), \(table.key.text("t")), 0
      FROM \(table.name) t WHERE \(table.key.isAny("t", "$1")) ON CONFLICT DO NOTHING
      """, [arrayText(keys)])
  }

  private func beginWithJournal() throws {
    guard let journal else { return }
    // The plan of a change file counts what the file deletes itself.
    for table in binding.tables.values where ownBatch != nil || binding.isMissed(table) {
      try db.run(
        """
        INSERT INTO pg_temp.gone SELECT DISTINCT j.subject, j.key, 0 FROM cascade.journal j
        WHERE \(journal) AND j.what = \(JournalSubject.gone.rawValue)
        AND j.subject = \(table.number) AND NOT \(table.has("j.key")) ON CONFLICT DO NOTHING
        """)
    }
  }

  /// Begins also with ends that do not exist.
  func begin(with missing: [DanglingReferences.Missing]) throws {
    for value in missing {
      try db.run(
        "INSERT INTO pg_temp.gone VALUES(\(value.table.number), $1, 0) "
          + "ON CONFLICT DO NOTHING", [value.value])
    }
  }

  // MARK: - What follows

  /// Completes the set. What is denied is left out, with what follows from it alone, until nothing
  /// more is denied: what goes anyway denies nothing.
  mutating func complete() throws {
    // A snapshot keeps no writer waiting, and what is looked for may be most of a table.
    try db.execute("SET LOCAL enable_hashjoin = on")
    defer { try? db.execute("SET LOCAL enable_hashjoin = off; SET LOCAL enable_seqscan = off") }
    // The server finds no difference between plans that all read a table that they should not.
    let isLong = "SELECT count(*) > 1000 FROM (SELECT FROM cascade.journal LIMIT 1001) j"
    if try db.run(isLong).bool { try db.execute("SET LOCAL enable_seqscan = on") }
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
        if try addDestinations(relation, .deleteDestinationIfSourceDeleted) { isAny = true }
      }
    }
    level += 1
    return isAny
  }

  private mutating func add(_ table: MappedTable, _ rows: String) throws -> Bool {
    let added = try db.run(
      """
      INSERT INTO pg_temp.gone(collection, key, level, rule, via, other)
      SELECT \(table.number), f.key, \(level + 1), f.rule, f.via, f.other
      FROM (\(rows)) f(key, rule, via, other)
      WHERE NOT EXISTS (SELECT FROM pg_temp.kept k
        WHERE k.collection = \(table.number) AND k.key = f.key)
      AND NOT \(leases.holds(table, "f.key")) ON CONFLICT DO NOTHING
      """
    ).changed
    size += added
    if size > max(1_000, 2 * sizeKnown) {
      try db.execute("ANALYZE pg_temp.gone")
      sizeKnown = size
    }
    return added > 0
  }

  private mutating func addSources(_ relation: EdgeRelation) throws -> Bool {
    try add(
      relation.source,
      """
      SELECT \(relation.source.key.text("s")), \(Rules.deleteSourceIfDestinationDeleted.rawValue),
      \(relation.number), g.key
      FROM pg_temp.gone g, \(relation.edges())
      WHERE g.collection = \(relation.destination.number) AND g.level = \(level)
      AND \(relation.leads(toText: "g.key"))\(andNowhereElse(relation))
      UNION ALL \(widowed(relation, .deleteSourceIfDestinationDeleted)) AND \(level == 0)
      """)
  }

  /// Destinations `t` of edges that lost their source, because it is in the set or the journal says
  /// so.
  private mutating func addDestinations(
    _ relation: EdgeRelation, _ rule: Rules, where condition: String = "true"
  ) throws -> Bool {
    let (edges, table) = (relation.edges(ofText: "g.key"), relation.destination)
    let isLevel = rule == .deleteDestinationIfSourceDeleted ? "g.level = \(level)" : "true"
    let ofSet = """
      SELECT \(table.key.text("t")), \(rule.rawValue), \(relation.number), g.key
      FROM pg_temp.gone g, \(edges.from), \(table.name) t
      WHERE g.collection = \(relation.source.number) AND \(isLevel) AND \(edges.condition)
      AND \(relation.leads(to: "t")) AND \(condition)
      """
    let isOnce = rule == .deleteDestinationIfSourceDeleted && level > 0
    return try add(
      table,
      journal == nil || isOnce
        ? ofSet : "\(ofSet) UNION ALL \(journaled(relation, rule, condition))")
  }

  private func journaled(
    _ relation: EdgeRelation, _ rule: Rules, _ condition: String
  ) -> String {
    let table = relation.destination
    return """
      SELECT \(table.key.text("t")), \(rule.rawValue), \(relation.number), j.key
      FROM cascade.journal j JOIN \(table.name) t ON \(table.key.equal("t", text: "j.other"))
      WHERE \(journal ?? "false") AND j.what = \(JournalSubject.lost.rawValue)
      AND j.subject = \(relation.number) AND \(condition)
      AND NOT \(relation.hasEdge("j.key", "j.other"))
      """
  }

  // MARK: - Counts

  private mutating func followCounts() throws -> Bool {
    var isAny = false
    for relation in binding.relations {
      if relation.rules.contains(.deleteDestinationIfAllSourcesDeleted) {
        if try addDestinations(
          relation, .deleteDestinationIfAllSourcesDeleted, where: "NOT \(hasSource(relation))")
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

  private mutating func addSourcesWithoutDestination(_ relation: EdgeRelation) throws -> Bool {
    let remain = binding.alikeAtSource(relation).map { alike in
      let table = alike.destination
      return alike.hasDestination(
        where: "NOT \(isGone(table, table.key.text("t")))", ofEachRow: isSmall)
    }
    return try add(
      relation.source,
      """
      SELECT \(relation.source.key.text("s")),
      \(Rules.deleteSourceIfAllDestinationsDeleted.rawValue), \(relation.number), g.key
      FROM pg_temp.gone g, \(relation.edges())
      WHERE g.collection = \(relation.destination.number) AND \(relation.leads(toText: "g.key"))
      AND NOT (\(remain.joined(separator: " OR ")))
      UNION ALL \(widowed(relation, .deleteSourceIfAllDestinationsDeleted))
      AND NOT (\(remain.joined(separator: " OR ")))
      """)
  }

  /// Sources `s` of edges that lost their destination, as the journal says.
  private func widowed(_ relation: EdgeRelation, _ rule: Rules) -> String {
    """
    SELECT \(relation.source.key.text("s")), \(rule.rawValue), \(relation.number), j.other
    FROM cascade.journal j
    JOIN \(relation.source.name) s ON \(relation.source.key.equal("s", text: "j.key"))
    WHERE \(journal ?? "false") AND j.what = \(JournalSubject.widowed.rawValue)
    AND j.subject = \(relation.number) AND NOT \(relation.isRestored("j.key", "j.other"))
    """
  }

  /// Whether an edge of the relation's name leads to the row `t` from a row that stays.
  private func hasSource(_ relation: EdgeRelation) -> String {
    let table = relation.destination
    let remain = binding.alikeAtDestination(relation).map { alike in
      alike.hasSource(
        where: """
          NOT \(isGone(alike.source, alike.source.key.text("s")))
          AND NOT \(isGone(table, table.key.text("t")))
          """, ofEachRow: isSmall)
    }
    return "(\(remain.joined(separator: " OR ")))"
  }

  /// What to append to a condition for an edge, so that no other row that stays has the key.
  private func andNowhereElse(_ relation: EdgeRelation) -> String {
    relation.andNowhereElse { "NOT \(isGone($0, $0.key.text("a")))" }
  }

  private func isGone(_ table: MappedTable, _ key: String) -> String {
    """
    EXISTS (SELECT FROM pg_temp.gone o WHERE o.collection = \(table.number) AND o.key = \(key))
    """
  }

  // MARK: - Denials

  private func leaveOutDenied() throws -> Bool {
    if !binding.denies { return false }
    for relation in binding.relations { try deny(relation) }
    // A change file is rejected for what it would delete, if that is denied.
    if ownBatch != nil { return false }
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

  private func deny(_ relation: EdgeRelation) throws {
    let (source, table) = (relation.source, relation.destination)
    if relation.rules.contains(.denyDestinationDeletion) {
      try db.run(
        """
        INSERT INTO pg_temp.denied SELECT g.collection, g.key, \(relation.number),
          \(source.key.text("s")), g.key
        FROM pg_temp.gone g, \(relation.edges())
        WHERE g.collection = \(table.number) AND \(relation.leads(toText: "g.key"))
        \(andNowhereElse(relation))
        AND NOT \(isGone(source, source.key.text("s"))) AND (\(table.has("g.key")) OR \(isOwn("g")))
        """)
    }
    if relation.rules.contains(.denySourceDeletion) {
      let edges = relation.edges(ofText: "g.key")
      try db.run(
        """
        INSERT INTO pg_temp.denied SELECT g.collection, g.key, \(relation.number), g.key,
          \(table.key.text("t"))
        FROM pg_temp.gone g, \(edges.from), \(table.name) t
        WHERE g.collection = \(source.number) AND \(edges.condition)
        AND \(relation.leads(to: "t")) AND NOT \(isGone(table, table.key.text("t")))
        AND (\(source.has("g.key")) OR \(isOwn("g")))
        """)
      try denyJournaled(relation)
    }
  }

  /// A row that this transaction deleted is denied like one that is there.
  private func denyJournaled(_ relation: EdgeRelation) throws {
    // Join rows are still there.
    guard let batch = ownBatch, relation.join == nil else { return }
    let table = relation.destination
    try db.run(
      """
      INSERT INTO pg_temp.denied SELECT \(relation.source.number), j.key, \(relation.number),
        j.key, j.other
      FROM cascade.journal j JOIN \(table.name) t ON \(table.key.equal("t", text: "j.other"))
      WHERE j.batch = \(batch) AND j.what = \(JournalSubject.lost.rawValue)
      AND j.subject = \(relation.number) AND NOT \(isGone(table, table.key.text("t")))
      AND NOT \(relation.source.has("j.key")) AND EXISTS (SELECT FROM cascade.deleted k
        WHERE k.batch = \(batch) AND k.collection = \(relation.source.number) AND k.key = j.key)
      """)
  }

  /// The batch of a change file: what it deleted can still be brought back.
  var ownBatch: Int64?
  /// What it deleted up to here is gone for good, and counts for the hold.
  var lastDeleted: Int64 = 0

  private func isOwn(_ row: String) -> String {
    guard let batch = ownBatch else { return "false" }
    return """
      EXISTS (SELECT FROM cascade.deleted k WHERE k.batch = \(batch) AND k.is_own
        AND k.id > \(lastDeleted)
        AND k.collection = \(row).collection AND k.key = \(row).key)
      """
  }
}
