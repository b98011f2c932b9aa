internal import CascadeModel
internal import CascadePostgres
package import CascadeStore
internal import PostgresBinding
internal import PostgresSweeps
internal import PostgresTables

/// What Cascade's own tables list.
extension PostgresReader {
  package func notices(after id: Int64, limit: Int) throws -> [Notice] {
    try ask { store in
      let rows = try store.db.run(
        """
        SELECT id, relation, source, destination, lost_source, batch, is_manual FROM cascade.notice
        WHERE id > \(id) ORDER BY id LIMIT \(limit)
        """
      ).rows
      return try rows.compactMap { try notice($0, store) }
    }
  }

  private func notice(_ row: [String?], _ store: StoreConnection) throws -> Notice? {
    guard let relation = store.binding.relation(Int64(row[1]!)!) else { return nil }
    let edge = relation.edge(row[2]!, row[3]!, isDeclared: row[6].map { $0 == "f" })
    let losesSource = row[4] == "t"
    let (table, key) =
      losesSource ? (relation.destination, row[3]!) : (relation.source, row[2]!)
    let isThere = try store.db.run(
      "SELECT \(table.has("$1"))", [key]
    ).bool
    return Notice(
      id: Int64(row[0]!)!, node: table.node(key), edge: edge,
      reason: losesSource ? "sourceDeleted" : "destinationDeleted", receiverDeleted: !isThere,
      batch: Int64(row[5]!)!)
  }

  package func batches(after batch: Int64, limit: Int) throws -> [Batch] {
    try batches(after: batch, limit, "ASC")
  }

  package func newestBatches(limit: Int) throws -> [Batch] { try batches(after: 0, limit, "DESC") }

  private func batches(after batch: Int64, _ limit: Int, _ order: String) throws -> [Batch] {
    try ask { store in
      let rows = try store.db.run(
        """
        SELECT batch, at, author, id, part, deleted, undone_at, undone_by,
          \(Batch.isKept)
        FROM cascade.ledger l
        WHERE batch > \(batch) AND (deleted > 0 OR undone_at IS NOT NULL OR \(Batch.isKept))
        ORDER BY batch \(order) LIMIT \(limit)
        """
      ).rows
      return try rows.map { row in
        let summary = try BatchSummary(store, Int64(row[0]!)!, withKept: true)
        let marks = try store.marks(ofBatch: Int64(row[0]!)!)
        let (at, isKept) = (Int64(row[1]!)!, row[8] == "t")
        let undone = row[6].flatMap { Int64($0) }.map {
          Batch.Undone(at: $0, by: row[7] ?? "", isPartly: isKept)
        }
        let end = at + Int64(store.model.trash / .milliseconds(1))
        return Batch(
          batch: Int64(row[0]!)!, at: at, author: row[2], id: row[3]!,
          kind: Submission.Kind(part: Int64(row[4]!)!), deletedCount: Int(row[5]!)!,
          byCollection: summary.byCollection.merging(marks, uniquingKeysWith: +), undone: undone,
          undoUntil: isKept && undone == nil ? end : nil)
      }
    }
  }

  package func leases(at now: Int64?, limit: Int) throws -> [Lease] {
    try ask { try LeaseList(store: $0).all(limit: limit) }
  }

  package func plansOfFiles() throws -> [String: FilePlan] {
    try ask { store in
      let rows = try store.db.run(
        "SELECT file, number, deleted FROM cascade.plan WHERE file NOT LIKE '/%' ORDER BY number"
      ).rows
      return Dictionary(
        rows.map { ($0[0]!, FilePlan(plan: Int64($0[1]!)!, deletedCount: Int($0[2]!)!)) },
        uniquingKeysWith: { $1 })
    }
  }

  package func journal() throws -> ClosedRange<Int64>? {
    try ask { store in
      let row = try store.db.run(
        "SELECT min(seq), max(seq) FROM cascade.journal"
      ).rows[0]
      guard let first = row[0].flatMap({ Int64($0) }), let last = row[1].flatMap({ Int64($0) })
      else { return nil }
      return first...last
    }
  }

  package func fingerprint(ofId id: String) throws -> Int64? {
    try ask { try Ledger($0).entry(id)?.fingerprint }
  }

  package func ledgerEntry(_ id: String) throws -> LedgerEntry? {
    try ask { try Ledger($0).entry(id) }
  }
}

extension StoreConnection {
  /// How many rows a batch has marked because of others, by collection.
  fileprivate func marks(ofBatch batch: Int64) throws -> [String: Int] {
    let rows = try db.run(
      """
      SELECT m.collection, count(DISTINCT m.key) FROM cascade.marked m
      WHERE m.batch = \(batch) AND m.rule <> 0 GROUP BY 1
      """
    ).rows
    return Dictionary(
      rows.compactMap { row in
        binding.table(Int64(row[0]!)!).map { ($0.collection, Int(row[1]!)!) }
      }, uniquingKeysWith: +)
  }
}

extension Batch {
  /// Whether the trash has something of the batch `l`, apart from names.
  fileprivate static let isKept = """
    (EXISTS (SELECT FROM cascade.deleted k WHERE k.batch = l.batch AND k.rows IS NOT NULL)
      OR EXISTS (SELECT FROM cascade.nullified n WHERE n.batch = l.batch)
      OR EXISTS (SELECT FROM cascade.unlinked u WHERE u.batch = l.batch AND u.row IS NOT NULL)
      OR EXISTS (SELECT FROM cascade.marked m WHERE m.batch = l.batch)
      OR \(FileRows.isKept))
    """
}
