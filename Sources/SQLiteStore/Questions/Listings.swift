internal import CascadeModel
internal import CascadeSQLite
internal import CascadeSystem
package import CascadeStore
internal import CascadeEngine
internal import SQLiteBinding
package import SQLiteTables
internal import SQLiteJournal
internal import SQLiteRules
internal import SQLiteSweeps
internal import SQLiteDeletion

extension Reader {
  package func journal() throws -> ClosedRange<Int64>? { try db.unsweptJournal() }

  /// The newest plan of each file that waits for approval, by the file's name.
  package func plansOfFiles() throws -> [String: FilePlan] {
    let plans = try db.all(
      """
      SELECT file, plan, deleted FROM cascade_plan WHERE file <> '' AND file NOT GLOB '/*'
      ORDER BY plan
      """
    ) { ($0.text(0), FilePlan(plan: $0.integer(1), deletedCount: Int($0.integer(2)))) }
    return Dictionary(plans) { _, newer in newer }
  }

  package func notices(after id: Int64, limit: Int = 1_000) throws -> [Notice] {
    try db.all(
      """
      SELECT m.name, sc.name, n.source_key, dc.name, n.destination_key, n.rules, n.origin,
        n.id, n.reason, n.receiver_deleted, n.batch,
        n.receiver_collection = n.source_collection AND n.receiver_key = n.source_key
      FROM cascade_notice AS n
      JOIN cascade_name AS m ON m.id = n.name
      JOIN cascade_collection AS sc ON sc.id = n.source_collection
      JOIN cascade_collection AS dc ON dc.id = n.destination_collection
      WHERE n.id > ? ORDER BY n.id LIMIT ?
      """, .integer(id), .integer(Int64(limit))
    ) { row in
      let edge = Edge(row: row, model)
      let isForSource = row.integer(11) != 0
      return Notice(
        id: row.integer(7), node: isForSource ? edge.source : edge.destination.node ?? edge.source,
        edge: edge, reason: row.text(8), receiverDeleted: row.integer(9) != 0,
        batch: row.integer(10))
    }
  }

  /// The leases in force now, the first to end first.
  package func leases(at now: Int64? = nil, limit: Int = 1_000) throws -> [Lease] {
    try leases("true", at: now, limit: limit)
  }

  /// The leases of an existing node, and those of its collection.
  func leases(of node: Node, at now: Int64?) throws -> [Lease] {
    var isOfNode: Query = "CAST(l.key AS TEXT) = \(bind: .text(node.key.managedText))"
    if let table = try binding().collections[node.collection],
      let values = table.columnValues(node.key)
    {
      let hasKey = table.leasedKeys("l").map { table.hasKey("n", $0) }.joined(separator: " OR ")
      isOfNode = Query(
        "EXISTS (SELECT 1 FROM \(table.rows) AS n WHERE \(table.isKeyed("n")) AND (\(hasKey)))",
        values)
    }
    let isMeant: Query =
      "(l.key IS NULL OR \(isOfNode)) AND l.collection = \(bind: .text(node.collection))"
    return try leases(isMeant, at: now, limit: -1)
  }

  private func leases(_ isMeant: Query, at now: Int64?, limit: Int) throws -> [Lease] {
    try db.all(
      """
      SELECT l.collection, l.key, l.owner, CAST(l.expires AS INTEGER), l.connection
      FROM cascade_lease AS l
      WHERE \(isMeant) AND l.expires > \(bind: (now ?? SystemClock.wall()) / 1_000)
      ORDER BY l.expires, l.id LIMIT \(limit)
      """
    ) { Lease(row: $0, model) }
  }

  package func ledgerEntry(_ id: String) throws -> LedgerEntry? { try db.ledgerEntry(id) }

  package func jobs(after job: Int64, limit: Int) throws -> [DeletionJob] {
    try db.jobs(after: job, limit: limit)
  }

  package func job(_ number: Int64) throws -> DeletionJob? { try db.job(number) }

  package func protections() throws -> [Protection] { try db.protections(model) }

  /// A page of batches after `batch`, the oldest first.
  package func batches(after batch: Int64, limit: Int) throws -> [Batch] {
    try batches(after: batch, limit: limit, order: "ASC")
  }

  /// The last batches, the newest first.
  package func newestBatches(limit: Int) throws -> [Batch] {
    try batches(after: 0, limit: limit, order: "DESC")
  }

