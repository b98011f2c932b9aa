internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding

/// The numbers of nodes, collections and names, and caches of those that were looked up before. Only
/// Cascade writes these tables, and only one daemon at a time. A rollback clears the caches.
package final class Identities {
  package var counters: Counters
  package let nodes = IdentityCache(size: 1 << 16)
  package let collections = IdentityCache(size: 1 << 12)
  let names = IdentityCache(size: 1 << 12)
  /// The count of foreign commits as of which every row that a value refers to has its edges.
  package var referencesCurrentAt: Int64?

  init(_ counters: Counters) { self.counters = counters }

  package func clearCaches() {
    referencesCurrentAt = nil
    nodes.removeAllEntries()
    collections.removeAllEntries()
    names.removeAllEntries()
  }

  package struct Identity {
    package let collection: Int64
    package let key: String

    package init(collection: Int64, key: String) {
      (self.collection, self.key) = (collection, key)
    }

    /// Includes the collection: several collections may have the same key.
    fileprivate var identityHash: UInt64 {
      key.utf8Span.span.tableHash(seed: UInt64(bitPattern: collection))
    }
  }
}

extension Writer: Numbering {
  package func collectionId(_ name: String) throws -> Int64 {
    try id(of: name, in: "cascade_collection", identities.collections)
  }

  package func nameId(_ name: String) throws -> Int64 {
    try id(of: name, in: "cascade_name", identities.names)
  }

  private func id(of name: String, in table: String, _ cache: IdentityCache) throws -> Int64 {
    if let id = cache[name] { return id }
    let id =
      try db.integer("SELECT id FROM \(table) WHERE name = \(bind: .text(name))")
      ?? db.integer("INSERT INTO \(table)(name) VALUES(\(bind: .text(name))) RETURNING id")!
    cache[name] = id
    return id
  }

  /// The id of a node that has a row in `cascade_node`, marked dead or not.
  package func existingId(_ identity: Identities.Identity) throws -> Int64? {
    if let id = identities.nodes[identity] { return id }
    let id = try db.integer(
      "SELECT id FROM cascade_node WHERE collection = ? AND key = ?",
      .integer(identity.collection), .text(identity.key))
    if let id { identities.nodes[identity] = id }
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

/// A cache of ids, of nodes or of the few names that all nodes and edges share. It is asked for both
/// ends of every edge of a large load.
///
/// The table has a fixed size, and a new entry replaces the one in its slot. So memory is bounded
/// without any upkeep. Keys are compared by bytes: Swift takes strings for equal that are
/// canonically equivalent, SQLite does not.
package final class IdentityCache {
  private struct Entry {
    /// A hash of collection and key. Comparing it first rules out most other identities.
    var identityHash: UInt64 = 0
    var collection: Int64 = 0
    var id: Int64 = 0
    var key = ""
  }

  private var entries: [Entry] = []

  /// Each takes 40 bytes, and as much again for a long key. Allocated on first use.
  private let size: Int

  init(size: Int) { self.size = size }

  package subscript(identity: Identities.Identity) -> Int64? {
    get {
      if entries.isEmpty { return nil }
      let print = identity.identityHash
      let place = Int(print % UInt64(size))
      guard entries[place].identityHash == print, entries[place].collection == identity.collection,
        entries[place].key.hasBytes(of: identity.key)
      else { return nil }
      return entries[place].id
    }
    set {
      if entries.isEmpty { entries = Array(repeating: Entry(), count: size) }
      let print = identity.identityHash
      let place = Int(print % UInt64(size))
      entries[place] =
        newValue.map {
          Entry(identityHash: print, collection: identity.collection, id: $0, key: identity.key)
        } ?? Entry()
    }
  }

  package subscript(name: String) -> Int64? {
    get { self[Identities.Identity(collection: 0, key: name)] }
    set { self[Identities.Identity(collection: 0, key: name)] = newValue }
  }

  package func removeAllEntries() { entries = [] }
}
