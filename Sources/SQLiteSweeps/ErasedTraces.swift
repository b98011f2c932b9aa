internal import CascadeEngine
internal import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import CascadeSystem
internal import SQLiteBinding
internal import SQLiteDeletion
internal import SQLiteEdges
internal import SQLiteJournal
internal import SQLiteRules
package import SQLiteTables

/// Erasure: a job that leaves nothing.
///
/// 1. What goes is not kept, and its pages are overwritten by zeros (`secure_delete`).
/// 2. Until its end, `cascade_deleted` has the keys of what went. By them everything else is found that has
///    a trace, also of earlier batches. An erasure that is killed goes on with that.
/// 3. What was deleted earlier, and would go with what is erased now, goes too: it is about the same.
extension Writer {
  func erase(_ job: DeletionJob, at now: Int64) throws -> DeletionJob {
    try db.execute("PRAGMA main.secure_delete = ON")
    defer { try? restoreSecureDelete() }
    sweepRun.job = job
    do {
      let result = try sweepWithoutSync(at: now)
      if result.isCutShort || result.outcome == .held { return sweepRun.job! }
      let job = sweepRun.job!
      try removeRows(rows(ofPlan: -job.number))
      try sweepBehindErasure(at: now)
      sweepRun = SweepRunState()
      sweepRun.job = try erasingTraces(of: job)
      return try end(result)
    } catch let blocked as JobIsBlocked {
      return try end(.blocked, blocked.reasons)
    }
  }

  private func restoreSecureDelete() throws {
    try db.execute("PRAGMA main.secure_delete = \(model.secureDelete?.rawValue ?? secureByDefault)")
  }

  /// What SQLite was built with.
  private var secureByDefault: String {
    let options = (try? db.all("PRAGMA compile_options") { $0.text(0) }) ?? []
    return options.contains("SECURE_DELETE") ? "ON" : "OFF"
  }

  /// No row of the journal tells of what went then, but those that a held plan owns.
  private func sweepBehindErasure(at now: Int64) throws {
    sweepRun = SweepRunState(of: [.cascade, .refcount])
    _ = try sweepWithoutSync(at: now)
  }

  private func erasingTraces(of job: DeletionJob) throws -> DeletionJob {
    var job = job
    try group {
      try findErased(job)
      job.request.erasure?.referring = try countReferring()
    }
    try group { try findErasedTrash() }
    try group { try eraseTrash() }
    try group { try eraseOtherTraces(job) }
    job.request.subject = .nodes([])
    return job
  }

  // MARK: - What is erased

  private func findErased(_ job: DeletionJob) throws {
    try db.run("DELETE FROM temp.erased")
    try db.run(
      """
      INSERT OR IGNORE INTO temp.erased SELECT collection, key FROM cascade_deleted
      WHERE batch = ? AND key IS NOT NULL
      """, .integer(job.batch))
    guard case .nodes(let nodes) = job.request.subject, job.blocked.isEmpty else { return }
    for node in nodes {
      let table = binding.collections[node.collection]
      let key = table?.stored(node.key) ?? .text(node.key.managedText)
      if let table, try locate(keyValues(node, table), in: table) != nil { continue }
      try db.run(
        "INSERT OR IGNORE INTO temp.erased SELECT id, ? FROM cascade_collection WHERE name = ?",
        key, .text(node.collection))
    }
  }

  private static func erased(_ collection: String, _ key: String) -> String {
    "(\(collection), \(key)) IN (SELECT collection, key FROM temp.erased)"
  }

  /// Rows that still have one of the keys, where the model says that this is a reference.
  private func countReferring() throws -> Int {
    try binding.edgeRelations.filter { !$0.leadsToFiles && $0.source.table != nil }.reduce(0) {
      let count = try db.integer(
        generated: """
          SELECT count(*) FROM \($1.source.rows) AS s \($1.references) WHERE \($1.isEdge)
          AND \($1.destination.asKey($1.reference)) IN (SELECT key FROM temp.erased WHERE collection = \($1.destination.id))
          """, [])
      return $0 + Int(count ?? 0)
    }
  }

  // MARK: - The trash