  private func batches(after batch: Int64, limit: Int, order: String) throws -> [Batch] {
    try db.snapshot {
      var batches: [Batch] = []
      try db.each(
        generated: """
          SELECT l.seq, l.at, l.author, l.id, l.part, l.deleted, l.undone_at, l.undone_by,
            EXISTS (SELECT 1 FROM cascade_trash_layout WHERE batch = l.seq AND remaining > 0)
              OR EXISTS (SELECT 1 FROM cascade_trash_file WHERE batch = l.seq AND fate = ?3)
              OR l.seq IN (SELECT batch FROM cascade_released_file)
              OR EXISTS (SELECT 1 FROM cascade_marked WHERE batch = l.seq)
          FROM cascade_ledger AS l
          WHERE l.seq > ?1 AND (l.deleted > 0 OR l.undone_at IS NOT NULL
            OR EXISTS (SELECT 1 FROM cascade_trash_layout WHERE batch = l.seq AND kind <> 'name')
            OR EXISTS (SELECT 1 FROM cascade_trash_file WHERE batch = l.seq)
            OR l.seq IN (SELECT batch FROM cascade_released_file))
          ORDER BY l.seq \(order) LIMIT ?2
          """,
        [.integer(batch), .integer(Int64(limit)), .integer(FileFate.trashed.rawValue)]
      ) { row in
        let (at, author, id) = (row.integer(1), row.optionalText(2), row.text(3))
        let isKept = row.integer(8) != 0
        batches.append(
          Batch(
            batch: row.integer(0), at: at, author: author, id: id,
            kind: Submission.Kind(part: row.integer(4)),
            deletedCount: Int(row.integer(5)),
            byCollection: try countsByCollection(of: row.integer(0)),
            undone: row.isNull(6)
              ? nil : Batch.Undone(at: row.integer(6), by: row.text(7), isPartly: isKept),
            undoUntil: isKept ? at + model.trash.inMilliseconds : nil))
      }
      return batches
    }
  }

  private func countsByCollection(of batch: Int64) throws -> [String: Int] {
    let counts = try db.all(
      """
      SELECT c.name, sum(l.count) FROM cascade_trash_layout AS l
      JOIN cascade_collection AS c ON c.id = l.collection
      WHERE l.batch = ?1 AND l.kind IN ('row', 'object') GROUP BY 1
      UNION ALL
      SELECT c.name, count(*) FROM (SELECT DISTINCT collection, key FROM cascade_marked
        WHERE batch = ?1 AND rule) AS m JOIN cascade_collection AS c ON c.id = m.collection GROUP BY 1
      """, .integer(batch)
    ) { ($0.text(0), Int($0.integer(1))) }
    return Dictionary(counts, uniquingKeysWith: +)
  }
}

extension Writer {
  /// Deletes the notices up to `id`. Returns how many there were.
  package func acknowledge(upTo id: Int64) throws -> Int {
    try group {
      try db.saveLastNotice()
      try db.run("DELETE FROM cascade_notice WHERE id <= ?", .integer(id))
      return db.changes
    }
  }

  /// The newest entry of an id: after a restart, work continues after its part.
  package func ledgerEntry(_ id: String) throws -> LedgerEntry? { try db.ledgerEntry(id) }
}

extension Connection {
  /// The newest part, and the sums of all parts.
  fileprivate borrowing func ledgerEntry(_ id: String) throws -> LedgerEntry? {
    try first(
      """
      SELECT seq, max(part), fingerprint, outcome, line, author, sum(deleted), sum(edges_added),
        sum(edges_removed), sum(notices), sum(passed_over)
      FROM cascade_ledger WHERE id IN (?, ?) AND part >= 0 GROUP BY id
      """, .text(id), .text(Submission.hashed(id))
    ) { row in
      var receipt = Receipt(id: id, outcome: .applied)
      receipt.batch = row.integer(0)
      receipt.author = row.optionalText(5)
      receipt.deletedCount = Int(row.integer(6))
      receipt.edgesAdded = Int(row.integer(7))
      receipt.edgesRemoved = Int(row.integer(8))
      receipt.notices = Int(row.integer(9))
      receipt.skippedChanges = Int(row.integer(10))
      return LedgerEntry(
        batch: row.integer(0), part: row.integer(1), fingerprint: row.integer(2),
        isComplete: row.text(3) == "applied", line: row.integer(4), receipt: receipt)
    }
  }
}

extension Writer {
  package func journal() throws -> ClosedRange<Int64>? { try db.unsweptJournal() }
}

extension Connection {
  /// The journal rows that wait for a sweep, and not for an approval. Rows are removed from the front, so
  /// both ends describe them.
  fileprivate func unsweptJournal() throws -> ClosedRange<Int64>? {
    let scope = try JournalScope(plan: nil, self)
    let rows = "SELECT j.seq FROM cascade_journal AS j WHERE j.seq > ?1 \(scope.and("j"))"
    // Two subqueries: SQLite finds one end by the key, but scans every row for both together.
    return try all(
      generated: """
        SELECT (\(rows) ORDER BY j.seq LIMIT 1), (\(rows) ORDER BY j.seq DESC LIMIT 1)
        """, [.integer(journalFloor)]
    ) { $0.isNull(0) ? nil : $0.integer(0)...$0.integer(1) }.first ?? nil
  }
}
