internal import CascadeModel
internal import CascadeSQLite

/// Caches the integers for the names of collections and edges and for the identities of nodes. Only
/// Cascade writes these tables, and only one daemon at a time. A rollback clears the caches.
final class IdentityCaches {
  let nodes = IdentityCache()
  let collections = NameCache()
  let names = NameCache()
  /// The count of foreign commits as of which every row that a value refers to has its edges.
  var referencesCurrentAt: Int64?

  func forget() {
    referencesCurrentAt = nil
    nodes.removeAllEntries()
    collections.removeAllEntries()
    names.removeAllEntries()
  }

  struct Identity {
    let collection: Int64
    let key: String
  }
}

extension Writer {
  func collectionId(_ name: String) throws -> Int64 {
    if let id = identities.caches.collections[name] { return id }
    try db.run(
      "INSERT INTO cascade_collection(name) VALUES(?) ON CONFLICT DO NOTHING", .text(name))
    let id = try db.integer("SELECT id FROM cascade_collection WHERE name = ?", .text(name))!
    identities.caches.collections[name] = id
    return id
  }

  func nameId(_ name: String) throws -> Int64 {
    if let id = identities.caches.names[name] { return id }
    try db.run("INSERT INTO cascade_name(name) VALUES(?) ON CONFLICT DO NOTHING", .text(name))
    let id = try db.integer("SELECT id FROM cascade_name WHERE name = ?", .text(name))!
    identities.caches.names[name] = id
    return id
  }

  /// The identity of a managed node, whether the node exists or not.
  func identity(of node: Node) throws -> IdentityCaches.Identity {
    guard let key = node.key.managedText else {
      throw Rejection(.invalid, model.keyProblem(node)!, node: node)
    }
    return IdentityCaches.Identity(collection: try managedCollectionId(node.collection), key: key)
  }

  func managedCollectionId(_ name: String) throws -> Int64 {
    if let id = identities.caches.collections[name] { return id }
    if let whole = model.typeNames[name] {
      throw Rejection(
        .invalid,
        "\"\(name)\" is a type of \"\(whole)\": name that collection, and the type in `put`")
    }
    if let problem = binding.problem(of: name) { throw cannotBeWritten(name, problem.message) }
    if model.strict && model.collections[name] == nil {
      let known = model.collections.keys.sorted()
      let hint = nearest(name, in: known).map { ", did you mean \"\($0)\"?" } ?? ""
      throw Rejection(.invalid, "the model has no collection \"\(name)\" and is strict\(hint)")
    }
    if let other = try db.collection(lookingLike: name) {
      throw Rejection(.invalid, RecordedCollection.looksLike(other))
    }
    return try collectionId(name)
  }

  /// The id of a node that has a row in `cascade_node`, marked dead or not.
  func existingId(_ identity: IdentityCaches.Identity) throws -> Int64? {
    if let id = identities.caches.nodes[identity] { return id }
    let id = try db.integer(
      "SELECT id FROM cascade_node WHERE collection = ? AND key = ?",
      .integer(identity.collection), .text(identity.key))
    if let id { identities.caches.nodes[identity] = id }
    return id
  }

  func newId() -> Int64 {
    defer { identities.counters.nextId += 1 }
    return identities.counters.nextId
  }

  func isDead(_ id: Int64) throws -> Bool {
    if current.deadCount == 0 { return false }
    return try db.integer("SELECT 1 FROM temp.dead WHERE id = ?", .integer(id)) != nil
  }

  func markDead(_ id: Int64) throws {
    try db.run("INSERT OR IGNORE INTO temp.dead VALUES(?)", .integer(id))
    current.deadCount += db.changes
  }

  /// The id of an edge's end. A node that does not exist yet gets an identity, and is marked dead
  /// until it is put.
  func endId(_ destination: Destination) throws -> Int64 {
    if case .node(let node) = destination { return try endId(node) }
    // A file that an edge names counts as existing: a transaction does not ask the disk.
    let identity = try identity(of: destination)
    return try existingId(identity) ?? insertIdentity(identity)
  }

  func endId(_ node: Node) throws -> Int64 {
    if let table = try table(of: node.collection) { return try end(node, in: table) }
    let identity = try identity(of: node)
    if let id = try existingId(identity) { return id }
    let id = try insertIdentity(identity)
    try markDead(id)
    return id
  }

  /// The id of an end that has a row in `cascade_node`, marked dead or not.
  func existingId(_ end: Destination) throws -> Int64? {
    if case .node(let node) = end, let table = try table(of: node.collection) {
      return try find(node, in: table)
    }
    return try existingId(identity(of: end))
  }

  private func identity(of destination: Destination) throws -> IdentityCaches.Identity {
    switch destination {
    case .node(let node): return try identity(of: node)
    case .file(let root, let path):
      guard model.files[root] != nil else { throw unknownRoot(root) }
      let collection = try collectionId(Destination.fileCollection + root)
      return IdentityCaches.Identity(collection: collection, key: path)
    }
  }

  private func unknownRoot(_ root: String) -> Rejection {
    let hint = nearest(root, in: model.files.keys.sorted()).map { ", did you mean \"\($0)\"?" }
    return Rejection(.invalid, "the model has no file root \"\(root)\"\(hint ?? "")")
  }

  private func insertIdentity(_ identity: IdentityCaches.Identity) throws -> Int64 {
    let id = newId()
    try db.run(
      "INSERT INTO cascade_node(id, collection, key) VALUES(?, ?, ?)", .integer(id),
      .integer(identity.collection), .text(identity.key))
    identities.caches.nodes[identity] = id
    if facts.hasTables { try renumber(.text(identity.key), in: identity.collection, as: id) }
    return id
  }
}
