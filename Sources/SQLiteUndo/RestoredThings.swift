package import CascadeModel
internal import CascadeSQLite
package import CascadeStore
internal import CascadeEngine
internal import CascadeSystem
internal import SQLiteBinding
package import SQLiteTables
internal import SQLiteJournal
internal import SQLiteEdges
internal import SQLiteDeletion

/// The lines of an archive (`ArchivedTrash.swift`). A transaction of a change file puts them into the trash of
/// its batch; what is there then comes back as by an undo. So it comes back in the same way, and goes on after a
/// crash.
extension Writer {
  package func load(_ thing: RestoredThing) throws {
    try Rejection.refuseRestoring(by: model)
    current.isRestoring = true
    switch thing.subject {
    case .node(let node): try load(node, thing)
    case .other(let what): try load(what, thing)
    }
  }

  private func load(_ node: Node, _ thing: RestoredThing) throws {
    if let kept = thing.kept, kept["had"] != nil { return try loadLoss(ofObject: node, kept) }
    if let table = try table(of: node.collection) {
      return try loadRow(node, table, thing.value?.members() ?? [])
    }
    try loadObject(node, thing)
  }

  private func load(_ what: JSON, _ thing: RestoredThing) throws {
    if let name = what["table"]?.string {
      if let kept = thing.kept {
        return try loadLoss(of: what["collection"]?.string, table: name, kept)
      }
      return try loadSideRow(of: name, thing.value?.members() ?? [])
    }
    if let name = what["edge"]?.string, let kept = thing.kept {
      return try loadEdge(name, what, kept)
    }
    if let path = what["file"]?.string, let root = what["root"]?.string {
      return try loadFile(path, root, thing.kept?["batch"]?.integer ?? 0)
    }
    throw Rejection.unknownRestored
  }

  // MARK: - Rows and objects

  private func loadRow(_ node: Node, _ table: NodeTable, _ members: [Member]) throws {
    guard case .mapped(let its, let key, _) = table.kind else { return }
    let names = Set(key.map(\.name.folded))
    let ordered =
      members.filter { names.contains($0.name.folded) }
      + members.filter { !names.contains($0.name.folded) }
    if ordered.prefix(key.count).filter({ names.contains($0.name.folded) }).count < key.count {
      throw Rejection(.invalid, "\(node): its row has no key", node: node)
    }
    let layout = layout(.row, its, ordered, collection: table.id, keys: key.count)
    try writeToTrash(
      layout, id: "\(bind: newId(for: node))", values: values(ordered), from: Writer.one)
  }

  private static let one: Query = "(SELECT 1)"

  private func newId(for node: Node) -> Int64 {
    let id = current.restoredIds[node] ?? newId()
    current.restoredIds[node] = id
    return id
  }

  /// A rowid that is no column has no name.
  private func layout(
    _ kind: TrashLayout.Kind, _ table: Table, _ members: [Member], collection: Int64? = nil,
    keys: Int = 0
  ) -> TrashLayout {
    let columns = members.map { $0.name.isEmpty ? nil : $0.name }
    return TrashLayout(
      kind: kind, collection: collection, subject: table.name, columns: columns,
      types: table.types(of: columns), keys: keys)
  }

  private func values(_ members: [Member]) throws -> [Query] {
    try members.map { try value($0.value) }
  }

  private func value(_ text: JSONText) throws -> Query {
    let given: GivenValue
    do throws(GivenValue.Malformed) {
      given = try GivenValue(text)
    } catch {
      throw Rejection(.invalid, "\(error)")
    }
    switch given {
    case .blob(let bytes): return "\(bind: .blob(bytes))"
    case .text(let bytes): return "CAST(\(bind: .blob(bytes)) AS TEXT)"
    case .real(let number): return "\(bind: .real(number))"
    case .json(.null): return "NULL"
    case .json(.integer(let number)): return "\(bind: .integer(number))"
    case .json(.number(let number)): return "\(bind: .real(number))"
    case .json(.string(let text)): return "\(bind: .text(text))"
    case .json: return "\(bind: .text(text.text))"
    }
  }

  private func loadObject(_ node: Node, _ thing: RestoredThing) throws {
    let identity = try identity(of: node)
    let layout = TrashLayout(
      kind: .object, collection: identity.collection, columns: ["key", "type", "value"])
    let text = thing.value?.text ?? thing.kept?["value"]?.string
    try writeToTrash(
      layout, id: "\(bind: newId(for: node))",
      values: [
        "\(bind: .text(identity.key))", "\(bind: .text(thing.type))", "\(bind: .text(text))",
      ],
      from: Writer.one)
  }

  private func loadSideRow(of name: String, _ members: [Member]) throws {
    guard case .success(let table) = try Catalog(db).table(name, in: db) else {
      throw Rejection(.invalid, "there is no table \"\(name)\"")
    }
    try writeToTrash(
      layout(.side, table, members), id: nextSideId, values: values(members), from: Writer.one)
  }

  private var nextSideId: Query {
    get throws { "\(bind: try db.lastSideId(of: current.batch) - 1)" }
  }

  // MARK: - What others lost

