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
      try db.run("DELETE FROM cascade_loose")
      for collection in references.collections { try rebuildReferences(of: collection) }
      try findUnused(Writer.files)
      try forgetUnused(.all)
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

  /// Of an object that an undo wrote.
  func rebuildReferences(of id: Int64) throws {
    let object = try db.first(
      """
      SELECT n.id, n.key, n.type, n.value, c.name
      FROM cascade_node AS n JOIN cascade_collection AS c ON c.id = n.collection WHERE n.id = ?
      """, .integer(id)
    ) { (StoredObject($0), collection: $0.text(4)) }
    guard let object, references.concern(object.collection) else { return }
    try forgetLoose(of: id)
    try rebuildReferences(of: object.0, in: object.collection)
  }

  private func rebuildReferences(of object: StoredObject, in collection: String) throws {
    guard let members = object.value.flatMap({ JSONText(valid: $0).members() }) else { return }
    for place in references.of(collection, type: object.type) {
      for destination in try place.destinations(in: members) {
        if let end = try existingEnd(destination) {
          try add(edge(of: place, from: object.id, to: end), rules: place.rules)
        } else if case .node(let node) = destination {
          try keepLoose(place, of: object.id, to: node)
        }
      }
    }
  }

  /// A file that is named counts as there, as everywhere.
  func existingEnd(_ destination: Destination) throws -> Int64? {
    if case .node(let node) = destination, try !isThere(node) { return nil }
    return try end(destination)
  }

  func isThere(_ node: Node) throws -> Bool {
    guard let table = try table(of: node.collection) else { return try find(.node(node)) != nil }
    return try keys(of: node, in: table).flatMap { try place($0, in: table) } != nil
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

    init(_ row: Row) {
      (id, key, type, value) = (
        row.integer(0), row.text(1), row.optionalText(2), row.optionalText(3)
      )
    }
  }

  private func objects(in collection: String, after key: String) throws -> [StoredObject] {
    try db.all(
      """
      SELECT n.id, n.key, n.type, n.value
      FROM cascade_collection AS c CROSS JOIN cascade_node AS n ON n.collection = c.id
      WHERE c.name = ? AND n.key > ? ORDER BY n.key LIMIT 100
      """, .text(collection), .text(key)
    ) { StoredObject($0) }
  }
}
