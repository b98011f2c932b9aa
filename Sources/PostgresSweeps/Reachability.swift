internal import CascadeModel
internal import CascadePostgres
internal import PostgresBinding
internal import PostgresTables

/// Marks the nodes that a chain of edges reaches from the roots of the model, level by level, in a
/// scratch table. Leased nodes count as roots, so what they lead to is kept as well. No path leads
/// through what is in the set of the closure.
struct Reachability {
  private let closure: Closure
  private var level = 0
  /// How many nodes are on this level.
  private var fresh = 0
  private var (count, countKnown) = (0, 0)

  private var store: StoreConnection { closure.store }
  private var reached: String { closure.scratch[.reached] }

  init(without closure: Closure) { self.closure = closure }

  /// Returns whether some nodes are reached only because of leases.
  mutating func mark() throws -> Bool {
    try store.begin([.reached])
    for root in store.model.roots { try add(root: root) }
    try addSpared()
    try followAll()
    let byRoots = count
    if closure.leases.isAny {
      for table in store.binding.tables.values {
        try add(table, "\(closure.leases.holds(table, table.key.text("t")))")
      }
      try followAll()
    }
    return count > byRoots
  }

  /// What a held plan would let go, or what was given up, leads on to what it led to.
  private mutating func addSpared() throws {
    if try !SparedCauses(store).areAny { return }
    func add(_ what: JournalSubject, _ subject: Int64, _ key: String, _ table: MappedTable) throws {
      try self.add(
        """
        SELECT DISTINCT \(table.number), \(key), \(level) FROM \(SparedCauses.rows)
        WHERE h.what = \(what.rawValue) AND h.subject = \(subject)
        """)
    }
    for table in store.binding.tables.values { try add(.gone, table.number, "h.key", table) }
    for relation in store.binding.relations {
      try add(.lost, relation.number, "h.other", relation.destination)
      try add(.widowed, relation.number, "h.key", relation.source)
    }
  }

  private mutating func add(root: String) throws {
    let model = store.model
    guard let table = store.binding.tables[model.collection(of: root)] else { return }
    try add(
      table, root == table.collection ? "true" : isOne(of: model.types(called: root), "t"))
  }

  private mutating func add(_ table: MappedTable, _ condition: String) throws {
    try add(
      """
      SELECT \(table.number), \(table.key.text("t")), \(level) FROM \(table.name) t
      WHERE \(condition) AND \(closure.stays(table, "t"))
      """)
  }

  private mutating func add(_ rows: String) throws {
    let added = try store.db.run(
      "INSERT INTO \(closure.scratch.into(.reached))(collection, key, level) \(rows) "
        + "ON CONFLICT DO NOTHING"
    ).changed
    fresh += added
    count += added
    if count <= max(1_000, 2 * countKnown) { return }
    try closure.scratch.countRows(of: .reached, store.db)
    try store.db.execute("SET LOCAL enable_seqscan = on")
    countKnown = count
  }

  // MARK: - Levels

  /// A chain has as many levels as nodes, so one query follows few nodes for several levels.
  private static let few = 100
  private static let mostByOneQuery = 10_000

  private mutating func followAll() throws {
    let paths = store.binding.paths
    while fresh > 0 && !paths.isEmpty {
      let isFew = fresh <= Reachability.few
      fresh = 0
      level += 1
      if isFew { try followFar(paths) } else { try paths.forEach { try follow($0) } }
    }
    fresh = 0
  }

  private mutating func follow(_ path: EdgePath) throws {
    try add(
      """
      SELECT n.collection, n.key, \(level) FROM \(reached) g
      CROSS JOIN LATERAL (\(path.ends(of: "g"))) n(collection, key)
      WHERE g.level = \(level - 1) AND \(stays(path))
      """)
  }

  private func stays(_ path: EdgePath) -> String {
    closure.counts[path.to.number] == nil ? "true" : "NOT \(closure.isGone(path.to, "n.key"))"
  }

  private mutating func followFar(_ paths: [EdgePath]) throws {
    let ends = paths.map {
      "SELECT * FROM (\($0.ends(of: "g"))) n(collection, key) WHERE \(stays($0))"
    }.joined(separator: " UNION ALL ")
    try add(
      """
      WITH RECURSIVE w(collection, key) AS (
        SELECT g.collection, g.key FROM \(reached) g WHERE g.level = \(level - 1)
        UNION SELECT n.collection, n.key FROM w g CROSS JOIN LATERAL (\(ends)) n
        WHERE NOT EXISTS (SELECT FROM \(reached) r
          WHERE r.collection = n.collection AND r.key = n.key))
      SELECT w.collection, w.key, \(level) FROM w LIMIT \(Reachability.mostByOneQuery)
      """)
  }
}

extension Closure {
  /// Adds what the roots do not reach without what is in the set. What goes by a rule may have been the
  /// way to more.
  mutating func addUnreachable() throws -> Bool {
    if !collectsUnreachable || markedCount == count { return false }
    var reachability = Reachability(without: self)
    if try reachability.mark() { isReachedByLease = true }
    for table in binding.collected {
      let key = table.key.text("d")
      try add(
        table,
        """
        SELECT \(key), NULL::smallint, NULL::int, NULL::text FROM \(table.name) d
        WHERE NOT EXISTS (SELECT FROM \(scratch[.reached]) r
          WHERE r.collection = \(table.number) AND r.key = \(key))
        """)
    }
    markedCount = count
    return endLevel()
  }

  private var count: Int { counts.values.reduce(0, +) }

  // MARK: - What a sweep looks at

  /// Keeps the unreachable nodes for the steps of a sweep. Those that are denied are among them, because
  /// they hold no other.
  package func keepUnreachable() throws {
    for table in binding.sourcesFirst {
      try db.run(
        """
        INSERT INTO cascade.unreached(collection, key, is_denied)
        SELECT g.collection, g.key, false FROM \(scratch[.gone]) g
        JOIN \(table.name) t ON \(table.key.equal("t", text: "g.key"))
        WHERE g.collection = \(table.number) AND g.rule IS NULL ORDER BY \(table.key.values("t"))
        """)
    }
    let numbers = binding.collected.map { "\($0.number)" }.joined(separator: ", ")
    try db.run(
      """
      INSERT INTO cascade.unreached(collection, key, is_denied)
      SELECT k.collection, k.key, true FROM \(scratch[.kept]) k WHERE k.collection IN (\(numbers))
      AND NOT EXISTS (SELECT FROM \(scratch[.reached]) r
        WHERE r.collection = k.collection AND r.key = k.key) ON CONFLICT DO NOTHING
      """)
    // Without statistics, the server takes all nodes of a collection for a few.
    try db.execute("ANALYZE cascade.unreached")
  }
}
