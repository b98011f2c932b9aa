internal import CascadeModel
package import CascadeSQLite
package import SQLiteBinding
package import SQLiteTables

/// Removes the numbers of files, and of rows of the application, that no stored edge names any
/// more.
extension Writer {
  /// Removes those of rows.
  package func deleteUnusedIdentities() throws {
    if try db.hasPendingEdges { return }
    try findUnusedIdentities(binding.tableNumbers)
    try forEachSlice(of: "SELECT id FROM temp.unused_identities", deleteFoundUnusedIdentities)
  }

  /// Called without the lock: the unused numbers may be few among very many.
  package func findUnusedIdentities(_ collections: String) throws {
    try db.empty(.unusedIdentities)
    try db.run(
      generated: """
        INSERT INTO temp.unused_identities
        SELECT n.id FROM main.cascade_node AS n WHERE \(Connection.isUnused(in: collections))
        """, [])
  }

  package func deleteFoundUnusedIdentities(_ few: Slice) throws {
    try db.run(
      """
      DELETE FROM cascade_node WHERE id IN (SELECT id FROM temp.unused_identities WHERE id > ? AND id <= ?)
      """, few.bound[0], few.bound[1])
    identities.nodes.removeAllEntries()
  }
}

extension Connection {
  package func hasUnusedIdentities(_ binding: Binding) throws(SQLiteError) -> Bool {
    if try hasPendingEdges { return false }
    return try integer(
      generated: """
        SELECT 1 FROM main.cascade_node AS n
        WHERE \(Connection.isUnused(in: binding.tableNumbers)) LIMIT 1
        """) != nil
  }

  /// Rows of the journal name the ends of edges by their numbers, until a sweep has read them.
  fileprivate var hasPendingEdges: Bool {
    get throws(SQLiteError) {
      try integer(
        "SELECT 1 FROM cascade_journal WHERE what < ? LIMIT 1",
        .integer(JournalSubject.firstWatch)) != nil
    }
  }

  fileprivate static func isUnused(in collections: String) -> String {
    """
    n.collection IN (\(collections))
    AND NOT EXISTS (SELECT 1 FROM main.cascade_edge WHERE source = n.id)
    AND NOT EXISTS (SELECT 1 FROM main.cascade_edge WHERE destination = n.id)
    """
  }
}
