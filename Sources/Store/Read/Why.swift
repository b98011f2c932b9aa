package import Model
internal import SQLite

/// Why a node is there, or why it went.
package enum Why: Sendable {
  /// The edges that hold it: those that point at it, and those by which it may not go alone.
  case alive(holders: [Edge], total: Int)
  case deleted(Deletion)
  /// Never seen, or forgotten since.
  case unknown

  package struct Deletion: Sendable {
    package let batch: Int64
    package let at: Int64
    package let id: String
    package let author: String?
    /// From the node back to the first cause.
    package let chain: [Plan.Step]
  }
}

extension Reader {
  package func why(_ node: Node) throws -> Why {
    try db.snapshot {
      if try keyInTable(of: node) != nil { return try holders(of: node) }
      return try deletion(of: node).map(Why.deleted) ?? .unknown
    }
  }

  private func deletion(of node: Node) throws -> Why.Deletion? {
    let found = try db.first(
      """
      SELECT t.id, t.batch, l.at, l.id, l.author
      FROM cascade_collection AS c
      JOIN cascade_trash AS t ON t.collection = c.id AND t.key IN (?2, ?3, ?4)
      LEFT JOIN cascade_ledger AS l ON l.seq = t.batch
      WHERE c.name = ?1 ORDER BY t.batch DESC, t.id DESC LIMIT 1
      """, .text(node.collection), try keyInTrash(node), .text(node.key.managedText),
      .integer(node.key.managedText.flatMap { Int64($0) })
    ) { row in
      (
        id: row.integer(0), batch: row.integer(1), at: row.integer(2), file: row.text(3),
        author: row.optionalText(4)
      )
    }
    guard let found else { return nil }
    return Why.Deletion(
      batch: found.batch, at: found.at, id: found.file, author: found.author,
      chain: try chain(from: found.id, batch: found.batch))
  }

  /// The row is not there any more to tell whether its key is a number or a text.
  private func keyInTrash(_ node: Node) throws -> Value {
    try binding().collections[node.collection]?.stored(node.key) ?? .text(node.key.managedText)
  }

  /// Whole, as far as a message can hold it; each step is some 150 bytes.
  private static let longestChain: Int64 = 250_000

  /// Each step's other end is the next step's node, as long as it went in the same batch.
  private func chain(from id: Int64, batch: Int64) throws -> [Plan.Step] {
    try db.all(
      """
      WITH RECURSIVE step(depth, id, collection, key, via, name, rule) AS (
        SELECT 0, id, collection, key, via, name, rule FROM cascade_trash
        WHERE batch = ?2 AND id = ?1
        UNION ALL
        SELECT step.depth + 1, t.id, t.collection, t.key, t.via, t.name, t.rule
        FROM step JOIN cascade_trash AS t ON t.batch = ?2 AND t.id = step.via
        WHERE step.depth < ?3
      )
      SELECT c.name, s.key, m.name, oc.name, coalesce(ot.key, o.key), s.rule
      FROM step AS s JOIN cascade_collection AS c ON c.id = s.collection
      LEFT JOIN cascade_name AS m ON m.id = s.name
      LEFT JOIN cascade_trash AS ot ON ot.batch = ?2 AND ot.id = s.via
      LEFT JOIN cascade_node AS o ON o.id = s.via
      LEFT JOIN cascade_collection AS oc ON oc.id = coalesce(ot.collection, o.collection)
      ORDER BY s.depth
      """, .integer(id), .integer(batch), .integer(Reader.longestChain)
    ) { Plan.Step(row: $0, model) }
  }
}
