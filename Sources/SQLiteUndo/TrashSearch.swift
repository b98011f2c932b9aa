package import CascadeModel
package import CascadeSQLite
package import SQLiteBinding
internal import SQLiteTables

/// A row, an object or a name in the trash.
package struct TrashEntry: Hashable {
  package let batch: Int64
  package let id: Int64
}

extension Connection {
  /// The newest trash of a node. A mere name, of which an earlier batch may have more, is the last
  /// choice. Of an object that one change file put and deleted several times, an undo wants the first: that
  /// existed before.
  ///
  /// No index leads from keys to the trash, so the batches are scanned, the newest first. A million
  /// rows take a fifth of a second. An index would cost a second while they are deleted.
  package func newestInTrash(
    _ node: Node, _ table: NodeTable?, upTo batch: Int64 = .max, names: Bool = true
  ) throws -> TrashEntry? {
    let whole = table?.stored(node.key) ?? .text(node.key.managedText)
    let parts = table?.columnValues(node.key) ?? [whole]
    let collations = table?.collations ?? ["BINARY"]
    let isRow = zip(parts.indices, collations).map { "t.c\($0) = ?\($0 + 5) COLLATE \(quoted($1))" }
    let collation = collations.count == 1 ? collations[0] : "BINARY"
    return try all(
      generated: """
        SELECT l.batch, t.id
        FROM main.cascade_collection AS c
        CROSS JOIN main.cascade_trash_layout AS l ON l.collection = c.id
        CROSS JOIN main.cascade_trash AS t
          ON t.batch = l.batch AND t.layout = l.layout AND t.part = 0
        WHERE c.name = ?1 AND l.batch > \(TrashLayout.batchOfKept)
        AND l.kind IN ('row', 'object'\(names ? ", 'name'" : ""))
        AND (t.c0 COLLATE \(quoted(collation)) IN (?2, ?3, ?4)
          OR (l.kind = 'row' AND \(isRow.joined(separator: " AND "))))
        AND l.batch <= ?\(parts.count + 5)
        ORDER BY l.kind = 'name' AND coalesce(t.c1, 0), l.batch DESC, l.kind = 'name', t.id \(names ? "DESC" : "ASC")
        LIMIT 1
        """,
      [
        .text(node.collection), whole, .text(node.key.managedText),
        .integer(node.key.managedText.flatMap { Int64($0) }),
      ] + parts + [.integer(batch)]
    ) { TrashEntry(batch: $0.integer(0), id: $0.integer(1)) }.first
  }
}
