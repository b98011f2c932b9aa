internal import Model
internal import SQLite

/// What a batch deletes is kept as it was, with what brought each node there, until its time is over
/// (DESIGN 8.5).
///
/// 1. A slice is kept in the transaction that deletes it, before that; a batch may have many.
/// 2. Values are copied from table to table by SQLite, and never read here: whatever they are, they
///    stay. What a table computes by itself is not kept.
extension Writer {
  func keepInTrash(_ slice: Slice) throws {
    for group in try db.groups(of: slice) {
      if let table = binding.collections[group.name] {
        try keepRows(of: table, group)
        if group.absent > 0 { try keepNames(of: table, group) }
      } else if !group.name.hasPrefix(Destination.fileCollection) && !group.isKnown {
        try keepObjects(group)
      }
    }
    try keepSideRows(slice)
    try keepEdges(slice)
  }

  private func keepRows(of end: NodeTable, _ group: GoneGroup) throws {
    guard case .mapped(let table, let key, _) = end.kind, group.present > 0 else { return }
    let layout = TrashLayout(.row, table, keys: key.map(\.name), collection: end.id)
    try keep(layout, values: layout.values(of: "d", in: table), group.slice.bound) { part, values in
      """
      SELECT ?1, k.id, \(part), ?2, g.via, g.name, g.rule\(values)
      FROM temp.gone AS g CROSS JOIN temp.known AS k
        ON k.id = g.id AND k.collection = \(end.id) AND k.present
      CROSS JOIN \(end.rows) AS d ON \(end.isRow("d", of: "k"))
      WHERE g.seq > ?3 AND g.seq <= ?4
      """
    }
  }

  /// What was gone before anybody looked: a link in the chain.
  private func keepNames(of end: NodeTable, _ group: GoneGroup) throws {
    let layout = TrashLayout(kind: .name, collection: end.id)
    try keep(layout, values: ["k.key"], group.slice.bound) { part, values in
      """
      SELECT ?1, k.id, \(part), ?2, g.via, g.name, g.rule\(values)
      FROM temp.gone AS g CROSS JOIN temp.known AS k
        ON k.id = g.id AND k.collection = \(end.id) AND NOT k.present
      WHERE g.seq > ?3 AND g.seq <= ?4
      """
    }
  }

  private func keepObjects(_ group: GoneGroup) throws {
    let layout = TrashLayout(
      kind: .object, collection: group.collection, columns: ["key", "type", "value"])
    let bound = group.slice.bound + [.integer(group.collection)]
    try keep(layout, values: ["n.key", "n.type", "n.value"], bound) { part, values in
      """
      SELECT ?1, n.id, \(part), ?2, g.via, g.name, g.rule\(values)
      FROM temp.gone AS g CROSS JOIN main.cascade_node AS n ON n.id = g.id AND n.collection = ?5
      WHERE g.counts AND g.seq > ?3 AND g.seq <= ?4
      """
    }
  }
}

/// The nodes of one collection in a slice, and the part of it in which they are.
struct GoneGroup {
  let name: String
  let collection: Int64
  /// Whether they have their numbers in `temp.known`.
  let isKnown: Bool
  let slice: Slice
  let present: Int64
  let absent: Int64
}

extension Slice {
  var bound: [Value] { [.integer(low), .integer(high)] }
}

extension Connection {
  fileprivate func groups(of slice: Slice) throws(SQLiteError) -> [GoneGroup] {
    try all(
      """
      SELECT c.name, c.id, s.known, s.low, s.high, s.present, s.absent
      FROM (
        SELECT coalesce(k.collection, n.collection) AS collection, k.id IS NOT NULL AS known,
          min(g.seq) - 1 AS low, max(g.seq) AS high, total(coalesce(k.present, 1)) AS present,
          total(NOT coalesce(k.present, 1)) AS absent
        FROM temp.gone AS g LEFT JOIN temp.known AS k ON k.id = g.id
        LEFT JOIN cascade_node AS n ON k.id IS NULL AND n.id = g.id
        WHERE g.seq > ? AND g.seq <= ? GROUP BY 1, 2
      ) AS s JOIN cascade_collection AS c ON c.id = s.collection ORDER BY c.id, s.known
      """, .integer(slice.low), .integer(slice.high)
    ) { row in
      GoneGroup(
        name: row.text(0), collection: row.integer(1), isKnown: row.integer(2) != 0,
        slice: Slice(low: row.integer(3), high: row.integer(4)), present: row.integer(5),
        absent: row.integer(6))
    }
  }
}
