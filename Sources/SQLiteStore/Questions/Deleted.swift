internal import CascadeModel
internal import CascadeSQLite
package import CascadeStore
internal import SQLiteBinding
internal import SQLiteDeletion
internal import SQLiteTables

/// What went, in the order of the numbers.
extension Reader {
  package func deleted(_ query: DeletedQuery, limit: Int) throws -> DeletedPage {
    try db.snapshot {
      try DeletedPage(
        query, of: limit, forgotten: db.meta(.forgottenDeleted), last: db.lastDeletedNumber
      ) { start in
        try deleted(behind: start, in: query.collection, limit).map { entry in
          var node = entry.node
          if let id = entry.inTrash, query.hasValues { node.value = try keptValue(id) }
          return node
        }
      }
    }
  }

  /// `inTrash` is where a node is kept.
  private func deleted(
    behind number: Int64, in collection: String?, _ limit: Int
  ) throws -> [(node: DeletedNode, inTrash: TrashPlace?)] {
    try db.all(
      """
      SELECT p.number + d.place - p.low, c.name, d.key, p.at, d.batch, p.kind,
        p.author, d.part <> 0, k.seq, d.id
      FROM cascade_deleted_part AS p CROSS JOIN cascade_deleted AS d
        ON d.batch = p.batch AND d.part = p.part AND d.place > p.low + ?1 - p.number
      CROSS JOIN cascade_collection AS c ON c.id = d.collection
      LEFT JOIN cascade_ledger AS k ON k.seq = (
        SELECT s.batch FROM (
          SELECT d.batch AS batch UNION ALL SELECT seq FROM cascade_ledger WHERE origin = d.batch) AS s
        CROSS JOIN cascade_trash AS t ON t.batch = s.batch AND t.id = d.id AND t.part = 0
        CROSS JOIN cascade_trash_layout AS y ON y.batch = t.batch AND y.layout = t.layout
        WHERE y.remaining > 0 AND y.kind IN ('row', 'object') LIMIT 1)
      WHERE p.number >= coalesce(
        (SELECT number FROM cascade_deleted_part WHERE number <= ?1 ORDER BY number DESC LIMIT 1), 0)
      AND (?2 IS NULL OR c.name = ?2)
      ORDER BY p.number, d.place LIMIT ?3
      """, .integer(number), .text(collection), .integer(Int64(limit))
    ) { row in
      let kept = row.isNull(8) ? nil : TrashPlace(batch: row.integer(8), id: row.integer(9))
      return (DeletedNode(row, model, isKept: kept != nil), kept)
    }
  }

  struct TrashPlace {
    let batch: Int64
    let id: Int64
  }

  /// The row, or the object, as it was.
  private func keptValue(_ place: TrashPlace) throws -> JSON? {
    let layout = try db.all(
      """
      SELECT l.kind, l.collection, l.subject, l.columns, l.keys, l.types
      FROM cascade_trash AS t
      JOIN cascade_trash_layout AS l ON l.batch = t.batch AND l.layout = t.layout
      WHERE t.batch = ? AND t.id = ? AND t.part = 0
      """, .integer(place.batch), .integer(place.id)
    ) { TrashLayout(row: $0) }.first
    guard let layout = layout ?? nil else { return nil }
    let first = (0..<TrashLayout.columnsPerPart).map { "c\($0)" }.joined(separator: ", ")
    let values = try db.all(
      generated: """
        SELECT \(first) FROM cascade_trash WHERE batch = ? AND id = ? ORDER BY part
        """, [.integer(place.batch), .integer(place.id)]
    ) { row in row.columns.map { row.given($0) } }.joined()
    return layout.value(of: Array(values))
  }
}

extension DeletedNode {
  fileprivate init(_ row: Row, _ model: StoreModel, isKept: Bool) {
    let batch = Submission.Kind(part: row.integer(5))
    self.init(
      number: row.integer(0), collection: row.text(1),
      key: row.isNull(2) ? nil : row.key(2, in: row.text(1), model), at: row.integer(3),
      batch: row.integer(4), cause: Cause(batch, isOwn: row.integer(7) != 0),
      author: row.optionalText(6), isKept: isKept)
  }
}

extension TrashLayout {
  /// Of a row, its columns; of an object, its value.
  fileprivate func value(of values: [GivenValue]) -> JSON? {
    if kind == .object {
      guard case .json(.string(let text)) = values[2] else { return .null }
      return try? JSON.parse(text)
    }
    return .object(
      zip(columns, values).compactMap { column, value in
        column.map { JSON.Field($0, value.json) }
      })
  }
}
