internal import CascadeModel
internal import CascadeSQLite

/// Caches the integers for the names of collections and edges and for the identities of nodes. Only
/// Cascade writes these tables, and only one daemon at a time. A rollback clears the caches.
package final class IdentityCaches {
  package let nodes = IdentityCache()
  package let collections = NameCache()
  let names = NameCache()
  /// The count of foreign commits as of which every row that a value refers to has its edges.
  package var referencesCurrentAt: Int64?

  package func forget() {
    referencesCurrentAt = nil
    nodes.removeAllEntries()
    collections.removeAllEntries()
    names.removeAllEntries()
  }

  package struct Identity {
    package let collection: Int64
    package let key: String

    package init(collection: Int64, key: String) {
      self.collection = collection
      self.key = key
    }
  }
}

extension Writer {
  package func collectionId(_ name: String) throws -> Int64 {
    if let id = identities.caches.collections[name] { return id }
    try db.run(
      "INSERT INTO cascade_collection(name) VALUES(?) ON CONFLICT DO NOTHING", .text(name))
    let id = try db.integer("SELECT id FROM cascade_collection WHERE name = ?", .text(name))!
    identities.caches.collections[name] = id
    return id
  }

  package func nameId(_ name: String) throws -> Int64 {
    if let id = identities.caches.names[name] { return id }
    try db.run("INSERT INTO cascade_name(name) VALUES(?) ON CONFLICT DO NOTHING", .text(name))
    let id = try db.integer("SELECT id FROM cascade_name WHERE name = ?", .text(name))!
    identities.caches.names[name] = id
    return id
  }

  /// The id of a node that has a row in `cascade_node`, marked dead or not.
  package func existingId(_ identity: IdentityCaches.Identity) throws -> Int64? {
    if let id = identities.caches.nodes[identity] { return id }
    let id = try db.integer(
      "SELECT id FROM cascade_node WHERE collection = ? AND key = ?",
      .integer(identity.collection), .text(identity.key))
    if let id { identities.caches.nodes[identity] = id }
    return id
  }

  package func newId() -> Int64 {
    defer { identities.counters.nextId += 1 }
    return identities.counters.nextId
  }

  package func isDead(_ id: Int64) throws -> Bool {
    if current.deadCount == 0 { return false }
    return try db.integer("SELECT 1 FROM temp.dead WHERE id = ?", .integer(id)) != nil
  }

  package func markDead(_ id: Int64) throws {
    try db.run("INSERT OR IGNORE INTO temp.dead VALUES(?)", .integer(id))
    current.deadCount += db.changes
  }
}
