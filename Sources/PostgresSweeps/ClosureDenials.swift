internal import CascadeModel
internal import CascadePostgres
internal import PostgresBinding
internal import PostgresTables

/// What rules of the model deny, of what is in the set.
extension Closure {
  mutating func leaveOutDenied() throws -> Bool {
    if !binding.denies { return false }
    for relation in binding.relations { try deny(relation) }
    for index in binding.stopped.relationships.indices { try denyStopped(index) }
    // A change file is rejected for what it would delete, if that is denied; a job knows what to do.
    if journal?.ownBatch != nil || isOfJob { return false }
    let isNews =
      try db.run(
        """
        INSERT INTO \(scratch.into(.kept)) SELECT DISTINCT d.collection, d.key FROM \(scratch[.denied]) d
        ON CONFLICT DO NOTHING
        """
      ).changed > 0
    if !isNews { return false }
    try db.execute(
      """
      \(scratch.emptying(.gone));
      INSERT INTO \(scratch.into(.gone)) SELECT * FROM \(scratch[.firstGone]) f WHERE NOT EXISTS (
        SELECT FROM \(scratch[.kept]) k WHERE k.collection = f.collection AND k.key = f.key)
      """)
    counts = Dictionary(
      uniqueKeysWithValues: try db.run(
        "SELECT g.collection, count(*) FROM \(scratch[.gone]) g GROUP BY 1"
      ).rows.map { (Int64($0[0]!)!, Int($0[1]!)!) })
    return true
  }

  /// How `denied.via` names a relationship that is stopped.
  static func via(stopped index: Int) -> Int { -1 - index }

  /// Nobody can tell what a stopped relationship denies.
  private func denyStopped(_ index: Int) throws {
    let one = binding.stopped.relationships[index]
    for end in EdgeEnd.allCases where one.denies(at: end) {
      guard let table = binding.tables[one.collection(at: end)] else { continue }
      try db.run(
        """
        INSERT INTO \(scratch.into(.denied)) SELECT g.collection, g.key, \(Closure.via(stopped: index)),
          '', '' FROM \(scratch[.gone]) g
        WHERE g.collection = \(table.number) AND (\(table.has("g.key")) OR \(isOwn("g")))
        """)
    }
  }

  private func deny(_ relation: EdgeRelation) throws {
    let (source, table) = (relation.source, relation.destination)
    if relation.rules.contains(.denyDestinationDeletion) {
      try db.run(
        """
        INSERT INTO \(scratch.into(.denied)) SELECT g.collection, g.key, \(relation.number),
          \(source.key.text("s")), g.key
        FROM \(scratch[.gone]) g, \(relation.edges())
        WHERE g.collection = \(table.number) AND \(relation.leads(toText: "g.key"))
        \(andNowhereElse(relation))
        AND NOT \(isGone(source, source.key.text("s"))) AND (\(table.has("g.key")) OR \(isOwn("g")))
        """)
    }
    if relation.rules.contains(.denySourceDeletion) {
      let edges = relation.edges(ofText: "g.key")
      try db.run(
        """
        INSERT INTO \(scratch.into(.denied)) SELECT g.collection, g.key, \(relation.number), g.key,
          \(table.key.text("t"))
        FROM \(scratch[.gone]) g, \(edges.from), \(table.name) t
        WHERE g.collection = \(source.number) AND \(edges.condition)
        AND \(relation.leads(to: "t")) AND NOT \(isGone(table, table.key.text("t")))
        AND (\(source.has("g.key")) OR \(isOwn("g")))
        """)
      try denyJournaled(relation)
    }
  }

  /// A row that this transaction deleted is denied like one that is there, by the edges that it had
  /// when it was deleted.
  private func denyJournaled(_ relation: EdgeRelation) throws {
    // Join rows are still there.
    guard let batch = journal?.ownBatch, relation.join == nil else { return }
    let table = relation.destination
    try db.run(
      """
      INSERT INTO \(scratch.into(.denied)) SELECT \(relation.source.number), j.key, \(relation.number),
        j.key, j.other
      FROM cascade.work j JOIN \(table.name) t ON \(table.key.equal("t", text: "j.other"))
      WHERE j.batch = \(batch) AND j.what = \(JournalSubject.lost.rawValue)
      AND j.subject = \(relation.number) AND NOT \(isGone(table, table.key.text("t")))
      AND NOT j.id = ANY($1::bigint[])
      AND NOT \(relation.source.has("j.key")) AND EXISTS (SELECT FROM cascade.deleted_node k
        WHERE k.batch = \(batch) AND k.collection = \(relation.source.number) AND k.key = j.key)
      """, [arrayText(writtenBefore.map(String.init))])
  }

  /// What it deleted later can still be brought back.
  private func isOwn(_ row: String) -> String {
    guard let batch = journal?.ownBatch else { return "false" }
    return """
      (\(row).collection, \(row).key) IN (SELECT k.collection, k.key FROM cascade.deleted_node k
        WHERE k.batch = \(batch) AND k.is_own AND k.id > \(lastDeleted))
      """
  }
}
