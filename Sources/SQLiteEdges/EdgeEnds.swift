package import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import CascadePlanning
package import SQLiteTables
internal import SQLiteJournal
internal import SQLiteBinding

extension Writer {
  /// The identity of a managed node, whether the node exists or not.
  package func identity(of node: Node) throws -> IdentityCaches.Identity {
    guard let key = node.key.managedText else {
      throw Rejection(.invalid, model.keyProblem(node)!, node: node)
    }
    return IdentityCaches.Identity(collection: try managedCollectionId(node.collection), key: key)
  }

  package func managedCollectionId(_ name: String) throws -> Int64 {
    if let id = identities.caches.collections[name] { return id }
    if let problem = binding.problem(of: name) { throw cannotBeWritten(name, problem.message) }
    if let problem = model.problem(ofChanged: name) { throw Rejection(.invalid, problem) }
    if let other = try db.collection(lookingLike: name) {
      throw Rejection(.invalid, RecordedCollection.looksLike(other))
    }
    return try collectionId(name)
  }

  /// The id of an edge's end. A node that does not exist yet gets an identity, and is marked dead
  /// until it is put.
  package func endId(_ destination: Destination) throws -> Int64 {
    if case .node(let node) = destination { return try endId(node) }
    // A file that an edge names counts as existing: a transaction does not ask the disk.
    let identity = try identity(of: destination)
    return try existingId(identity) ?? insertIdentity(identity)
  }

  package func endId(_ node: Node) throws -> Int64 {
    if let table = try table(of: node.collection) { return try end(node, in: table) }
    let identity = try identity(of: node)
    if let id = try existingId(identity) { return id }
    let id = try insertIdentity(identity)
    try markDead(id)
    return id
  }

  /// The id of an end that has a row in `cascade_node`, marked dead or not.
  package func existingId(_ end: Destination) throws -> Int64? {
    if case .node(let node) = end, let table = try table(of: node.collection) {
      return try find(node, in: table)
    }
    return try existingId(identity(of: end))
  }

  func identity(of destination: Destination) throws -> IdentityCaches.Identity {
    switch destination {
    case .node(let node): return try identity(of: node)
    case .file(let root, let path):
      if let problem = model.problem(ofRoot: root) { throw Rejection(.invalid, problem) }
      let collection = try collectionId(Destination.fileCollection + root)
      return IdentityCaches.Identity(collection: collection, key: path)
    }
  }

  func insertIdentity(_ identity: IdentityCaches.Identity) throws -> Int64 {
    let id = newId()
    try db.run(
      "INSERT INTO cascade_node(id, collection, key) VALUES(?, ?, ?)", .integer(id),
      .integer(identity.collection), .text(identity.key))
    identities.caches.nodes[identity] = id
    if facts.hasTables { try renumber(.text(identity.key), in: identity.collection, as: id) }
    return id
  }
}
