package import CascadeModel
internal import CascadePostgres
internal import CascadeStore
internal import PostgresBinding
internal import PostgresTables

/// What an undo of one node brings back.
///
/// 1. Chosen are the node, and what names a chosen one as the reason why it went: in its batch, and in later
///    ones.
/// 2. They move into a batch of their own, with the references, join rows and edges that they lost
///    (`SeparatedBatch.swift`). Where a batch has nothing else, they stay in it.
/// 3. That batch is undone like any other.
extension PostgresWriter {
  package func separate(_ node: Node) throws -> [Int64] {
    try followSchema()
    return try store.transaction {
      if let batch = try separateMarks(of: node) { return [batch] }
      let chosen = try ChosenNodes(store, with: node)
      return try chosen.batches.map {
        try SeparatedBatch(store, chosen, outOf: $0).separate(into: nextBatch)
      }
    }
  }
}

/// Nodes that are to come back, by the batches that have them.
struct ChosenNodes {
  struct Node: Hashable {
    let batch: Int64
    /// The number of the collection.
    let collection: Int64
    let key: String
  }

  let nodes: [Node]

  var batches: [Int64] { Set(nodes.map(\.batch)).sorted() }

  init(_ store: StoreConnection, with node: CascadeModel.Node) throws {
    guard let table = store.binding.tables[node.collection], let key = table.key.text(node.key),
      let batch = try store.db.run(
        """
        SELECT max(k.batch) FROM cascade.deleted_node k
        WHERE \(table.isDeleted("k", "$1")) AND k.row IS NOT NULL
        """, [key]
      ).integer
    else { throw UndoUnavailable.nodeNotInTrash(node) }
    let rows = try store.db.run(
      ChosenNodes.query(store.binding), ["\(batch)", "\(table.number)", key]
    ).rows
    nodes = rows.map {
      Node(batch: Int64($0[0]!)!, collection: Int64($0[1]!)!, key: $0[2]!)
    }
  }

  /// What has gone again since is another node, and what followed that belongs to it.
  private static func query(_ binding: Binding) -> String {
    let ends = binding.relations.map {
      "(\($0.number), \($0.source.number), \($0.destination.number))"
    }
    let none = "(0, 0, 0)"
    return """
      WITH RECURSIVE relation(number, source, destination) AS (
        VALUES \((ends.isEmpty ? [none] : ends).joined(separator: ", "))),
      k AS MATERIALIZED (
        SELECT k.batch, k.collection, k.key, k.other, k.row IS NOT NULL AS is_kept,
          CASE WHEN k.rule & \(Rules.losingSource.rawValue) <> 0 THEN r.source ELSE r.destination END AS cause
        FROM cascade.deleted_node k JOIN relation r ON r.number = k.via
        WHERE k.batch >= $1::bigint AND k.other IS NOT NULL),
      c(batch, collection, key) AS (
        SELECT $1::bigint, $2::int, $3::text
        UNION SELECT k.batch, k.collection, k.key FROM c JOIN k ON k.cause = c.collection AND k.other = c.key
        WHERE k.is_kept AND (k.batch = c.batch OR k.batch > c.batch AND NOT EXISTS (
          SELECT FROM cascade.deleted_node w WHERE w.batch > c.batch AND w.batch <= k.batch
            AND w.collection = c.collection AND w.key = c.key AND w.row IS NOT NULL)))
      SELECT batch, collection, key FROM c
      """
  }

  /// The keys of a collection, as an array. What comes back with a later batch is not there before.
  func keys(of table: MappedTable, upTo batch: Int64 = .max) -> String {
    arrayText(nodes.filter { $0.collection == table.number && $0.batch <= batch }.map(\.key))
  }

  func isAny(of table: MappedTable) -> Bool {
    nodes.contains { $0.collection == table.number }
  }
}
