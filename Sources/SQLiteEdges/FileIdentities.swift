internal import CascadeModel
package import CascadeSQLite
internal import CascadePlanning
package import SQLiteBinding
package import SQLiteTables

extension Writer {
  /// A query: the collections that stand for file roots.
  package static let fileCollections =
    "SELECT id FROM main.cascade_collection WHERE name GLOB 'cascade_file/*'"

  /// Remembers files that lose an edge whose rules do not release them.
  package func rememberLostFiles(_ few: Slice = .all) throws {
    if model.files.isEmpty || current.lostCount == 0 { return }
    try addFileIdentities(
      """
      SELECT collection, key FROM temp.known WHERE id IN (
        SELECT id FROM (\(Writer.lostFiles)) WHERE id > ?1 AND id <= ?2)
      """, few.bound)
  }

  package static let lostFiles = """
    SELECT DISTINCT l.destination AS id FROM temp.lost_edges AS l
    CROSS JOIN temp.known AS k ON k.id = l.destination
    WHERE NOT l.rules & \(Rules.ofLostSource.rawValue) AND k.collection IN (\(Writer.fileCollections))
    AND k.id NOT IN (SELECT id FROM temp.gone)
    """

  /// The same for edges of rows that are deleted.
  package func addFileIdentities(of slice: Slice) throws {
    for relation in binding.edgeRelations
    where relation.leadsToFiles && relation.rules.isDisjoint(with: .ofLostSource) {
      try db.stageNodes(losing: .source, of: relation, rule: 0, in: slice, current.numbers)
      try addFileIdentities("SELECT DISTINCT collection, key FROM temp.staged")
      try db.clearFound()
    }
  }

  package func addFileIdentities(
    _ found: String, _ bound: [Value] = [], unlessNamed: Bool = false
  ) throws {
    let files = try db.all(
      generated: """
        SELECT row_number() OVER (), c.id, substr(c.name, 14), f.key
        FROM (\(found)) AS f CROSS JOIN main.cascade_collection AS c ON c.id = f.collection
        WHERE c.name GLOB 'cascade_file/*'
        """, bound
    ) {
      let file = FileQuery(id: $0.integer(0), collection: $0.integer(1), path: $0.text(3))
      return (file, root: $0.text(2))
    }
    let named = unlessNamed ? try db.named(files.map(\.0), binding) : []
    for (file, root) in files where !named.contains(file.id) {
      _ = try endId(.file(root: root, path: file.path))
    }
  }

  /// Forgets a file that was named only by an edge that never was: it has lost
  /// nothing.
  func deleteUnusedFileIdentity(_ id: Int64) throws {
    if model.files.isEmpty || id < current.firstNewId { return }
    try db.run(
      """
      DELETE FROM cascade_node WHERE id = ?
      AND collection IN (SELECT id FROM cascade_collection WHERE name GLOB 'cascade_file/*')
      AND NOT EXISTS (SELECT 1 FROM cascade_edge WHERE destination = cascade_node.id)
      """, .integer(id))
    if db.changes > 0 { identities.caches.nodes.removeAllEntries() }
  }
}
