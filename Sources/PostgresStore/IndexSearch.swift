internal import CascadeModel
internal import CascadePostgres
internal import CascadeStore

/// Finds referring columns that no index begins with, in whatever order. Only the table's owner can
/// create one.
struct IndexSearch {
  private let store: StoreConnection

  init(_ store: StoreConnection) { self.store = store }

  func missing() throws -> [MissingIndex] {
    try store.binding.relations.flatMap(needed).filter { try !isThere($0) }
  }

  private func needed(_ relation: EdgeRelation) -> [MissingIndex] {
    switch relation.relationship.edgeStorage {
    case .column(let columns): [MissingIndex(table: relation.source.name, columns: columns)]
    case .join(_, let source, let destination):
      [source, destination].map { MissingIndex(table: relation.join!.name, columns: $0) }
    case .stored, .property, .polymorphic: []
    }
  }

  private func isThere(_ index: MissingIndex) throws -> Bool {
    try store.db.run(
      """
      SELECT EXISTS (SELECT FROM pg_index i
        WHERE i.indrelid = $1::regclass AND i.indisvalid AND i.indpred IS NULL AND $2::text[] <@ ARRAY(
          SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = i.indrelid
          AND a.attnum = ANY((i.indkey::int2[])[0:\(index.columns.count - 1)])))
      """, [index.table, arrayText(index.columns)]
    ).bool
  }

  /// What the owner has to run.
  static func statement(_ index: MissingIndex) -> String {
    let columns = index.columns.map(quoted).joined(separator: ", ")
    return "CREATE INDEX CONCURRENTLY ON \(index.table)(\(columns))"
  }
}
