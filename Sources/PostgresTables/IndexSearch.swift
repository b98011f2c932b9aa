internal import CascadeModel
internal import CascadePostgres
package import CascadeStore
internal import PostgresBinding

/// Finds referring columns that no index begins with, in whatever order. Only the table's owner can
/// create one.
package struct IndexSearch {
  private let store: StoreConnection

  package init(_ store: StoreConnection) { self.store = store }

  /// An index that is needed, and the kind of it.
  private struct Index {
    let index: MissingIndex
    let method: String
    /// A column that the index may begin with, too.
    let besides: String?
    let isOrdered: Bool

    init(
      _ table: String, _ columns: [String], method: String = "btree", besides: String? = nil,
      isOrdered: Bool = false
    ) {
      index = MissingIndex(table: table, columns: columns)
      self.method = method
      (self.besides, self.isOrdered) = (besides, isOrdered)
    }

    /// The kinds that serve as well.
    var methods: String { method == "btree" && !isOrdered ? "{btree,hash}" : "{\(method)}" }
  }

  package func missing() throws -> [MissingIndex] { try search().map(\.index) }

  package func findings() throws -> [SetupFinding] {
    try search().map { missing in
      SetupFinding(
        kind: .missingIndex, table: missing.index.table,
        message: "no index begins with \(missing.index); as the table's owner: "
          + statement(missing))
    }
  }

  /// Several relations may need one index.
  private func search() throws -> [Index] {
    let files = store.binding.files.flatMap(needed)
    let times = try store.model.ages.compactMap(needed)
    let all = store.binding.relations.filter { !$0.isTie }.flatMap(needed) + files + times
    var seen: Set<MissingIndex> = []
    return try all.filter { try seen.insert($0.index).inserted && !isThere($0) }
  }

  private func needed(_ relation: EdgeRelation) -> [Index] {
    switch relation.storage {
    case .column(let columns): [Index(relation.source.name, columns)]
    case .polymorphic where relation.source.isManaged: []
    case .polymorphic(let columns, let type):
      [Index(relation.source.name, columns, besides: type)]
    case .join(_, let source, let destination):
      [source, destination].map { Index(relation.join!.name, $0) }
    case .property(let path):
      relation.list?.isText == true || relation.source.isManaged
        ? [] : [Index(relation.source.name, [ListColumn.column(of: path)], method: "gin")]
    case .stored: []
    }
  }

  private func needed(_ relation: FileRelation) -> [Index] {
    switch relation.storage {
    case .column(let columns): [Index(relation.table, columns)]
    case .property(let path):
      relation.list?.isText == true || relation.source.isManaged
        ? [] : [Index(relation.table, [ListColumn.column(of: path)], method: "gin")]
    case .polymorphic, .join, .stored: []
    }
  }

  /// By which overdue rows are found. A text of whatever offset is found by no index.
  private func needed(_ collection: String, _ expiry: Expiry) throws -> Index? {
    guard let column = expiry.column, let table = store.binding.tables[collection],
      let type = try store.db.type(of: column, in: table.name), expiry.form(of: type) != .iso
    else { return nil }
    return Index(table.name, [column], isOrdered: true)
  }

  private func isThere(_ needed: Index) throws -> Bool {
    let columns = needed.index.columns
    if let besides = needed.besides, try isThere(needed, columns + [besides]) { return true }
    return try isThere(needed, columns)
  }

  private func isThere(_ needed: Index, _ columns: [String]) throws -> Bool {
    try store.db.run(
      """
      SELECT EXISTS (SELECT FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        JOIN pg_am m ON m.oid = c.relam
        WHERE i.indrelid = $1::regclass AND i.indisvalid AND i.indpred IS NULL AND m.amname = ANY($3::text[])
        AND $2::text[] <@ ARRAY(
          SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = i.indrelid
          AND a.attnum = ANY((i.indkey::int2[])[0:\(columns.count - 1)])))
      """, [needed.index.table, arrayText(columns), needed.methods]
    ).bool
  }

  /// What the owner has to run.
  private func statement(_ missing: Index) -> String {
    let columns = missing.index.columns.map(quoted).joined(separator: ", ")
    let method = missing.method == "btree" ? "" : " USING \(missing.method) "
    // An index of a partitioned table cannot be created beside writers.
    let manner = store.binding.partitions[missing.index.table] == nil ? " CONCURRENTLY" : ""
    return "CREATE INDEX\(manner) ON \(missing.index.table)\(method)(\(columns))"
  }
}
