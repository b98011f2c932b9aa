internal import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import SQLiteBinding
internal import SQLiteTables
internal import SQLiteRules

/// The trash keeps what a batch deletes as it was, with the reason why each node went, until its
/// time is over.
///
/// 1. A slice is kept in the transaction that deletes it, before the deletion. A batch may have
///    many slices.
/// 2. SQLite copies the values from table to table; they are never read here. So any value is kept
///    unchanged. Generated columns are not kept.
extension Writer {
  /// Nothing is kept of what is erased.
  var keepsTrash: Bool { model.trash > .zero && sweepRun.job?.request.erasure == nil }

  func trashSlice(_ slice: Slice, _ ends: NodeCounts) throws {
    for collection in ends.collections.sorted() {
      if let table = binding.collection(collection) {
        for form in ends.forms(of: table) { try trashRows(of: table, form, slice) }
      } else if try db.nameOfNodes(collection) == nil {
        try trashFilePaths(of: collection, slice)
      } else {
        try trashObjects(of: collection, slice)
      }
    }
    let explained: StaticString = "SELECT 1 FROM temp.explained_elsewhere LIMIT 1"
    if try !current.notifiesOfEarlierDeletions || db.integer(explained) != nil {
      try trashKeysOfReasons(slice)
    }
    try trashSideRows(slice)
    try trashStoredEdges(slice)
  }

  private func trashRows(of end: NodeTable, _ form: NumberForm, _ slice: Slice) throws {
    guard case .mapped(let table, let key, _) = end.kind else { return }
    let layout = TrashLayout(.row, table, keys: key.map(\.name), collection: end.id)
    try writeToTrash(
      layout, id: "g.id", values: layout.values(of: "d", in: table), reason: Writer.ownReason,
      from: """
        temp.gone AS g CROSS JOIN \(end.row("d", of: "g.id", form))
        WHERE \(slice.contains()) AND \(form == .byKey ? "m.present" : "1")
        """)
    if form != .byKey { return }
    // Nodes that were gone before the sweep examined them: each is a link in a chain of reasons.
    try trashKeysOfAbsentNodes("g.id", of: end.id, slice, reason: Writer.ownReason)
  }

  private static let ownReason = "g.via, g.name, g.rule"

  /// The value behind the key tells whether an earlier batch may know more.
  private func trashKeysOfAbsentNodes(
    _ node: String, of collection: Int64, _ slice: Slice, reason: String = "NULL, NULL, NULL"
  ) throws {
    try writeToTrash(
      TrashLayout(kind: .name, collection: collection), id: "k.id",
      values: ["k.key", "k.id IN (SELECT id FROM temp.explained_elsewhere)"],
      reason: reason,
      from: """
        temp.gone AS g CROSS JOIN temp.known AS k
          ON k.id = \(node) AND k.collection = \(bind: collection) AND NOT k.present
        WHERE \(slice.contains())
        """)
  }

  /// Keeps the keys of reasons that an earlier sweep deleted, or found gone: they are links in the
  /// chain here too. That sweep was of the other kind, or could not delete what the node leads to.
  private func trashKeysOfReasons(_ slice: Slice) throws {
    let collections = try db.all(
      """
      SELECT DISTINCT k.collection FROM temp.gone AS g CROSS JOIN temp.known AS k
        ON k.id = g.via AND NOT k.present
      WHERE \(slice.contains()) ORDER BY 1
      """
    ) { $0.integer(0) }
    for collection in collections { try trashKeysOfAbsentNodes("g.via", of: collection, slice) }
  }

  /// What becomes of the file itself is recorded elsewhere (`ReleasedFiles.swift`).
  private func trashFilePaths(of collection: Int64, _ slice: Slice) throws {
    let layout = TrashLayout(kind: .name, collection: collection)
    try writeToTrash(
      layout, id: "g.id", values: ["CAST(coalesce(n.key, k.key) AS TEXT)", "0"],
      reason: Writer.ownReason,
      from: """
        temp.gone AS g LEFT JOIN main.cascade_node AS n ON n.id = g.id
        LEFT JOIN temp.known AS k ON k.id = g.id
        WHERE \(slice.contains()) AND g.collection = \(bind: collection)
        """)
  }

  private func trashObjects(of collection: Int64, _ slice: Slice) throws {
    let layout = TrashLayout(
      kind: .object, collection: collection, columns: ["key", "type", "value"])
    try writeToTrash(
      layout, id: "n.id", values: ["n.key", "n.type", "n.value"], reason: Writer.ownReason,
      from: """
        temp.gone AS g CROSS JOIN main.cascade_node AS n
          ON n.id = g.id AND n.collection = \(bind: collection)
        WHERE g.counts AND \(slice.contains())
        """)
  }
}