  /// References of a row that was not deleted.
  private func loadLoss(of collection: String?, table name: String, _ kept: JSON) throws {
    let nodes = try collection.flatMap { try table(of: $0) }
    guard case .success(let table) = try Catalog(db).table(nodes?.table?.name ?? name, in: db)
    else { throw Rejection(.invalid, "there is no table \"\(name)\"") }
    let (keys, had, has) = (kept.members("keys"), kept.members("had"), kept.members("has"))
    let layout = layout(.change, table, keys + had, collection: nodes?.id, keys: keys.count)
    try writeToTrash(
      layout, id: nextSideId, values: values(keys + had + has), from: Writer.one)
  }

  private func loadLoss(ofObject node: Node, _ kept: JSON) throws {
    guard let id = try current.restoredIds[node] ?? existingId(.node(node)) else {
      return current.counts.passedOver += 1
    }
    try writeToTrash(
      TrashLayout(kind: .value, columns: ["id", "value", "value"]), id: nextSideId,
      values: [
        "\(bind: id)", "\(bind: .text(kept["had"]?.string))", "\(bind: .text(kept["has"]?.string))",
      ], from: Writer.one)
  }

  // MARK: - Edges and files

  private func loadEdge(_ name: String, _ edge: JSON, _ kept: JSON) throws {
    guard let from = edge["from"].flatMap(Destination.init(restored:)),
      let to = edge["to"].flatMap(Destination.init(restored:)),
      let origin = kept["origin"]?.integer, let rules = kept["rules"]?.integer
    else { throw Rejection.unknownRestored }
    try db.run(
      "INSERT OR IGNORE INTO cascade_trash_edge VALUES(?, ?, ?, ?, ?, ?, ?)",
      .integer(current.batch), .integer(idInTrash(of: from)), .integer(nameId(name)),
      .integer(idInTrash(of: to)), .integer(origin), .integer(rules),
      .integer(identities.counters.serial))
    try countTrashedEntries(TrashLayout(kind: .edges), count: db.changes)
    identities.counters.rulesSeen.formUnion(Rules(rawValue: rules))
  }

  /// The trash knows the ends that are no objects of its own by their names.
  private func idInTrash(of end: Destination) throws -> Int64 {
    let isObject = try end.node.map { try table(of: $0.collection) == nil } ?? false
    if isObject, let id = end.node.flatMap({ current.restoredIds[$0] }) { return id }
    if let id = try existingId(end) { return id }
    let id = end.node.map { newId(for: $0) } ?? newId()
    let (collection, key) = try identityInTrash(of: end)
    try db.run(
      "INSERT OR IGNORE INTO cascade_trash_node VALUES(?, ?, ?, ?)", .integer(current.batch),
      .integer(id), .integer(collection), key)
    return id
  }

  private func identityInTrash(of end: Destination) throws -> (Int64, Value) {
    switch end {
    case .file(let root, let path):
      return (try collectionId(Destination.fileCollection + root), .text(path))
    case .node(let node):
      if let table = try table(of: node.collection), let key = table.stored(node.key) {
        return (table.id, key)
      }
      let identity = try identity(of: node)
      return (identity.collection, .text(identity.key))
    }
  }

  private func loadFile(_ path: String, _ root: String, _ batch: Int64) throws {
    let roots = FileRoots(model, StorePaths(store: self.path, spool: self.path))
    guard let place = roots[root], let archive = try archive(),
      try archive.bring(path, of: place, archivedIn: batch, as: current.batch)
    else { return current.counts.passedOver += 1 }
    try db.run(
      "INSERT OR IGNORE INTO cascade_trash_file(batch, collection, path) VALUES(?, ?, ?)",
      .integer(current.batch), .integer(collectionId(Destination.fileCollection + root)),
      .text(path))
  }

  // MARK: - Bringing it back

  /// Called in the transaction that has filled the trash.
  package func beginRestoring() throws {
    if let other = try db.meta(.undoBatch), other != current.batch {
      throw StoreError("the undo of batch \(other) has not finished yet")
    }
    try db.setMeta(.undoBatch, current.batch)
    try db.run(
      "UPDATE cascade_ledger SET undone_by = author WHERE seq = ?", .integer(current.batch))
  }

  /// What came back whole needs no batch any more.
  package func finishRestoring(at now: Int64) throws -> UndoResult? {
    guard let batch = try db.meta(.undoBatch),
      let result = try resumeUndo(at: now, manners: .none)
    else { return nil }
    if result.leftCount > 0 { return result }
    try group {
      try db.run("DELETE FROM cascade_trash_layout WHERE batch = ?", .integer(batch))
      try db.run(
        "UPDATE cascade_ledger SET undone_at = NULL, undone_by = NULL WHERE seq = ?",
        .integer(batch))
    }
    return result
  }
}

extension JSON {
  /// Of an object among its members, in their order.
  fileprivate func members(_ name: String) -> [Member] {
    (self[name]?.object ?? []).map { Member(name: $0.name, value: JSONText($0.value)) }
  }
}

extension Destination {
  /// As an archive names an end.
  fileprivate init?(restored json: JSON) {
    if let path = json["file"]?.string, let root = json["root"]?.string {
      self = .file(root: root, path: path)
    } else if let node = Node(json: json) {
      self = .node(node)
    } else {
      return nil
    }
  }
}
