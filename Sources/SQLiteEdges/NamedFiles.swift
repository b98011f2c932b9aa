internal import CascadeModel
package import CascadeSQLite
package import CascadeEngine
package import SQLiteBinding
package import SQLiteTables

/// Finds out which of some files are named by an edge, wherever the edges are stored.
extension Connection {
  /// The ids of those that are named. Runs in the caller's transaction.
  package func named(_ files: [FileQuery], _ binding: Binding) throws(SQLiteError) -> Set<Int64> {
    try empty(.queriedFiles)
    for file in files {
      try run(
        "INSERT INTO temp.queried_files VALUES(?, ?, ?)", .integer(file.collection),
        .text(file.path), .integer(file.id))
    }
    var named = Set(
      try all(
        """
        SELECT a.id FROM temp.queried_files AS a
        JOIN cascade_node AS n ON n.collection = a.collection AND n.key = a.key
        WHERE EXISTS (SELECT 1 FROM cascade_edge WHERE destination = n.id)
        """
      ) { $0.integer(0) })
    let collections = Set(files.map(\.collection))
    for relation in binding.edgeRelations where collections.contains(relation.destination.id) {
      named.formUnion(try all(generated: relation.naming) { $0.integer(0) })
    }
    return named
  }
}

extension EdgeRelation {
  /// The ids of the files that a row refers to, found by the column's index or by one scan of the
  /// table.
  fileprivate var naming: String {
    let named =
      isIndexed
      ? "temp.queried_files AS a CROSS JOIN \(source.rows) AS s"
      : "\(source.rows) AS s \(references) CROSS JOIN temp.queried_files AS a"
    let isKey =
      isIndexed
      ? destination.referenceHasKey("a.key", of: reference)
      : destination.keyEqualsReference("a.key", by: reference.value)
    return """
      SELECT DISTINCT a.id FROM \(named) ON a.collection = \(destination.id) AND \(isKey)
      WHERE \(isEdge) AND \(source.isNode("s"))
      """
  }
}

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
    if db.changes > 0 { identities.nodes.removeAllEntries() }
  }
}
