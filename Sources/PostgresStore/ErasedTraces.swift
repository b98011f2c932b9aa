internal import CascadeEngine
internal import CascadeModel
internal import CascadePostgres
internal import CascadeStore
internal import PostgresBinding
internal import PostgresSweeps
internal import PostgresTables

/// Erasure: a job that leaves nothing in `cascade.*`, also of earlier batches. What the server's log, its standbys
/// and backups have, and rows that VACUUM has not removed yet, are not in its reach.
extension PostgresWriter {
  func eraseTraces(of job: inout DeletionJob) throws {
    if !job.blocked.isEmpty && job.batch == nil { return }
    var erased = try ErasedNodes(store, job)
    try store.transaction {
      job.request.erasure?.referring = try erased.countReferring()
      try erased.followReasons()
      try erased.eraseTrash(job.batch)
      try erased.eraseOther(job.batch)
    }
    job.request.subject = .nodes([])
  }

  package func eraseFiles(ofBatch batch: Int64) throws -> Int {
    try db.run(
      """
      UPDATE cascade.file SET state = \(FileState.toDelete.rawValue)
      WHERE batch = \(batch) AND state = \(FileState.trashed.rawValue)
      """
    ).changed
  }
}

private struct ErasedNodes {
  let store: StoreConnection
  private var nodes: Set<Erased> = []
  private var shapes: ReadShapes
  private var db: Session { _read { yield store.db } }

  private struct Erased: Hashable {
    let collection: Int64
    let key: String
  }

  init(_ store: StoreConnection, _ job: DeletionJob) throws {
    (self.store, shapes) = (store, ReadShapes(store))
    if let batch = job.batch {
      nodes = Set(
        try store.db.run(
          "SELECT DISTINCT collection, key FROM cascade.deleted_node WHERE batch = \(batch) AND is_own"
        ).rows.map { Erased(collection: Int64($0[0]!)!, key: $0[1]!) })
    }
    guard case .nodes(let named) = job.request.subject else { return }
    for node in named {
      guard let table = store.binding.tables[node.collection], let key = table.key.text(node.key),
        try !store.db.run("SELECT \(table.has("$1"))", [key]).bool
      else { continue }
      nodes.insert(Erased(collection: table.number, key: key))
    }
  }

  private var values: [String?] {
    [arrayText(nodes.map { "\($0.collection)" }), arrayText(nodes.map(\.key))]
  }

  private static let list = "(SELECT * FROM unnest($1::int[], $2::text[]))"

  private func keys(of table: MappedTable) -> [String] {
    nodes.filter { $0.collection == table.number }.map(\.key)
  }

  /// Rows that still have one of the keys, where the model says that this is a reference.
  func countReferring() throws -> Int {
    try store.binding.relations.filter { !$0.isStored }.reduce(0) { sum, relation in
      let keys = keys(of: relation.destination)
      if keys.isEmpty { return sum }
      let count = try db.run(
        "SELECT count(*) FROM \(relation.edges()) WHERE \(relation.leads(toAny: "$1"))",
        [arrayText(keys)]
      ).integer
      return sum + Int(count ?? 0)
    }
  }

  /// What is in the trash because of one of them is about the same, and so is what follows from that.
  mutating func followReasons() throws {
    while true {
      let found = try db.run(
        """
        SELECT DISTINCT k.collection, k.key FROM cascade.deleted_node k
        JOIN cascade.relation r ON r.number = k.via
        JOIN cascade.collection c ON c.name = CASE WHEN k.rule & \(Rules.losingSource.rawValue) <> 0
          THEN r.source ELSE r.destination END
        WHERE (c.number, k.other) IN \(ErasedNodes.list)
        AND (k.collection, k.key) NOT IN \(ErasedNodes.list)
        """, values
      ).rows
      let before = nodes.count
      for row in found { nodes.insert(Erased(collection: Int64(row[0]!)!, key: row[1]!)) }
      for relation in store.binding.relations { try followReferences(relation) }
      if nodes.count == before { return }
    }
  }

  /// So are rows in the trash that refer to one of them, and would go with it.
  private mutating func followReferences(_ relation: EdgeRelation) throws {
    let keys = keys(of: relation.destination)
    guard relation.join == nil, relation.list == nil, let column = relation.columns?.all.first,
      relation.columns?.all.count == 1, !keys.isEmpty,
      relation.rules.contains(.deleteSourceIfDestinationDeleted)
    else { return }
    let rows = try db.run(
      """
      SELECT k.key, k.row, k.shape FROM cascade.deleted_node k
      WHERE k.collection = \(relation.source.number) AND k.row IS NOT NULL AND k.shape IS NOT NULL
      AND EXISTS (SELECT FROM unnest($1::text[]) e(key) WHERE position(e.key IN k.row) > 0)
      """, [arrayText(Array(keys.prefix(ErasedNodes.mostReferences)))]
    ).rows
    let erased = Set(keys)
    for row in rows {
      let columns = try shapes.columns(ofShape: row[2]!)
      let place = columns?.firstIndex { quoted($0.lastName ?? $0.name) == column.name }
      guard let place, let value = RowText.values(row[1]!)[place], erased.contains(value) else {
        continue
      }
      nodes.insert(Erased(collection: relation.source.number, key: row[0]!))
    }
  }

  /// The rows in the trash are searched for so many keys at most.
  private static let mostReferences = 1_000

