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
      if let id = try id(of: node) {
        return .alive(holders: try holders(of: id), total: try holderCount(of: id))
      }
      return try deletion(of: node).map(Why.deleted) ?? .unknown
    }
  }

  private func holders(of id: Int64) throws -> [Edge] {
    try db.all(
      """
      SELECT m.name, sc.name, s.key, dc.name, d.key, e.rules, e.origin
      FROM (
        SELECT * FROM cascade_edge WHERE destination = ?1
        UNION
        SELECT * FROM cascade_edge WHERE source = ?1 AND rules & (16 | 256)
        LIMIT ?2
      ) AS e
      CROSS JOIN cascade_name AS m ON m.id = e.name
      JOIN cascade_node AS s ON s.id = e.source
      JOIN cascade_collection AS sc ON sc.id = s.collection
      JOIN cascade_node AS d ON d.id = e.destination
      JOIN cascade_collection AS dc ON dc.id = d.collection
      ORDER BY 1, 2, 3, 4, 5
      """, .integer(id), .integer(Int64(Receipt.mostListed))
    ) { Edge(row: $0, model) }
  }

  private func holderCount(of id: Int64) throws -> Int {
    let count = try db.integer(
      """
      SELECT (SELECT count(*) FROM cascade_edge WHERE destination = ?1)
        + (SELECT count(*) FROM cascade_edge
          WHERE source = ?1 AND destination <> ?1 AND rules & (16 | 256))
      """, .integer(id))
    return Int(count ?? 0)
  }

  private func deletion(of node: Node) throws -> Why.Deletion? {
    guard let key = node.key.managedText else { return nil }
    let found = try db.first(
      """
      SELECT t.id, t.batch, l.at, l.id, l.author
      FROM cascade_collection AS c
      JOIN cascade_trash AS t ON t.collection = c.id AND t.key = ?2
      LEFT JOIN cascade_ledger AS l ON l.seq = t.batch
      WHERE c.name = ?1 ORDER BY t.id DESC LIMIT 1
      """, .text(node.collection), .text(key)
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

  /// Whole, as far as a message can hold it; each step is some 150 bytes.
  private static let longestChain: Int64 = 250_000

  /// Each step's other end is the next step's node, as long as it went in the same batch.
  private func chain(from id: Int64, batch: Int64) throws -> [Plan.Step] {
    try db.all(
      """
      WITH RECURSIVE step(depth, id, collection, key, via, name, rule) AS (
        SELECT 0, id, collection, key, via, name, rule FROM cascade_trash WHERE id = ?1
        UNION ALL
        SELECT step.depth + 1, t.id, t.collection, t.key, t.via, t.name, t.rule
        FROM step JOIN cascade_trash AS t ON t.id = step.via AND t.batch = ?2
        WHERE step.depth < ?3
      )
      SELECT c.name, s.key, m.name, oc.name, coalesce(o.key, ot.key), s.rule
      FROM step AS s JOIN cascade_collection AS c ON c.id = s.collection
      LEFT JOIN cascade_name AS m ON m.id = s.name
      LEFT JOIN cascade_node AS o ON o.id = s.via
      LEFT JOIN cascade_trash AS ot ON ot.id = s.via
      LEFT JOIN cascade_collection AS oc ON oc.id = coalesce(o.collection, ot.collection)
      ORDER BY s.depth
      """, .integer(id), .integer(batch), .integer(Reader.longestChain)
    ) { Plan.Step(row: $0, model) }
  }
}
