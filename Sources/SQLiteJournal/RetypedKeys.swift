internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding
internal import SQLiteTables

/// Keys that Cascade has stored follow the key of their table when that gets another type, where their
/// text is the same. SQLite would not find the row '1' by the number 1.
///
/// A stored edge may name a row that has no such key any more. No trigger saw that row go, so the edge keeps
/// the key that it had, and no scan takes the row for gone (`MetaKey.retypedKeys`): `check` lists the
/// edge. When a row has the key's text again, the edge leads to it.
extension Writer {
  /// Runs before the shapes are recorded.
  func followKeyTypes() throws {
    let shapes = try db.recordedShapes()
    for table in binding.collections.values {
      guard let now = table.table,
        let before = shapes.first(where: { $0.subject.folded == now.name.folded }),
        table.columnsOfKey.contains(where: { before.type(of: $0.name) != $0.affinity.name })
      else { continue }
      try db.convertKeys(of: table)
      try db.setMeta(.retypedKeys, 1)
    }
    if try db.meta(.retypedKeys) != nil { try convertNodesWithRows() }
  }

  /// Runs before a sweep, too: an application may have given back what was missing.
  package func followRetypedKeys() throws {
    if try attachment.isDetached || isPartlyBound || db.meta(.retypedKeys) == nil { return }
    try group { try convertNodesWithRows() }
  }

  private func convertNodesWithRows() throws {
    var areAllFound = true
    for table in binding.collections.values {
      try db.run(
        generated: """
          UPDATE OR IGNORE main.cascade_node AS n SET key = \(table.converted("n.key"))
          WHERE n.collection = \(table.id) AND NOT \(table.mayBeKey("n.key"))
          AND \(table.hasRow(withKey: table.converted("n.key")))
          """)
      let isAnyLeft = try db.integer(
        generated: """
          SELECT 1 FROM main.cascade_node AS n
          WHERE n.collection = \(table.id) AND NOT \(table.mayBeKey("n.key")) LIMIT 1
          """)
      if isAnyLeft != nil { areAllFound = false }
    }
    identities.clearCaches()
    if areAllFound && binding.problems.isEmpty { try db.deleteMeta(.retypedKeys) }
  }
}

extension Connection {
  /// Where no row has to be there for a key.
  fileprivate func convertKeys(of table: NodeTable) throws(SQLiteError) {
    let places = [
      ("candidate", "collection", "key"), ("candidate", "via_collection", "via_key"),
      ("ended", "collection", "key"), ("trash_node", "collection", "key"),
      ("dangling_reference", "collection", "key"),
      ("notice", "receiver_collection", "receiver_key"),
      ("notice", "source_collection", "source_key"),
      ("notice", "destination_collection", "destination_key"),
    ]
    for (name, collection, key) in places {
      try run(
        generated: """
          UPDATE OR IGNORE main.cascade_\(name) AS t SET \(key) = \(table.converted("t.\(key)"))
          WHERE t.\(collection) = \(table.id) AND NOT \(table.mayBeKey("t.\(key)"))
          """)
    }
    try run(
      generated: """
        UPDATE main.cascade_journal AS t SET key = \(table.converted("t.key"))
        WHERE t.key IS NOT NULL AND t.what IN (
          SELECT w.what FROM main.cascade_watch AS w WHERE w.meaning ->> 'rows' = \(table.id))
        """)
  }
}
