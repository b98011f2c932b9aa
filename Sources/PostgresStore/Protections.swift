package import CascadeModel
internal import CascadePostgres
package import CascadeStore
internal import PostgresBinding
internal import PostgresSweeps
internal import PostgresTables

/// Nodes that are kept from every deletion, with all that their deletion would take along.
///
/// 1. What that is, is written down (`cascade.protected`): triggers refuse what an application deletes of it,
///    and what the daemon deletes is held back as by a lease (`LiveLeases`).
/// 2. It is found again before anything is deleted, and each minute.
extension PostgresWriter {
  private var protections: ProtectionRows { ProtectionRows(store) }

  package func protect(_ request: Protection.Request, at now: Int64) throws -> Protection {
    let table = try store.table(request.node.collection)
    let number = try store.transaction {
      guard let key = try lockedKey(of: request.node, table) else {
        throw NoNodeToProtect(request.node)
      }
      let number = try protections.insert(request, table, key, at: now)
      try record(request.author, "protect", at: now)
      return number
    }
    let protection = try protections.all().first { $0.number == number }!
    try findProtected(by: protection)
    followedSchema = nil
    try followSchema()
    return protection
  }

  /// A deletion that goes on elsewhere ends first.
  private func lockedKey(of node: Node, _ table: MappedTable) throws -> String? {
    guard let key = table.key.text(node.key) else { return nil }
    return try db.run(
      """
      SELECT \(table.key.text("t")) FROM \(table.name) t WHERE \(table.key.equal("t", text: "$1"))
      FOR KEY SHARE
      """, [key]
    ).texts.first
  }

  package func unprotect(
    _ node: Node, by author: String, at now: Int64
  ) throws -> Protection? {
    let table = try store.table(node.collection)
    guard let key = table.key.text(node.key) else { return nil }
    let known = try protections.all().first {
      $0.node.collection == node.collection && table.key.text($0.node.key) == key
    }
    guard let known else { return nil }
    try store.transaction {
      try protections.delete(known.number)
      try record(author, "unprotect", at: now)
    }
    return known
  }

  package var hasProtections: Bool { get throws { try !isDetached && protections.isAny } }

  private func record(_ author: String, _ what: String, at now: Int64) throws {
    let batch = try nextBatch()
    try Ledger(store).add(
      Submission(.protection, id: "\(what)-\(batch)", by: author, at: now), batch: batch,
      deleted: 0, edges: 0, notices: 0, skipped: 0)
  }

  package func reviewProtections(at now: Int64) throws -> [Protection] {
    if isDetached { return [] }
    let ended = try protections.all().filter { $0.hasEnded(at: now) }
    if !ended.isEmpty {
      try store.transaction { for one in ended { try protections.delete(one.number) } }
    }
    try followProtected()
    return ended
  }

  package func followProtected() throws {
    if try isDetached || !protections.isAny { return }
    for protection in try protections.all() { try findProtected(by: protection) }
  }

  private func findProtected(by protection: Protection) throws {
    let nodes = try store.nodes(of: .nodes([protection.node]))
    try store.transaction(.repeatableRead) {
      var closure = try Closure(store, journal: nil)
      try closure.beginJob(with: nodes)
      try protections.set(protection.number, to: store.scratch[.gone])
    }
  }
}

extension PostgresReader {
  package func protections() throws -> [Protection] { try ask { try ProtectionRows($0).all() } }
}