  func eraseTrash(_ batch: Int64?) throws {
    let own = batch.map { "batch = \($0)" } ?? "false"
    for table in ["deleted", "nullified", "unlinked"] {
      try db.run("DELETE FROM cascade.\(table) WHERE \(own)")
    }
    try db.run(
      """
      WITH d AS (DELETE FROM cascade.deleted
        WHERE collection = ANY($1::int[]) AND keys && $2::text[] RETURNING *)
      INSERT INTO cascade.deleted(
        batch, collection, via, rule, is_own, follows, shape, level, place, bucket, keys, others, rows)
      SELECT d.batch, d.collection, d.via, d.rule, d.is_own, d.follows, d.shape, d.level, d.place,
        \(OwnSchema.bucket("n.key")), ARRAY[n.key], CASE WHEN d.others IS NOT NULL THEN ARRAY[n.other] END,
        CASE WHEN n.row IS NOT NULL THEN ARRAY[n.row] END
      FROM d, unnest(d.keys, d.others, d.rows) n(key, other, row)
      WHERE (d.collection, n.key) NOT IN \(ErasedNodes.list) ORDER BY d.id
      """, values)
    for relation in store.binding.relations { try eraseTrash(of: relation) }
  }

  /// What others lost of them, and join rows that had them at an end.
  private func eraseTrash(of relation: EdgeRelation) throws {
    let ends = [keys(of: relation.source), keys(of: relation.destination)].map(arrayText)
    try db.run(
      """
      DELETE FROM cascade.nullified WHERE relation = \(relation.number)
      AND (key = ANY($1::text[]) OR value = ANY($2::text[]))
      """, ends)
    try db.run(
      """
      DELETE FROM cascade.unlinked WHERE relation = \(relation.number)
      AND string_to_array(trim(both '()' from row), ',') && ($1::text[] || $2::text[])
      """, ends)
    for table in ["work", "journal", "held_cause", "given_up", "outlived"] {
      let subject = table == "outlived" ? "relation" : "subject"
      let what = table == "outlived" ? "" : "AND what IN (\(ErasedNodes.whatOfRelations))"
      try db.run(
        """
        DELETE FROM cascade.\(table) WHERE \(subject) = \(relation.number) \(what)
        AND (key = ANY($1::text[]) OR other = ANY($2::text[]))
        """, ends)
    }
    try db.run(
      """
      DELETE FROM cascade.notice WHERE relation = \(relation.number)
      AND (source = ANY($1::text[]) OR destination = ANY($2::text[]))
      """, ends)
  }

  private static func list(_ subjects: [JournalSubject]) -> String {
    subjects.map { "\($0.rawValue)" }.joined(separator: ", ")
  }
  private static let whatOfRelations = list([.lost, .arrived, .widowed, .rowless])
  private static let whatOfCollections = list([.gone, .reused])

  func eraseOther(_ batch: Int64?) throws {
    for table in ["work", "journal", "held_cause"] {
      try db.run(
        """
        DELETE FROM cascade.\(table) WHERE what IN (\(ErasedNodes.whatOfCollections))
        AND (subject, key) IN \(ErasedNodes.list)
        """, values)
    }
    try db.run(
      """
      DELETE FROM cascade.marked WHERE (collection, key) IN \(ErasedNodes.list)
      OR (via_collection, via_key) IN \(ErasedNodes.list)
      """, values)
    for table in ["blocked", "unreached", "recheck", "mark"] {
      try db.run(
        "DELETE FROM cascade.\(table) WHERE (collection, key) IN \(ErasedNodes.list)", values)
    }
    try db.run(
      """
      DELETE FROM cascade.lease l USING cascade.collection c
      WHERE c.name = l.collection AND (c.number, l.key) IN \(ErasedNodes.list)
      """, values)
    try db.run(
      """
      UPDATE cascade.went SET keys = ARRAY(
        SELECT CASE WHEN batch IS NOT DISTINCT FROM \(batch.map(String.init) ?? "NULL") OR (collection, k) IN \(ErasedNodes.list) THEN NULL ELSE k END
        FROM unnest(keys) WITH ORDINALITY n(k, i) ORDER BY i)
      WHERE batch IS NOT DISTINCT FROM \(batch.map(String.init) ?? "NULL")
        OR collection = ANY($1::int[]) AND keys && $2::text[]
      """, values)
    try eraseNames()
  }

  /// Ids in the ledger, and what earlier jobs were about.
  private func eraseNames() throws {
    let names = """
      SELECT key FROM unnest($1::int[], $2::text[]) e(collection, key)
      WHERE length(key) > 3 AND key !~ '^[0-9]+$'
      UNION SELECT c.name || '/' || e.key FROM unnest($1::int[], $2::text[]) e(collection, key)
      JOIN cascade.collection c ON c.number = e.collection
      """
    let ids = try db.run(
      """
      SELECT l.batch, l.id FROM cascade.ledger l WHERE l.id NOT LIKE 'sha256:%' AND EXISTS (
        SELECT FROM (\(names)) k(key) WHERE position(k.key IN l.id) > 0)
      """, values
    ).rows
    for row in ids {
      try db.run(
        "UPDATE cascade.ledger SET id = $1 WHERE batch = \(row[0]!)", [Submission.hashed(row[1]!)])
    }
    try db.run(
      """
      UPDATE cascade.job SET subject = '{"nodes":[]}', blocked = '[]'
      WHERE NOT \(JobRows.isOpen) AND EXISTS (
        SELECT FROM json_array_elements(CASE WHEN subject::json -> 'nodes' IS NOT NULL
          THEN subject::json -> 'nodes' ELSE '[]' END) n
        JOIN cascade.collection c ON c.name = n ->> 0
        WHERE (c.number, n ->> 1) IN \(ErasedNodes.list))
      """, values)
  }
}
