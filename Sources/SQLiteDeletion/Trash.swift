internal import CascadeModel
internal import CascadeSQLite
internal import CascadePlanning
internal import SQLiteBinding
internal import SQLiteTables

/// The trash keeps what a batch deletes as it was, with the reason why each node went, until its
/// time is over.
///
/// 1. A slice is kept in the transaction that deletes it, before the deletion. A batch may have
///    many slices.
/// 2. SQLite copies the values from table to table; they are never read here. So any value is kept
///    unchanged. Generated columns are not kept.
extension Writer {
  func trashSlice(_ slice: Slice) throws {
    for group in try db.groups(of: slice) {
      if let table = binding.collections[group.name] {
        try trashRows(of: table, group)
        if group.absent > 0 { try trashKeysOfAbsentNodes(of: table, group) }
      } else if group.name.hasPrefix(Destination.fileCollection) {
        try trashFilePaths(group)
      } else if group.form == .stored {
        try trashObjects(group)
      }
    }
    if try !current.notifiesOfEarlierDeletions || db.hasExplainedElsewhere {
      try trashKeysOfReasons(slice)
    }
    try trashSideRows(slice)
    try trashStoredEdges(slice)
  }

  private func trashRows(of end: NodeTable, _ group: GoneGroup) throws {
    guard case .mapped(let table, let key, _) = end.kind, group.present > 0 else { return }
    let layout = TrashLayout(.row, table, keys: key.map(\.name), collection: end.id)
    let form: NumberForm = group.form == .byRow ? .byRowid : .byKey
    let isThere = form == .byRowid ? "g.id < 0" : "g.id > 0 AND m.present"
    try writeToTrash(
      layout, id: "g.id", values: layout.values(of: "d", in: table), reason: Writer.ownReason,
      from: """
        temp.gone AS g CROSS JOIN \(end.row("d", of: "g.id", form))
        WHERE \(group.slice.contains()) AND \(isThere)
        """)
  }

  private static let ownReason = "g.via, g.name, g.rule"

  /// Keeps the keys of nodes that were gone before the sweep examined them: each is a link in a
  /// chain of reasons. The value behind the key tells whether an earlier batch may know more.
  private func trashKeysOfAbsentNodes(of end: NodeTable, _ group: GoneGroup) throws {
    let layout = TrashLayout(kind: .name, collection: end.id)
    try writeToTrash(
      layout, id: "k.id", values: Writer.keyAndExplanation, reason: Writer.ownReason,
      from: """
        temp.gone AS g CROSS JOIN temp.known AS k
          ON k.id = g.id AND k.collection = \(end.id) AND NOT k.present
        WHERE \(group.slice.contains())
        """)
  }

  private static let keyAndExplanation: [Query] = [
    "k.key", "k.id IN (SELECT id FROM temp.explained_elsewhere)",
  ]

  /// Keeps the keys of reasons that an earlier sweep deleted, or found gone: they are links in the
  /// chain here too. That sweep was of the other kind, or could not delete what the node leads to.
  private func trashKeysOfReasons(_ slice: Slice) throws {
    for collection in try db.collectionsOfAbsentReasons(slice) {
      let layout = TrashLayout(kind: .name, collection: collection)
      try writeToTrash(
        layout, id: "k.id", values: Writer.keyAndExplanation,
        from: """
          temp.gone AS g CROSS JOIN temp.known AS k
            ON k.id = g.via AND k.collection = \(bind: collection) AND NOT k.present
          WHERE \(slice.contains())
          """)
    }
  }

  /// What becomes of the file itself is recorded elsewhere (`ReleasedFiles.swift`).
  private func trashFilePaths(_ group: GoneGroup) throws {
    let layout = TrashLayout(kind: .name, collection: group.collection)
    try writeToTrash(
      layout, id: "g.id", values: ["CAST(coalesce(n.key, k.key) AS TEXT)", "0"],
      reason: Writer.ownReason,
      from: """
        temp.gone AS g LEFT JOIN main.cascade_node AS n ON n.id = g.id
        LEFT JOIN temp.known AS k ON k.id = g.id
        WHERE \(group.slice.contains()) AND g.collection = \(bind: group.collection)
        """)
  }

  private func trashObjects(_ group: GoneGroup) throws {
    let layout = TrashLayout(
      kind: .object, collection: group.collection, columns: ["key", "type", "value"])
    try writeToTrash(
      layout, id: "n.id", values: ["n.key", "n.type", "n.value"], reason: Writer.ownReason,
      from: """
        temp.gone AS g CROSS JOIN main.cascade_node AS n
          ON n.id = g.id AND n.collection = \(bind: group.collection)
        WHERE g.counts AND \(group.slice.contains())
        """)
  }
}

/// The nodes of one collection in a slice that are numbered in the same way, and the part of the
/// slice that contains them.
struct GoneGroup {
  let name: String
  package let collection: Int64
  let form: Form
  let slice: Slice
  let present: Int64
  let absent: Int64

  /// The number is in `cascade_node`, in `temp.known`, or follows from the rowid.
  enum Form: Int64 { case stored, named, byRow }
}

extension Connection {
  fileprivate var hasExplainedElsewhere: Bool {
    get throws(SQLiteError) { try integer("SELECT 1 FROM temp.explained_elsewhere LIMIT 1") != nil }
  }

  fileprivate func collectionsOfAbsentReasons(_ slice: Slice) throws(SQLiteError) -> [Int64] {
    try all(
      """
      SELECT DISTINCT k.collection FROM temp.gone AS g CROSS JOIN temp.known AS k
        ON k.id = g.via AND NOT k.present
      WHERE g.seq > ? AND g.seq <= ? ORDER BY 1
      """, .integer(slice.low), .integer(slice.high)
    ) { $0.integer(0) }
  }

  fileprivate func groups(of slice: Slice) throws(SQLiteError) -> [GoneGroup] {
    try all(
      """
      SELECT c.name, c.id, s.form, s.low, s.high, s.present, s.absent
      FROM (
        SELECT g.collection AS collection, iif(g.id < 0, 2, k.id IS NOT NULL) AS form,
          min(g.seq) - 1 AS low, max(g.seq) AS high, sum(coalesce(k.present, 1)) AS present,
          sum(NOT coalesce(k.present, 1)) AS absent
        FROM temp.gone AS g LEFT JOIN temp.known AS k ON k.id = max(g.id, 0)
        WHERE g.seq > ? AND g.seq <= ? GROUP BY 1, 2
      ) AS s JOIN cascade_collection AS c ON c.id = s.collection ORDER BY c.id, s.form
      """, .integer(slice.low), .integer(slice.high)
    ) { row in
      GoneGroup(
        name: row.text(0), collection: row.integer(1),
        form: GoneGroup.Form(rawValue: row.integer(2)) ?? .stored,
        slice: Slice(low: row.integer(3), high: row.integer(4)), present: row.integer(5),
        absent: row.integer(6))
    }
  }
}
