internal import CascadeModel
internal import CascadePostgres
internal import CascadeStore

/// Finds referring columns that no index begins with. Only the table's owner can create one.
struct IndexSearch {
  private let store: StoreConnection

  init(_ store: StoreConnection) { self.store = store }

  func missing() throws -> [MissingIndex] {
    try store.binding.relations.filter { try !isIndexed($0) }.map {
      MissingIndex(table: $0.source.name, columns: [$0.relationship.edgeStorage.columns[0]])
    }
  }

  private func isIndexed(_ relation: ColumnRelation) throws -> Bool {
    try store.db.run(
      """
      SELECT EXISTS (SELECT FROM pg_index i JOIN pg_attribute a
        ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
        WHERE i.indrelid = $1::regclass AND a.attname = $2 AND i.indisvalid AND i.indpred IS NULL)
      """, [relation.source.name, relation.relationship.edgeStorage.columns[0]]
    ).bool
  }

  /// What the owner has to run.
  static func statement(_ index: MissingIndex) -> String {
    "CREATE INDEX CONCURRENTLY ON \(index.table)(\(quoted(index.columns[0])))"
  }
}