  /// What the trash has of them, and what would follow.
  private func findErasedTrash() throws {
    try db.run("DELETE FROM temp.erased_trash")
    var found = 0
    repeat {
      found = 0
      try db.run(
        generated: """
          INSERT OR IGNORE INTO temp.erased_trash SELECT t.batch, t.id FROM main.cascade_trash_layout AS l
          CROSS JOIN main.cascade_trash AS t ON t.batch = l.batch AND t.layout = l.layout AND t.part = 0
          WHERE l.collection IN (SELECT collection FROM temp.erased)
          AND \(Writer.erased("l.collection", TrashLayout.key(keys: "l.keys")))
          """, [])
      found += db.changes
      for relation in binding.edgeRelations where !relation.leadsToFiles {
        found += try findErasedTrash(by: relation)
      }
      try db.run(
        """
        INSERT OR IGNORE INTO temp.erased_trash SELECT t.batch, t.id FROM temp.erased_trash AS e
        CROSS JOIN main.cascade_trash AS t ON t.batch = e.batch AND t.via = e.id AND t.part = 0
        WHERE e.batch > 0
        """)
      found += db.changes
      try nameErasedTrash()
    } while found > 0
  }

  /// Entries that have a reference to one of them in a column.
  private func findErasedTrash(by relation: EdgeRelation) throws -> Int {
    guard let table = relation.referringTable, let column = relation.referringColumns.first,
      relation.referringColumns.count == 1
    else { return 0 }
    var found = 0
    for kept in try layouts(of: table) {
      guard let place = kept.layout.columns.firstIndex(where: { $0?.folded == column.folded })
      else { continue }
      try db.run(
        generated: """
          INSERT OR IGNORE INTO temp.erased_trash SELECT t.batch, t.id \(kept.layout.fromEntries)
          WHERE \(TrashLayout.isOfLayout) AND \(TrashLayout.value(place)) IN (
            SELECT key FROM temp.erased WHERE collection = \(relation.destination.id))
          """, [.integer(kept.batch), .integer(kept.number)])
      found += db.changes
    }
    return found
  }

  private func layouts(
    of table: Table
  ) throws -> [(batch: Int64, number: Int64, layout: TrashLayout)] {
    try db.all(
      """
      SELECT l.kind, l.collection, l.subject, l.columns, l.keys, l.types, l.batch, l.layout
      FROM cascade_trash_layout AS l WHERE l.subject = ? COLLATE NOCASE
      """, .text(table.name)
    ) { row in TrashLayout(row: row).map { (row.integer(6), row.integer(7), $0) } }.compactMap(
      \.self)
  }

  /// Rows and objects that are gone with them are erased, too.
  private func nameErasedTrash() throws {
    try db.run(
      generated: """
        INSERT OR IGNORE INTO temp.erased
        SELECT l.collection, \(TrashLayout.key(keys: "l.keys")) FROM temp.erased_trash AS e
        CROSS JOIN main.cascade_trash AS t ON t.batch = e.batch AND t.id = e.id AND t.part = 0
        CROSS JOIN main.cascade_trash_layout AS l ON l.batch = t.batch AND l.layout = t.layout
        WHERE l.kind IN ('row', 'object')
        """, [])
  }

  private func eraseTrash() throws {
    try eraseFilesOfTrash()
    try db.run(
      """
      UPDATE main.cascade_trash_layout AS l
      SET count = max(0, l.count - m.count),
        remaining = iif(l.kind = 'name', l.remaining, max(0, l.remaining - m.count))
      FROM (SELECT t.batch, t.layout, count(*) AS count FROM temp.erased_trash AS e
        CROSS JOIN main.cascade_trash AS t ON t.batch = e.batch AND t.id = e.id AND t.part = 0
        GROUP BY 1, 2) AS m
      WHERE l.batch > 0 AND l.batch = m.batch AND l.layout = m.layout
      """)
    let ids = "(SELECT batch, id FROM temp.erased_trash)"
    let named =
      "SELECT batch, id FROM main.cascade_trash_node WHERE "
      + Writer.erased("collection", "key")
    for end in ["source", "destination"] {
      try db.run(
        generated: """
          DELETE FROM main.cascade_trash_edge WHERE (batch, \(end)) IN \(ids) OR (batch, \(end)) IN (\(named))
          """, [])
    }
    try db.run(generated: "DELETE FROM main.cascade_trash WHERE (batch, id) IN \(ids)", [])
    try db.run(generated: "DELETE FROM main.cascade_trash_node WHERE (batch, id) IN (\(named))", [])
  }

  /// Files that rows in the trash name which are erased.
  private func eraseFilesOfTrash() throws {
    for relation in binding.edgeRelations where relation.leadsToFiles {
      guard let table = relation.source.table, let column = relation.referringColumns.first else {
        continue
      }
      for kept in try layouts(of: table) where kept.layout.kind == .row {
        guard let place = kept.layout.columns.firstIndex(where: { $0?.folded == column.folded })
        else { continue }
        try db.run(
          generated: """
            UPDATE main.cascade_trash_file SET fate = \(FileFate.toDelete.rawValue)
            WHERE fate = \(FileFate.trashed.rawValue) AND collection = \(relation.destination.id)
            AND path IN (SELECT CAST(\(TrashLayout.value(place)) AS TEXT) \(kept.layout.fromEntries)
              WHERE \(TrashLayout.isOfLayout)
              AND (t.batch, t.id) IN (SELECT batch, id FROM temp.erased_trash))
            """, [.integer(kept.batch), .integer(kept.number)])
      }
    }
  }

