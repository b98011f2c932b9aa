internal import CascadeEngine
internal import CascadeModel
internal import CascadePostgres
package import CascadeStore
package import PostgresBinding
internal import PostgresTables

/// The plan of a job: what goes with the nodes that it names, without what has to stay.
extension Closure {
  package mutating func beginJob(with nodes: [(table: MappedTable, keys: [String])]) throws {
    isOfJob = true
    for (table, keys) in nodes { try begin(with: table, keys: keys) }
    try complete()
  }

  // MARK: - What has to stay

  /// Finds what rules, foreign keys and leases keep. Returns why, and leaves it in `kept`.
  package func findKept() throws -> [Reason] {
    var reasons = try denials()
    try db.run(
      "INSERT INTO \(scratch.into(.kept)) SELECT DISTINCT d.collection, d.key FROM \(scratch[.denied]) d "
        + "ON CONFLICT DO NOTHING")
    for table in try tables() {
      reasons += try keepProtected(table)
      reasons += try keep(table, where: leases.holds(table, "g.key"), DenialText.leased)
      for key in try ForeignKeyHold.all(of: table, binding, db) {
        reasons += try keep(table, where: key.holds(self), key.reason)
      }
    }
    return reasons
  }

  private func keepProtected(_ table: MappedTable) throws -> [Reason] {
    let protects = leases.protects(table, "g.key")
    if protects == "false" { return [] }
    _ = try keep(table, where: protects, "")
    return try ProtectionRows(store).reasons(
      "(SELECT g.collection, g.key FROM \(scratch[.gone]) g WHERE g.collection = \(table.number)) n"
    )
  }

  /// The tables of which nodes are in the set.
  private func tables() throws -> [MappedTable] {
    try db.run("SELECT DISTINCT g.collection FROM \(scratch[.gone]) g ORDER BY 1").texts.compactMap
    {
      binding.table(Int64($0)!)
    }
  }

  /// `condition` is about a node `g` of the set.
  private func keep(
    _ table: MappedTable, where condition: String, _ why: String
  ) throws -> [Reason] {
    if condition == "false" { return [] }
    return try db.run(
      """
      WITH k AS (SELECT g.key FROM \(scratch[.gone]) g
          WHERE g.collection = \(table.number) AND \(condition) AND NOT EXISTS (
            SELECT FROM \(scratch[.kept]) k WHERE k.collection = g.collection AND k.key = g.key)),
        i AS (INSERT INTO \(scratch.into(.kept)) SELECT \(table.number), k.key FROM k
          ON CONFLICT DO NOTHING)
      SELECT k.key FROM k ORDER BY 1 LIMIT \(Receipt.mostListed)
      """
    ).texts.map { .mustStay(table.node($0), because: why) }
  }

  // MARK: - What stays with what stays

  /// Takes out of the set what has to stay, with all that it needs, up to the nodes with which the job
  /// begins.
  package func leaveOutKept() throws {
    while try findWhatStaysToo() {}
    let (gone, isOwn) = scratch.target(.gone, as: "g")
    try db.run(
      """
      DELETE FROM \(gone) WHERE \(isOwn) AND EXISTS (SELECT FROM \(scratch[.kept]) k
        WHERE k.collection = g.collection AND k.key = g.key)
      """)
  }

  private func findWhatStaysToo() throws -> Bool {
    try binding.relations.reduce(false) { found, relation in
      let needs = !relation.rules.isDisjoint(with: .needingDestination)
      var added = try keepDestinations(
        of: relation, where: needs ? "true" : isByLostSource(relation))
      if relation.rules.contains(.denySourceDeletion) { added += try keepSources(of: relation) }
      return found || added > 0
    }
  }

  /// Whether a node `o` goes because edges of the relation lost their source.
  private func isByLostSource(_ relation: EdgeRelation) -> String {
    if relation.rules.isDisjoint(with: .ofLostSource) { return "false" }
    return "o.via = \(relation.number)"
  }

  private func keepDestinations(of relation: EdgeRelation, where isMeant: String) throws -> Int {
    if isMeant == "false" { return 0 }
    let table = relation.destination
    let edges = relation.edges(ofText: "k.key")
    return try db.run(
      """
      INSERT INTO \(scratch.into(.kept))
      SELECT DISTINCT o.collection, o.key FROM \(scratch[.kept]) k, \(edges.from), \(table.name) t,
        \(scratch[.gone]) o
      WHERE k.collection = \(relation.source.number) AND \(edges.condition) AND \(relation.leads(to: "t"))
      AND o.collection = \(table.number) AND o.key = \(table.key.text("t")) AND \(isMeant)
      ON CONFLICT DO NOTHING
      """
    ).changed
  }

  private func keepSources(of relation: EdgeRelation) throws -> Int {
    let source = relation.source
    return try db.run(
      """
      INSERT INTO \(scratch.into(.kept))
      SELECT DISTINCT o.collection, o.key FROM \(scratch[.kept]) k, \(relation.edges()),
        \(scratch[.gone]) o
      WHERE k.collection = \(relation.destination.number) AND \(relation.leads(toText: "k.key"))
      AND o.collection = \(source.number) AND o.key = \(source.key.text("s")) ON CONFLICT DO NOTHING
      """
    ).changed
  }

  // MARK: - The order

  /// Writes down what the job deletes itself: what foreign keys tie, referring rows first, the nodes with
  /// which it begins, and what hangs on nodes that stay. What else follows is found when these have gone.
  package func store(asNodesOf job: Int64, _ ties: ForeignKeyTies) throws {
    try db.run("DELETE FROM cascade.job_node WHERE job = \(job)")
    let planned = Dictionary(try tables().map { ($0.number, $0) }, uniquingKeysWith: { $1 })
    let tied = tiedByForeignKeys(planned.keys.sorted()) {
      ties.refers(planned[$0]!, planned[$1]!)
    }
    let places = tied.enumerated().map { "WHEN \($1) THEN \($0)" }.joined(separator: " ")
    let place = tied.isEmpty ? "0" : "CASE g.collection \(places) ELSE \(tied.count) END"
    let isTied = "g.collection = ANY('\(arrayText(tied.map(String.init)))'::int[])"
    try db.run(
      """
      INSERT INTO cascade.job_node(job, place, collection, key, level, rule, via, other)
      SELECT \(job), \(place), g.collection, g.key, g.level, g.rule, g.via, g.other
      FROM \(scratch[.gone]) g WHERE g.level = 0 OR \(isTied) OR \(hangsOnKept)
      """)
    if counts.values.reduce(0, +) > 1_000 { try db.execute("ANALYZE cascade.job_node") }
  }

  /// Whether a node `g` goes because of one that stays.
  private var hangsOnKept: String {
    let ways = binding.relations(with: .losingDestination).map { relation in
      """
      g.via = \(relation.number) AND EXISTS (SELECT FROM \(scratch[.kept]) k
        WHERE k.collection = \(relation.destination.number) AND k.key = g.other)
      """
    }
    return ways.isEmpty ? "false" : "(\(ways.joined(separator: " OR ")))"
  }
}
