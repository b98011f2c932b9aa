internal import CascadeModel
package import CascadePostgres
internal import CascadeStore
package import PostgresBinding
package import PostgresTables

/// Computes in scratch tables what would go, without deleting anything: for plans, the hold and
/// denials. It must run in a transaction, at whose end the tables are empty.
package struct Closure {
  package let store: StoreConnection
  /// What it begins with, beside what is asked for; nil for nothing.
  package let journal: JournalRows?
  private var level = 0
  /// How many rows of a table are in the set, by the number of the table.
  package var counts: [Int64: Int] = [:]
  /// How many nodes of a table would go, and are not in the set one by one.
  package var leaves: [(relation: EdgeRelation, count: Int)] = []
  var leafRelations: Set<Int64> = []
  /// Whether what the roots of the model do not reach goes, too.
  package var collectsUnreachable = false
  /// Whether some nodes are reached only because of leases.
  package var isReachedByLease = false
  /// How many rows were in the set when it had got what the roots do not reach.
  var markedCount: Int?
  /// The tables that got rows at this level, and at the next one.
  private var (fresh, next): (Set<Int64>, Set<Int64>) = ([], [])
  /// How many rows were in the tables on which a count depends, when it was asked. A relation may be
  /// counted at both ends.
  private var counted: [JournalSubject: [Int64: Int]] = [:]
  private var size = 0
  private var sizeKnown = 0
  package let leases: LiveLeases
  /// What a change file deleted up to here is gone for good, and counts for the hold.
  package var lastDeleted: Int64 = 0
  /// Whether what was held back is left to the sweep that looks at it again: no change file is rejected
  /// for it.
  package var leavesWaiting = false
  /// Whether it is the plan of a job: each node is in the set, also one that is denied or leased.
  package var isOfJob = false
  /// Rows of `cascade.work` that tell what rows referred to before a change file wrote them.
  package var writtenBefore: [Int64] = []
  /// For many nodes it may be better to read a whole table.
  private var isSmall: Bool { size <= 1_000 && !(journal?.isLong ?? false) }

  package var db: Session { _read { yield store.db } }
  package var binding: Binding { store.binding }
  var scratch: ScratchTables { store.scratch }

  package init(_ store: StoreConnection, journal: JournalRows?) throws {
    (self.store, self.journal, leases) = try (store, journal, LiveLeases(store))
    try store.begin(ScratchTables.Table.ofClosures)
  }

  // MARK: - Where it begins

  /// Begins with rows that are there, and whose deletion is asked for.
  package mutating func begin(with table: MappedTable, keys: [String]) throws {
    counts[table.number, default: 0] += try db.run(
      """
      INSERT INTO \(scratch.into(.gone)) SELECT \(table.number), \(table.key.text("t")), 0
      FROM \(table.name) t WHERE \(table.key.isAny("t", "$1")) ON CONFLICT DO NOTHING
      """, [arrayText(keys)]
    ).changed
  }

  private mutating func beginWithJournal() throws {
    guard let journal else { return }
    for table in binding.tables.values where journal.has(.gone, table.number) {
      // The plan of a change file counts what the file deletes itself.
      if journal.ownBatch == nil && !binding.isMissed(table) { continue }
      counts[table.number, default: 0] += try db.run(
        """
        INSERT INTO \(scratch.into(.gone)) SELECT DISTINCT j.subject, j.key, 0 FROM \(journal.rows) j
        WHERE j.what = \(JournalSubject.gone.rawValue)
        AND j.subject = \(table.number) AND NOT \(table.has("j.key")) ON CONFLICT DO NOTHING
        """
      ).changed
    }
  }

  /// Begins also with ends that do not exist.
  package mutating func begin(with missing: [DanglingReferences.Missing]) throws {
    for value in missing {
      counts[value.table.number, default: 0] += try db.run(
        "INSERT INTO \(scratch.into(.gone)) VALUES(\(value.table.number), $1, 0) "
          + "ON CONFLICT DO NOTHING", [value.value]
      ).changed
    }
  }

  // MARK: - What follows

  /// With what servers have by default, a join with a hundred thousand keys writes files.
  private static let memory = "'16MB'"

  /// Completes the set. What is denied is left out, with what follows from it alone, until nothing
  /// more is denied: what goes anyway denies nothing.
  package mutating func complete() throws {
    // A snapshot keeps no writer waiting, and what is looked for may be most of a table.
    try db.execute("SET LOCAL enable_hashjoin = on; SET LOCAL work_mem = \(Closure.memory)")
    defer {
      try? db.execute(
        """
        SET LOCAL enable_hashjoin = off; SET LOCAL enable_seqscan = off;
        SET LOCAL work_mem TO DEFAULT
        """)
    }
    // The server finds no difference between plans that all read a table that they should not.
    if journal?.isLong ?? false { try db.execute("SET LOCAL enable_seqscan = on") }
    leafRelations = collectsUnreachable || isOfJob ? [] : findLeaves()
    try beginWithJournal()
    if binding.denies {
      try db.execute("INSERT INTO \(scratch.into(.firstGone)) SELECT * FROM \(scratch[.gone]) g")
    }
    repeat {
      try close()
    } while try leaveOutDenied()
    try countLeaves()
  }

  private mutating func close() throws {
    (level, counted, markedCount) = (0, [:], nil)
    counts = counts.filter { $0.value > 0 }
    fresh = Set(counts.keys)
    while true {
      while try followDeletes() {}
      if try followCounts() { continue }
      if try !addUnreachable() { return }
    }
  }

  mutating func endLevel() -> Bool {
    defer { (fresh, next, level) = (next, [], level + 1) }
    return !next.isEmpty
  }

  private mutating func followDeletes() throws -> Bool {
    for relation in binding.relations {
      if relation.rules.contains(.deleteSourceIfDestinationDeleted)
        && !leafRelations.contains(relation.number)
        && isNews(relation.destination, .widowed, relation)
      {
        try addSources(relation)
      }
      if relation.rules.contains(.deleteDestinationIfSourceDeleted)
        && relation.sources.contains(where: { isNews($0, .lost, relation) })
      {
        try addDestinations(relation, .deleteDestinationIfSourceDeleted)
      }
    }
    return endLevel()
  }

  /// Whether something may follow at this level.
  private func isNews(
    _ table: MappedTable, _ what: JournalSubject, _ relation: EdgeRelation
  ) -> Bool {
    fresh.contains(table.number) || level == 0 && isJournaled(what, relation)
  }

  func isJournaled(_ what: JournalSubject, _ relation: EdgeRelation) -> Bool {
    journal?.has(what, relation.number) ?? false
  }

  mutating func add(_ table: MappedTable, _ rows: String) throws {
    let isLeftOut = """
      EXISTS (SELECT FROM \(scratch[.kept]) k WHERE k.collection = \(table.number) AND k.key = f.key)
      """
    let added = try db.run(
      """
      INSERT INTO \(scratch.into(.gone))(collection, key, level, rule, via, other)
      SELECT \(table.number), f.key, \(level + 1), f.rule, f.via, f.other
      FROM (\(rows)) f(key, rule, via, other)
      WHERE NOT \(isOfJob ? "false" : leases.holds(table, "f.key")) \(binding.denies ? "AND NOT \(isLeftOut)" : "")
      ON CONFLICT DO NOTHING
      """
    ).changed
    if added == 0 { return }
    next.insert(table.number)
    counts[table.number, default: 0] += added
    size += added
    if size > max(1_000, 2 * sizeKnown) {
      try scratch.countRows(of: .gone, db)
      try db.execute("SET LOCAL enable_seqscan = on")
      sizeKnown = size
    }
  }

  private mutating func addSources(_ relation: EdgeRelation) throws {
    let ofSet = """
      SELECT \(relation.source.key.text("s")), \(Rules.deleteSourceIfDestinationDeleted.rawValue),
      \(relation.number), g.key
      FROM \(scratch[.gone]) g, \(relation.edges())
      WHERE g.collection = \(relation.destination.number) AND g.level = \(level)
      AND \(relation.leads(toText: "g.key"))\(andNowhereElse(relation))
      AND \(isNotWaiting(relation))
      """
    try add(
      relation.source,
      union(
        ofSet, level == 0 ? widowed(relation, .deleteSourceIfDestinationDeleted) : nil))
  }

  private func isNotWaiting(_ relation: EdgeRelation) -> String {
    leavesWaiting ? relation.isNotHeldBack(lost: "g.key") : "true"
  }

  private func union(_ first: String, _ second: String?) -> String {
    second.map { "\(first) UNION ALL \($0)" } ?? first
  }

  /// Destinations `t` of edges that lost their source, because it is in the set or the journal says
  /// so.
  private mutating func addDestinations(
    _ relation: EdgeRelation, _ rule: Rules, where condition: String = "true"
  ) throws {
    let table = relation.destination
    let isEach = rule == .deleteDestinationIfSourceDeleted
    func lost(_ node: MappedTable, _ edges: (from: String, condition: String)) -> String {
      """
      SELECT \(table.key.text("t")), \(rule.rawValue), \(relation.number), \(relation.from())
      FROM \(scratch[.gone]) g, \(edges.from), \(table.name) t
      WHERE g.collection = \(node.number) AND \(isEach ? "g.level = \(level)" : "true")
      AND \(edges.condition) AND \(relation.leads(to: "t")) AND \(condition)
      """
    }
    var ofSet = lost(relation.lostWith, relation.edges(lostWithText: "g.key"))
    if let nodes = relation.join?.nodes {
      // A join row that is a node may have to stay without its source.
      ofSet +=
        " AND \(isLastRow(relation)) UNION ALL "
        + lost(relation.source, relation.edges(ofText: "g.key"))
        + " AND NOT \(leases.holds(nodes, nodes.key.text("e")))"
    }
    let isOnce = isEach && level > 0
    try add(table, union(ofSet, isOnce ? nil : journaled(relation, rule, condition)))
  }

  /// One edge to each destination tells enough. Whether an edge is there again, a count sees itself.
  private func journaled(
    _ relation: EdgeRelation, _ rule: Rules, _ condition: String
  ) -> String? {
    guard let journal, isJournaled(.lost, relation) else { return nil }
    let table = relation.destination
    let isJournaled = """
      j.what = \(JournalSubject.lost.rawValue) AND j.subject = \(relation.number)
      """
    let isGone =
      rule == .deleteDestinationIfSourceDeleted
      ? "NOT \(store.binding.hasEdge(relation, lostIn: "j"))" : "true"
    return """
      SELECT \(table.key.text("t")), \(rule.rawValue), \(relation.number), j.key
      FROM (SELECT j.other, min(j.key) AS key FROM \(journal.rows) j
        WHERE \(isJournaled) AND \(isGone) GROUP BY 1) j
      JOIN \(table.name) t ON \(table.key.equal("t", text: "j.other")) WHERE \(condition)
      """
  }

  // MARK: - Counts

  private mutating func followCounts() throws -> Bool {
    for relation in binding.relations {
      if relation.rules.contains(.deleteDestinationIfAllSourcesDeleted),
        isCountNew(relation, binding.alikeAtDestination(relation).flatMap(\.sources), .lost)
      {
        try addDestinations(
          relation, .deleteDestinationIfAllSourcesDeleted, where: "NOT \(hasSource(relation))")
      }
      if relation.rules.contains(.deleteSourceIfAllDestinationsDeleted),
        isCountNew(relation, binding.alikeAtSource(relation).flatMap(\.destinations), .widowed)
      {
        try addSourcesWithoutDestination(relation)
      }
    }
    return endLevel()
  }

  /// Whether edges may have gone, from or to these tables, since the relation was counted.
  private mutating func isCountNew(
    _ relation: EdgeRelation, _ tables: [MappedTable], _ what: JournalSubject
  ) -> Bool {
    let gone = Set(tables.map(\.number)).reduce(0) { $0 + (counts[$1] ?? 0) }
    if gone == 0 && !isJournaled(what, relation) { return false }
    defer { counted[what, default: [:]][relation.number] = gone }
    return counted[what]?[relation.number] != gone
  }

  private mutating func addSourcesWithoutDestination(_ relation: EdgeRelation) throws {
    let remain = binding.alikeAtSource(relation).map { alike in
      let table = alike.destination
      return alike.hasDestination(
        where: "\(stays(table, "t")) AND \(rowStays(alike))", ofEachRow: isSmall)
    }.joined(separator: " OR ")
    let ofSet = """
      SELECT \(relation.source.key.text("s")),
      \(Rules.deleteSourceIfAllDestinationsDeleted.rawValue), \(relation.number), g.key
      FROM \(scratch[.gone]) g, \(relation.edges())
      WHERE g.collection = \(relation.destination.number) AND \(relation.leads(toText: "g.key"))
      AND NOT (\(remain)) AND \(isNotWaiting(relation))
      """
    let widowed = widowed(relation, .deleteSourceIfAllDestinationsDeleted)
    try add(relation.source, union(ofSet, widowed.map { "\($0) AND NOT (\(remain))" }))
  }

  /// Sources `s` of edges that lost their destination, as the journal says. Whether an edge is there again,
  /// a count sees itself.
  private func widowed(_ relation: EdgeRelation, _ rule: Rules) -> String? {
    guard let journal, isJournaled(.widowed, relation) else { return nil }
    let isEach = rule == .deleteSourceIfDestinationDeleted
    return """
      SELECT \(relation.source.key.text("s")), \(rule.rawValue), \(relation.number), j.other
      FROM \(journal.rows) j
      JOIN \(relation.source.name) s ON \(relation.source.key.equal("s", text: "j.key"))
      WHERE j.what = \(JournalSubject.widowed.rawValue) AND j.subject = \(relation.number)
      AND \(isEach ? "NOT \(relation.isRestored(lostIn: "j"))" : "true")
      """
  }

  /// Whether an edge of the relation's name leads to the row `t` from a row that stays.
  private func hasSource(_ relation: EdgeRelation) -> String {
    let table = relation.destination
    let remain = binding.alikeAtDestination(relation).map { alike in
      alike.hasSource(
        where: "\(stays(alike.source, "s")) AND \(stays(table, "t")) AND \(rowStays(alike))",
        ofEachRow: isSmall)
    }
    return "(\(remain.joined(separator: " OR ")))"
  }

  /// What to append to a condition for an edge, so that no other row that stays has the key.
  func andNowhereElse(_ relation: EdgeRelation) -> String {
    relation.andNowhereElse { "NOT \(isGone($0, $0.key.text("a")))" }
  }

  /// Whether the row of the edge stays, if it is a node itself.
  private func rowStays(_ relation: EdgeRelation) -> String {
    relation.join?.nodes.map { stays($0, "e") } ?? "true"
  }

  /// Whether no other row that stays is the same edge.
  private func isLastRow(_ relation: EdgeRelation) -> String {
    guard let join = relation.join, let nodes = join.nodes else { return "true" }
    let isSame = [join.source, join.destination].map { $0.equal("r", $0, "e") }
    return "NOT EXISTS (SELECT FROM \(join.name) r WHERE \(isSame.joined(separator: " AND ")) "
      + "AND \(stays(nodes, "r")))"
  }

  /// Whether a row of a table is not in the set.
  package func stays(_ table: MappedTable, _ row: String) -> String {
    counts[table.number] == nil ? "true" : "NOT \(isGone(table, table.key.text(row)))"
  }

  func isGone(_ table: MappedTable, _ key: String) -> String {
    """
    EXISTS (SELECT FROM \(scratch[.gone]) o WHERE o.collection = \(table.number) AND o.key = \(key))
    """
  }
}
