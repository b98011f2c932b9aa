internal import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import SQLiteBinding
internal import SQLiteTables

/// What only the model can say (`was`): objects have no table by which they are known, and stored edges no
/// column.
///
/// It is followed once: not where there is something under the new name already.
extension Writer {
  func renameStoredEdges() throws {
    for relationship in model.relationships where relationship.edgeStorage == .stored {
      guard let was = relationship.was else { continue }
      let from = model.collection(of: relationship.from)
      if try db.hasStoredEdges(relationship.name, from) { continue }
      if try !db.hasStoredEdges(was, from) { continue }
      try db.run(
        "INSERT OR IGNORE INTO cascade_name(name) VALUES(?)", .text(relationship.name))
      for table in ["cascade_edge", "cascade_trash_edge", "cascade_dangling_reference"] {
        try db.run(
          generated: """
            UPDATE OR IGNORE main.\(table)
            SET name = (SELECT id FROM main.cascade_name WHERE name = ?3)
            WHERE \(Connection.isStoredEdge)
            """,
          [
            .text(was), .text(from), .text(relationship.name),
            .integer(Origin.firstOfValues.rawValue),
          ])
      }
    }
  }
}

extension Connection {
  /// Of the name ?1, from the collection ?2; ?4 is the first origin of those that are not stored.
  fileprivate static let isStoredEdge = """
    name = (SELECT id FROM main.cascade_name WHERE name = ?1) AND origin < ?4
    AND source IN (SELECT n.id FROM main.cascade_node AS n
      JOIN main.cascade_collection AS c ON c.id = n.collection WHERE c.name = ?2)
    """

  fileprivate func hasStoredEdges(_ name: String, _ from: String) throws(SQLiteError) -> Bool {
    try integer(
      generated: "SELECT 1 FROM main.cascade_edge WHERE \(Connection.isStoredEdge) LIMIT 1",
      [.text(name), .text(from), .null, .integer(Origin.firstOfValues.rawValue)]) != nil
  }

  /// Collections of objects that the model says to have another name.
  func renamedObjects(
    in model: StoreModel, _ kept: [RecordedCollection]
  ) throws -> [(old: RecordedCollection, name: String)] {
    try model.formerNames.collections.sorted { $0.key < $1.key }.compactMap { name, was in
      guard model.collections[was] == nil,
        let old = kept.first(where: { $0.name == was && !$0.isOfRows })
      else { return nil }
      let there = kept.first { $0.name == name }
      if try there.map({ try $0.isOfRows || hasStoredNodes(of: $0.id) }) == true { return nil }
      return (old, name)
    }
  }
}