  // MARK: - Everything else

  private func eraseOtherTraces(_ job: DeletionJob) throws {
    let pairs = [
      ("cascade_candidate", [("collection", "key"), ("via_collection", "via_key")]),
      (
        "cascade_notice",
        [
          ("receiver_collection", "receiver_key"), ("source_collection", "source_key"),
          ("destination_collection", "destination_key"),
        ]
      ), ("cascade_given_up", [("collection", "key"), ("via_collection", "via_key")]),
      ("cascade_ended", [("collection", "key")]), ("cascade_plan_used", [("collection", "key")]),
      ("cascade_mark", [("collection", "key")]),
      ("cascade_marked", [("collection", "key"), ("via_collection", "via_key")]),
    ]
    try db.saveLastNotice()
    for (table, columns) in pairs {
      let isErased = columns.map { Writer.erased($0, $1) }.joined(separator: " OR ")
      try db.run(generated: "DELETE FROM main.\(table) WHERE \(isErased)", [])
    }
    try db.run(
      """
      DELETE FROM main.cascade_lease WHERE (collection, CAST(key AS TEXT)) IN (
        SELECT c.name, CAST(e.key AS TEXT) FROM temp.erased AS e
        JOIN cascade_collection AS c ON c.id = e.collection)
      """)
    try eraseJournal()
    try db.run(
      generated: """
        UPDATE main.cascade_deleted SET key = NULL WHERE batch = ?1 OR \(Writer.erased("collection", "key"))
        """, [.integer(job.batch)])
    try eraseNames()
  }

  /// Rows that plans own, which still wait. They are emptied and not deleted: a new row would get the number of
  /// the last one, and be the plan's.
  private func eraseJournal() throws {
    try db.run(
      """
      UPDATE main.cascade_journal
      SET key = NULL, gone = NULL, a = NULL, b = NULL, c = NULL, d = NULL WHERE seq IN (
        SELECT j.seq FROM main.cascade_journal AS j CROSS JOIN cascade_watch AS w ON w.what = j.what
        WHERE (w.meaning ->> 'rows', j.key) IN (SELECT collection, key FROM temp.erased))
      OR key IN (SELECT key FROM temp.erased WHERE typeof(key) = 'text' AND length(key) > 3)
      """)
  }

  /// Ids in the ledger, and what earlier jobs were about.
  private func eraseNames() throws {
    let texts = "SELECT key FROM temp.erased WHERE typeof(key) = 'text' AND length(key) > 3"
    let nodes = """
      SELECT c.name || '/' || e.key FROM temp.erased AS e
      JOIN cascade_collection AS c ON c.id = e.collection
      """
    let ids = try db.all(
      generated: """
        SELECT l.seq, l.id FROM cascade_ledger AS l WHERE EXISTS (
          SELECT 1 FROM (\(texts) UNION \(nodes)) AS k WHERE instr(l.id, k.key) > 0)
        """, []
    ) { ($0.integer(0), $0.text(1)) }
    for (batch, id) in ids where !id.hasPrefix("sha256:") {
      try db.run(
        "UPDATE cascade_ledger SET id = ? WHERE seq = ?", .text(Submission.hashed(id)),
        .integer(batch))
    }
    try db.run(
      """
      UPDATE cascade_job SET subject = '{"nodes":[]}', blocked = '[]'
      WHERE NOT \(Query.isOpenJob) AND EXISTS (
        SELECT 1 FROM json_each(cascade_job.subject, '$.nodes') AS n
        JOIN cascade_collection AS c ON c.name = n.value ->> 0
        JOIN temp.erased AS e ON e.collection = c.id AND e.key = n.value ->> 1)
      """)
  }

  // MARK: - Files, and the log

  package func clearUnusedPlaces(rewrites: Bool) throws -> Bool {
    if rewrites {
      try db.execute("PRAGMA main.secure_delete = ON; VACUUM")
      try restoreSecureDelete()
    }
    try copyLogIntoDatabase()
    return try (FileStatus.of("\(path)-wal")?.size ?? 0) == 0
  }

  package func eraseFiles(ofBatch batch: Int64) throws -> Int {
    try group { try db.markTrashedFiles(of: batch, .toDelete, most: -1) }
  }
}
