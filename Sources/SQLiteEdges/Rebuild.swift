package import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import CascadeEngine
internal import SQLiteBinding
package import SQLiteTables
internal import SQLiteJournal

/// Reads edges in properties again, from the values that they repeat, if the model has changed.
///
/// No rule runs: nothing was deleted, only the meaning changed. A value that no longer fits is
/// skipped. A reference to a missing node stays dangling, without an edge. But if it still has an
/// edge to a node that is gone, the edge stays for a sweep to handle.
///
/// Very many objects are read in several transactions. If the daemon is killed between them, the
/// work begins again.
extension Writer {
  /// Adapts to a changed schema at once: the next transaction may be far off.
  package func adaptToSchema() throws {
    if attachment.isDetached { return }
    let isBound = try db.integer("PRAGMA main.schema_version") == binding.schemaVersion
    if try !isBound || attachment.isSchemaFresh && db.hasStatistics { try group {} }
    if !attachment.areReferencesRead { try rebuildReferences() }
  }

  /// Whether the program's own tables can be asked. Where a backup from before the daemon was just
  /// restored, they are made again first.
  package func hasOwnTables() throws -> Bool {
    try adaptToSchema()
    return !attachment.isDetached
  }

  /// If a table does not fit the model, its content is not known, and the edges stay unread.
  package func rebuildReferences() throws {
    let fingerprint = facts.references.fingerprint
    let known = try db.meta(.valueReferences) ?? 0
    attachment.areReferencesRead = known == fingerprint
    if attachment.areReferencesRead { return }
    if known != Writer.unread { try group { try markReferencesUnread() } }
    if !binding.stoppingProblems.isEmpty { return }
    let collections = try db.all(
      """
      SELECT name FROM cascade_collection
      WHERE place IS NULL AND name NOT GLOB 'cascade_*' ORDER BY id
      """
    ) { $0.text(0) }
    for collection in collections { try rebuildReferences(in: collection) }
    try group {
      try findUnusedIdentities(Writer.fileCollections)
      try deleteFoundUnusedIdentities(.all)
      try db.setMeta(.valueReferences, fingerprint)
    }
    attachment.areReferencesRead = true
  }

  private func rebuildReferences(in collection: String) throws {
    var last = ""
    try repeatInTransactions {
      // These edges are older than any that are added later.
      defer { identities.counters.serial += 1 }
      let page = try objects(in: collection, after: last)
      for object in page { try rebuildReferences(of: object, areOwn: false) }
      last = page.last?.key ?? last
      return !page.isEmpty
    }
  }

  /// For an object that an undo wrote.
  package func rebuildReferences(of id: Int64) throws {
    guard let object = try object(id), facts.references.hasReferences(object.collection)
    else { return }
    try rebuildReferences(of: object, areOwn: true)
  }

  private func rebuildReferences(of object: StoredObject, areOwn: Bool) throws {
    try deleteDanglingReferences(of: object.id)
    let members = object.members ?? []
    let old = try propertyEdges(of: object.id)
    var unsaid = old
    for place in facts.references.of(object.collection, type: object.type) {
      for destination in try place.destinations(in: members) {
        if let end = try existingEnd(destination) ?? goneEnd(destination, old) {
          let edge = try edge(of: place, from: object.id, to: end)
          if unsaid.removeValue(forKey: edge) == place.rules { continue }
          try add(edge, rules: place.rules, isOwn: areOwn)
        } else if case .node(let node) = destination {
          try storeDanglingReferences(place, of: object.id, to: node)
        }
      }
    }
    for edge in unsaid.keys {
      try db.run(
        "DELETE FROM cascade_edge WHERE source = ? AND name = ? AND destination = ? AND origin = ?",
        .integer(edge.source), .integer(edge.name), .integer(edge.destination),
        .integer(edge.origin.rawValue))
    }
  }

  private func goneEnd(_ destination: Destination, _ old: [EdgeKey: Rules]) throws -> Int64? {
    if old.isEmpty { return nil }
    do {
      let end = try existingId(destination)
      return old.keys.contains { $0.destination == end } ? end : nil
    } catch is Rejection {
      return nil
    }
  }

  /// A file that is named counts as existing, as everywhere else.
  func existingEnd(_ destination: Destination) throws -> Int64? {
    if case .node(let node) = destination, try !isThere(node) { return nil }
    return try endId(destination)
  }

  package func isThere(_ node: Node) throws -> Bool {
    guard let table = try table(of: node.collection) else {
      return try existingId(.node(node)) != nil
    }
    return try model.keyProblem(node) == nil && locate(keyValues(node, table), in: table) != nil
  }

  private func objects(in collection: String, after key: String) throws -> [StoredObject] {
    try db.all(
      """
      SELECT n.id, n.key, c.name, n.type, n.value
      FROM cascade_collection AS c CROSS JOIN cascade_node AS n ON n.collection = c.id
      WHERE c.name = ? AND n.key > ? ORDER BY n.key LIMIT 100
      """, .text(collection), .text(key)
    ) { StoredObject($0) }
  }

  package func object(_ id: Int64) throws -> StoredObject? {
    try db.first(
      """
      SELECT n.id, n.key, c.name, n.type, n.value
      FROM cascade_node AS n JOIN cascade_collection AS c ON c.id = n.collection WHERE n.id = ?
      """, .integer(id)
    ) { StoredObject($0) }
  }
}

/// A managed object, as it is stored.
package struct StoredObject {
  let id: Int64
  let key: String
  package let collection: String
  package let type: String?
  private let value: String?

  fileprivate init(_ row: Row) {
    (id, key, collection) = (row.integer(0), row.text(1), row.text(2))
    (type, value) = (row.optionalText(3), row.optionalText(4))
  }

  package var members: [Member]? { value.flatMap { JSONText(valid: $0).members() } }
}
