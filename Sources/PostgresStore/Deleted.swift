internal import CascadeEngine
internal import CascadeModel
internal import CascadePostgres
package import CascadeStore
internal import PostgresBinding
internal import PostgresTables

/// What went, in the order of the numbers.
extension PostgresReader {
  package func deleted(_ query: DeletedQuery, limit: Int) throws -> DeletedPage {
    try ask { store in
      var list = DeletedList(store: store)
      return try DeletedPage(
        query, of: limit, forgotten: store[meta: "deleted.forgotten"],
        last: store[meta: "deleted.last"]
      ) { try list.nodes(behind: $0, query, limit) }
    }
  }
}

private struct DeletedList {
  let store: StoreConnection
  private var shapes: ReadShapes

  init(store: StoreConnection) { (self.store, shapes) = (store, ReadShapes(store)) }

  mutating func nodes(
    behind number: Int64, _ query: DeletedQuery, _ limit: Int
  ) throws -> [DeletedNode] {
    try store.db.run(
      """
      SELECT w.number + n.i - 1, c.name, n.key, w.at, w.batch, w.kind, w.author, w.is_own, k.is_kept,
        \(query.hasValues ? "k.row, k.shape" : "NULL, NULL")
      FROM cascade.went w CROSS JOIN unnest(w.keys) WITH ORDINALITY n(key, i)
      JOIN cascade.collection c ON c.number = w.collection
      LEFT JOIN LATERAL (\(DeletedList.kept)) k ON true
      WHERE w.number >= coalesce((SELECT max(number) FROM cascade.went WHERE number <= $1::bigint), 0)
      AND w.number + n.i - 1 > $1::bigint AND ($2::text IS NULL OR c.name = $2)
      ORDER BY w.number, n.i LIMIT \(limit)
      """, ["\(number)", query.collection]
    ).rows.map { try node($0) }
  }

  /// Where the node is kept: in the row that had it first; once some of that came back, or was chosen to,
  /// in one of its own.
  private static let kept = """
    SELECT true AS is_kept, d.rows[n.i] AS row, d.shape FROM cascade.deleted d
    WHERE d.batch = w.batch AND d.id = w.source AND d.rows IS NOT NULL
    UNION ALL
    SELECT true, d.rows[1], d.shape FROM cascade.deleted d
    WHERE d.collection = w.collection AND d.bucket = \(OwnSchema.bucket("n.key"))
    AND d.keys = ARRAY[n.key] AND d.rows IS NOT NULL AND d.id <> w.source
    AND (d.batch = w.batch OR d.batch IN (SELECT batch FROM cascade.ledger WHERE origin = w.batch))
    LIMIT 1
    """

  private mutating func node(_ row: [String?]) throws -> DeletedNode {
    let (name, kind) = (row[1]!, Submission.Kind(part: Int64(row[5]!)!))
    let key = row[2].map { store.binding.tables[name]?.node($0).key ?? .text($0) }
    var node = DeletedNode(
      number: Int64(row[0]!)!, collection: name, key: key, at: Int64(row[3]!)!,
      batch: Int64(row[4]!)!, cause: DeletedNode.Cause(kind, isOwn: row[7] == "t"), author: row[6],
      isKept: row[8] == "t")
    if let text = row[9] { node.value = try value(text, shape: row[10]) }
    return node
  }

  // MARK: - Values

  /// Of a row, its columns; of an object, its value.
  private mutating func value(_ text: String, shape: String?) throws -> JSON? {
    let values = RowText.values(text)
    guard let shape else {
      return values.last.flatMap(\.self).flatMap { try? JSON.parse($0) } ?? .null
    }
    guard let columns = try shapes.columns(ofShape: shape) else { return nil }
    return .object(
      zip(columns, values).map { JSON.Field($0.name, RowText.json($1, of: $0.type)) })
  }
}
