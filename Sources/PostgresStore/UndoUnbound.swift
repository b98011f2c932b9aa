internal import CascadeModel
internal import CascadePostgres
internal import CascadeStore
internal import PostgresBinding
internal import PostgresTables

/// What a batch has of collections and relationships that the model does not have any more. It stays in the
/// batch, and comes back when the model has them again.
extension Undo {
  mutating func leaveUnbound() throws {
    try leaveNodes()
    try leaveReferences()
    try leaveRows()
  }

  private func numbers(_ numbers: [Int64]) -> String { arrayText(numbers.map { "\($0)" }) }

  private var boundRelations: String {
    numbers(store.binding.relations.map(\.number) + store.binding.files.map(\.number))
  }

  private mutating func leaveNodes() throws {
    let rows = try store.db.run(
      """
      SELECT DISTINCT c.name, k.key FROM cascade.deleted_node k
      JOIN cascade.collection c ON c.number = k.collection
      WHERE k.batch = \(batch) AND k.row IS NOT NULL AND NOT k.collection = ANY($1::int[])
      ORDER BY 1, 2
      """, [numbers(store.binding.tables.values.map(\.number))]
    ).rows
    for row in rows {
      leave(Node(row[0]!, .text(row[1]!)), because: "the model has no collection \"\(row[0]!)\"")
    }
  }

  private mutating func leaveReferences() throws {
    let rows = try store.db.run(
      """
      SELECT r.name, r.source, n.key FROM cascade.nullified n
      JOIN cascade.relation r ON r.number = n.relation
      WHERE n.batch = \(batch) AND NOT n.relation = ANY($1::int[]) ORDER BY 1, 2, 3
      """, [boundRelations]
    ).rows
    for row in rows {
      result.leave(
        nil, "the reference \"\(row[0]!)\" of \(Node(row[1]!, .text(row[2]!)))",
        because: "the model has no such relationship")
    }
  }

  private mutating func leaveRows() throws {
    let rows = try store.db.run(
      """
      SELECT r.name, r.source, count(*) FROM cascade.unlinked u
      JOIN cascade.relation r ON r.number = u.relation
      WHERE u.batch = \(batch) AND u.row IS NOT NULL AND NOT u.relation = ANY($1::int[])
      GROUP BY 1, 2 ORDER BY 1, 2
      """, [boundRelations]
    ).rows
    for row in rows {
      for _ in 0..<(Int(row[2]!) ?? 0) {
        result.leave(
          nil, "an edge \"\(row[0]!)\" of \"\(row[1]!)\"",
          because: "the model has no such relationship")
      }
    }
  }
}
