package import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import SQLiteBinding
internal import SQLiteJournal
package import SQLiteTables

/// What an undo of one node brings back.
///
/// 1. `temp.chosen` gets its entry in the trash, and those of what names a chosen one as the reason why it
///    went: in its batch, and in later ones.
/// 2. They move into a batch of their own, with the references, join rows and edges that they lost
///    (`SeparatedBatch.swift`). Where a batch has nothing else, they stay in it.
/// 3. That batch is undone like any other: in steps, and on after a crash.
extension Writer {
  package func separate(_ node: Node) throws -> [Int64] {
    if attachment.isDetached { throw StoreError.detached }
    return try group {
      if let batch = try separateMarks(of: node) { return [batch] }
      try choose(node)
      return try db.all(
        generated: """
          SELECT DISTINCT batch FROM temp.chosen WHERE what = \(ChosenEntry.whole.rawValue) ORDER BY 1
          """
      ) { $0.integer(0) }.map(separate)
    }
  }

  private func choose(_ node: Node) throws {
    try db.empty(.ownedBy(.undo))
    let first = try db.newestInTrash(node, binding.collections[node.collection], names: false)
    guard let first else { throw UndoUnavailable.nodeNotInTrash(node) }
    try db.run(
      "INSERT INTO temp.chosen(batch, id) VALUES(?, ?)", .integer(first.batch), .integer(first.id))
    repeat {
      try readCauses()
      try chooseFollowers()
    } while try chooseOtherNumbers() > 0
  }

  private func readCauses() throws {
    try db.run(
      """
      INSERT INTO temp.caused SELECT t.batch, t.via, t.id FROM cascade_trash AS t
      WHERE t.part = 0 AND t.via <> 0 AND t.batch IN (
        SELECT batch FROM temp.chosen EXCEPT SELECT batch FROM temp.caused)
      """)
  }

  private func chooseFollowers() throws {
    try db.run(
      """
      WITH RECURSIVE follower(batch, id) AS (
        SELECT batch, id FROM temp.chosen
        UNION SELECT c.batch, c.id FROM follower AS f
          CROSS JOIN temp.caused AS c ON c.batch = f.batch AND c.via = f.id)
      INSERT OR IGNORE INTO temp.chosen(batch, id) SELECT batch, id FROM follower
      """)
    let (whole, name) = (ChosenEntry.whole.rawValue, ChosenEntry.name.rawValue)
    try db.run(
      generated: """
        UPDATE temp.chosen AS h SET collection = l.collection, key = \(TrashLayout.key(keys: "l.keys")),
          what = iif(l.kind IN ('row', 'object'), \(whole), \(name))
        FROM main.cascade_trash AS t
        JOIN main.cascade_trash_layout AS l ON l.batch = t.batch AND l.layout = t.layout
        WHERE h.what IS NULL AND t.batch = h.batch AND t.id = h.id AND t.part = 0
        """)
  }

  /// A batch knows what was gone before by its key, under a number of its own. Returns how many there are.
  private func chooseOtherNumbers() throws -> Int {
    let names = """
      SELECT t.batch, t.id, l.collection, t.c0 AS key FROM main.cascade_trash_layout AS l
      CROSS JOIN main.cascade_trash AS t ON t.batch = l.batch AND t.layout = l.layout AND t.part = 0
      WHERE l.kind = 'name' AND l.batch >= (SELECT min(batch) FROM temp.chosen)
      UNION ALL SELECT x.batch, x.id, x.collection, x.key FROM main.cascade_trash_node AS x
      WHERE x.batch >= (SELECT min(batch) FROM temp.chosen)
      """
    try db.run(
      generated: """
        INSERT OR IGNORE INTO temp.chosen
        SELECT a.batch, a.id, a.collection, a.key, \(ChosenEntry.otherNumber.rawValue) FROM (\(names)) AS a
        WHERE EXISTS (SELECT 1 FROM temp.chosen AS h WHERE h.collection = a.collection
          AND h.key = a.key AND h.batch <= a.batch AND h.what = \(ChosenEntry.whole.rawValue))
        """)
    return db.changes
  }
}

/// What an entry of `temp.chosen` is.
enum ChosenEntry: Int {
  /// The number by which a batch knows a node whose entry is elsewhere.
  case otherNumber
  /// A row or an object.
  case whole
  /// A file.
  case name
}
