package import CascadeModel
internal import CascadePostgres
package import CascadeStore

/// Change files. Each is one transaction in the meaning of the rules: it is judged when its changes
/// are made, and takes effect as a whole.
extension PostgresWriter {
  package func group<T>(_ body: () throws -> T) throws -> T { try db.transaction { try body() } }

  /// A savepoint for each; PostgreSQL slows beyond 64 of them in a transaction.
  package var mostFilesPerGroup: Int { 60 }

  package func apply(
    _ submission: Submission, changes next: () throws -> Change?,
    completing complete: (inout Submission) -> Void
  ) throws -> Receipt {
    try db.savepoint {
      var file = ChangeFile(store, batch: try db.run("SELECT nextval('cascade.batch')").integer!)
      while let change = try next() { try file.apply(change) }
      var submission = submission
      complete(&submission)
      return try file.finish(submission) { try isApproved($0, ofFile: submission.id) }
    }
  }

  package func ledgerEntry(_ id: String) throws -> LedgerEntry? { try Ledger(store).entry(id) }

  package func reason(refusing error: any Error) -> Reason? {
    guard let error = error as? PostgresError, error.isAboutTheValue else { return nil }
    return Reason(.invalid, error.message)
  }
}

/// A change file while it is applied.
private struct ChangeFile {
  private let store: StoreConnection
  private let batch: Int64
  private var skipped = 0
  private var edges = 0
  private var number = 0

  init(_ store: StoreConnection, batch: Int64) { (self.store, self.batch) = (store, batch) }

  mutating func apply(_ change: Change) throws {
    defer { number += 1 }
    switch change {
    case .delete(let node): try delete(node)
    case .deleteAll(let collection):
      _ = try delete(from: table(collection), Removal.Selection(row: "t", condition: "true"))
    case .put: throw notYet("put")
    case .patch: throw notYet("patch")
    case .link: throw notYet("link")
    case .unlink: throw notYet("unlink")
    case .flush: throw notYet("flush")
    }
  }

  private func notYet(_ word: String) -> Rejection {
    Rejection(
      .invalid, "\"\(word)\" is not supported on PostgreSQL yet: use SQL, or \"delete\""
    )
    .placed("changes[\(number)]")
  }

  private func table(_ collection: String) throws -> MappedTable {
    guard let table = store.binding.tables[collection] else {
      throw Rejection(.invalid, "there is no collection \"\(collection)\"")
        .placed("changes[\(number)]")
    }
    return table
  }

  private mutating func delete(_ node: Node) throws {
    let table = try table(node.collection)
    guard let key = table.key.text(node.key) else {
      skipped += 1
      return
    }
    let went = try delete(
      from: table,
      Removal.Selection(row: "t", condition: table.key.equal("t", text: "$1"), values: [key]))
    if went == 0 { skipped += 1 }
  }

  private mutating func delete(
    from table: MappedTable, _ selection: Removal.Selection
  ) throws -> Int {
    let went = try Removal(store: store, batch: batch).delete(
      from: table, selection, because: nil, limit: .max)
    edges += went.edges
    return went.rows
  }

  /// Judges what was done, and carries out what follows.
  mutating func finish(
    _ submission: Submission, isApproved: (HeldPlan) throws -> Bool
  ) throws -> Receipt {
    try judge(submission, isApproved: isApproved)
    var waves = try Waves(store, batch: batch, isSweep: false)
    repeat {
      while try waves.step(.max) != nil {}
    } while try waves.deleteUncounted(.max) > 0
    let notices = try waves.finish(at: submission.at).notices
    return try receipt(submission, waves.count.edges + edges, notices)
  }

  private func judge(
    _ submission: Submission, isApproved: (HeldPlan) throws -> Bool
  ) throws {
    var closure = try Closure(store, journal: "j.batch = \(batch)")
    closure.ownBatch = batch
    try closure.complete()
    let denials = try closure.denials()
    if !denials.isEmpty { throw Rejection(denials) }
    if let held = try closure.heldPlan(id: submission.id, includingFirst: true),
      try !isApproved(held)
    {
      throw held
    }
  }

  private func receipt(
    _ submission: Submission, _ edges: Int, _ notices: Int
  ) throws -> Receipt {
    let summary = try BatchSummary(store, batch)
    try Ledger(store).add(
      submission, batch: batch, deleted: summary.deletedCount, edges: edges, notices: notices,
      skipped: skipped)
    var receipt = Receipt(id: submission.id, outcome: .applied)
    receipt.author = submission.author
    receipt.batch = batch
    receipt.deleted = summary.deleted
    receipt.deletedCount = summary.deletedCount
    receipt.byRule = summary.byRule
    receipt.edgesRemoved = edges
    receipt.notices = notices
    receipt.skippedChanges = skipped
    return receipt
  }
}
