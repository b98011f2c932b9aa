internal import Model
internal import SQLite

/// Edges in properties, read again from the values they repeat when the model says otherwise than
/// it did.
///
/// No rule runs: nothing was deleted, only the meaning changed. What does not fit any more is
/// passed over, and a reference to what is not there stays dangling, without an edge.
extension Writer {
  func rebuildReferences() throws {
    let fingerprint = references.fingerprint
    let known = try db.integer("SELECT value FROM cascade_meta WHERE name = 'references'") ?? 0
    if known == fingerprint { return }
    try group {
      try db.run("DELETE FROM cascade_edge WHERE origin >= 2")
      for collection in references.collections { try rebuildReferences(of: collection) }
      if !model.files.isEmpty { try db.forgetUnnamedFiles() }
      try forgetTouched()
      // These edges are older than whatever comes next.
      counters.serial += 1
      try db.run(
        "INSERT OR REPLACE INTO cascade_meta VALUES('references', ?)", .integer(fingerprint))
    }
  }

  private func rebuildReferences(of collection: String) throws {
    var page = try objects(in: collection, after: "")
    while let last = page.last {
      for object in page { try rebuildReferences(of: object, in: collection) }
      page = try objects(in: collection, after: last.key)
    }
  }

  private func rebuildReferences(of object: StoredObject, in collection: String) throws {
    guard let members = object.value.flatMap({ JSONText(valid: $0).members() }) else { return }
    for place in references.of(collection, type: object.type) {
      for destination in try place.destinations(in: members) {
        guard let end = try existingEnd(destination) else { continue }
        try add(edge(of: place, from: object.id, to: end), rules: place.rules)
      }
    }
  }

  /// A file that is named counts as there, as everywhere.
  private func existingEnd(_ destination: Destination) throws -> Int64? {
    switch destination {
    case .node(let node):
      guard let table = try table(of: node.collection) else { return try find(destination) }
      let isThere = try keys(of: node, in: table).flatMap { try place($0, in: table) } != nil
      return isThere ? try end(destination) : nil
    case .file: return try end(destination)
    }
  }

  /// Nil where the table can have no such key.
  private func keys(of node: Node, in table: NodeTable) throws -> [Value]? {
    do {
      return try keyValues(node, table)
    } catch is Rejection {
      return nil
    }
  }

  private struct StoredObject {
    let id: Int64
    let key: String
    let type: String?
    let value: String?
  }

  private func objects(in collection: String, after key: String) throws -> [StoredObject] {
    try db.all(
      """
      SELECT n.id, n.key, n.type, n.value
      FROM cascade_collection AS c CROSS JOIN cascade_node AS n ON n.collection = c.id
      WHERE c.name = ? AND n.key > ? ORDER BY n.key LIMIT 100
      """, .text(collection), .text(key)
    ) {
      StoredObject(
        id: $0.integer(0), key: $0.text(1), type: $0.optionalText(2), value: $0.optionalText(3))
    }
  }
}
