package import CascadeStore
internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding
internal import SQLiteTables

extension Reader {
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
      try db.all(
        generated: """
          SELECT l.seq, l.at, l.author, l.id, l.fingerprint, l.deleted, l.undone_at, l.undone_by,
            EXISTS (SELECT 1 FROM cascade_trash_layout WHERE batch = l.seq AND remaining > 0)
              OR EXISTS (SELECT 1 FROM cascade_trash_file WHERE batch = l.seq AND fate = ?3)
              OR l.seq IN (SELECT batch FROM cascade_released_file)
          FROM cascade_ledger AS l
          WHERE l.seq > ?1 AND (l.deleted > 0 OR l.undone_at IS NOT NULL
            OR EXISTS (SELECT 1 FROM cascade_trash_layout WHERE batch = l.seq AND kind <> 'name')
            OR EXISTS (SELECT 1 FROM cascade_trash_file WHERE batch = l.seq)
            OR l.seq IN (SELECT batch FROM cascade_released_file))
          ORDER BY l.seq \(order) LIMIT ?2
          """,
        [.integer(batch), .integer(Int64(limit)), .integer(FileFate.trashed.rawValue)]
      ) { Row($0) }.map(describe)
    }
  }

  private struct Row {
    let batch: Int64
    let at: Int64
    let author: String?
    let id: String
    let isSweep: Bool
    let deleted: Int
    let undoneAt: Int64?
    let undoneBy: String
    let isKept: Bool

    init(_ row: CascadeSQLite.Row) {
      (batch, at, author, id) = (
        row.integer(0), row.integer(1), row.optionalText(2), row.text(3)
      )
      isSweep = Batch.isSweep(id: id, author: author, fingerprint: row.integer(4))
      deleted = Int(row.integer(5))
      undoneAt = row.isNull(6) ? nil : row.integer(6)
      (undoneBy, isKept) = (row.text(7), row.integer(8) != 0)
    }
  }

  private func describe(_ row: Row) throws -> Batch {
    Batch(
      batch: row.batch, at: row.at, author: row.author, id: row.id, isSweep: row.isSweep,
      deletedCount: row.deleted, byCollection: try countsByCollection(of: row.batch),
      undone: row.undoneAt.map { .init(at: $0, by: row.undoneBy, isPartly: row.isKept) },
      undoUntil: row.isKept ? row.at + model.trash.inMilliseconds : nil)
  }

  private func countsByCollection(of batch: Int64) throws -> [String: Int] {
    let counts = try db.all(
      """
      SELECT c.name, sum(l.count) FROM cascade_trash_layout AS l
      JOIN cascade_collection AS c ON c.id = l.collection
      WHERE l.batch = ? AND l.kind IN ('row', 'object') GROUP BY 1
      """, .integer(batch)
    ) { ($0.text(0), Int($0.integer(1))) }
    return Dictionary(counts, uniquingKeysWith: +)
  }
}

extension Batch {
  /// Whether an entry of the ledger is that of a sweep.
  static func isSweep(id: String, author: String?, fingerprint: Int64) -> Bool {
    author == "sweep" && fingerprint == 0 && id.hasPrefix("sweep-")
  }
}
