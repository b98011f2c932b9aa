package import CascadeModel
internal import CascadeEngine
internal import CascadePostgres
package import CascadeStore
internal import PostgresBinding
internal import PostgresSweeps
package import PostgresTables

/// A change file while it is applied. Its changes are made as they come, and what follows from them
/// at the end.
package struct ChangeFile {
  let store: StoreConnection
  package let batch: Int64
  private let at: Int64
  private let isApproved: (HeldPlan) throws -> Bool
  private let id: String
  package var skipped = 0
  private var edgesAdded = 0
  var edgesRemoved = 0
  private var notices = 0
  private var number = 0
  /// The last row of `cascade.deleted` at the last flush.
  var lastDeleted: Int64 = 0
  private var isFlushed = false
  /// Whether nodes may go because an edge that the file itself added leads nowhere, and the nodes
  /// that a change since the last flush excepts.
  private let ownDeletionsAreAllowed: Bool
  private var exceptions: Set<Node> = []
  private var deletedOwn: [Node] = []
  /// Nodes that were not there at the last flush.
  var made: Set<Node> = []
  var written: WrittenRows
  /// The keys of all rows that it has written, by the number of their table.
  private var writtenKeys: [Int64: Set<String>] = [:]
  var edges: StoredEdges
  var files: StoredFiles
  var joins: JoinRows
  var hasNewTable = false
  /// Whether it has made a table of Cascade's own.
  package var madeTable: Bool { hasNewTable || edges.hasNewTable || files.hasNewTable }
  /// Whether something was held back by earlier batches.
  let hasWaiting: Bool
  /// What held plans own, and what was given up.
  let spared: SparedCauses
  /// The columns of tables whose rows it writes, by the number of the table.
  var columns: [Int64: [RowValues.Column]] = [:]

  package init(
    _ store: StoreConnection, batch: Int64, _ submission: Submission,
    hasWaiting: Bool, _ spared: SparedCauses, isApproved: @escaping (HeldPlan) throws -> Bool
  ) throws {
    (self.store, self.batch) = (store, batch)
    (id, at, self.isApproved) = (submission.id, submission.at, isApproved)
    ownDeletionsAreAllowed = submission.mayDeleteItself
    (self.hasWaiting, self.spared) = (hasWaiting, spared)
    written = WrittenRows(store, batch: batch, hasWaiting: hasWaiting, spared)
    edges = StoredEdges(store, batch: batch)
    files = StoredFiles(store, batch: batch)
    joins = JoinRows(store, batch: batch)
    if hasWaiting { try HeldEdges(store).dropReturned() }
  }

  var db: Session { _read { yield store.db } }

  package mutating func apply(_ change: Change) throws {
    defer { number += 1 }
    do {
      try make(change)
    } catch let rejection as Rejection {
      throw rejection.placed("changes[\(number)]")
    } catch let error as PostgresError where error.isAboutTheValue {
      throw Rejection([Reason(refusal: error)]).placed("changes[\(number)]")
    }
  }

  private mutating func make(_ change: Change) throws {
    switch change {
    case .put(let node, let type, let value, let edges, let merge, let mayDeleteItself):
      try put(node, type, value, merge: merge)
      if let edges { try declare(edges, of: node) }
      try note(node, mayDeleteItself: mayDeleteItself)
    case .patch(let node, let set, let unset, let expected, let mayDeleteItself):
      try requireUnchanged(node, expected)
      try patch(node, set: set, unset: unset)
      try note(node, mayDeleteItself: mayDeleteItself)
    case .delete(let node, let expected):
      try requireUnchanged(node, expected)
      try delete(node)
    case .deleteAll(let collection): try deleteAll(collection)
    case .link(let name, let from, let to, let rules, let mayDeleteItself):
      try link(name, from: from, to: to, rules: rules)
      try note(from, mayDeleteItself: mayDeleteItself)
    case .unlink(let name, let from, let to, let removal):
      if try !unlink(name, from: from, to: to, as: removal) { skipped += 1 }
    case .relink(let name, let from, let to, let rules, let mayDeleteItself):
      try relink(name, from: from, to: to, rules: rules)
      try note(from, mayDeleteItself: mayDeleteItself)
    case .flush:
      try flush()
      try begin()
    // `RestoredThings` takes these.
    case .restore: break
    }
  }

  // MARK: - The end

  /// A new edge to what is not there has lost that end. Others that lead there were told before.
  private func journalMissingEnds() throws {
    if edges.added == 0 { return }
    for relation in store.binding.relations where relation.isStored {
      for end in EdgeEnd.allCases {
        let dangling = relation.dangling(at: end)
        try store.journalMissing(
          dangling, of: relation, at: end, batch,
          where: "e.added = \(batch) AND NOT \(spared.spare(dangling, of: relation, at: end))")
      }
    }
  }

  /// Judges what was done since the last flush, and carries out what follows.
  private mutating func flush() throws {
    try journalMissingEnds()
    try files.journalMissingSources(but: spared)
    try joins.journalMissingEnds(but: spared)
    let changed = try written.finish()
    writtenKeys.merge(written.keys) { $0.union($1) }
    try judge()
    var waves = try Waves(store, batch: batch, isSweep: false, after: lastDeleted)
    waves.leavesWaiting = hasWaiting
    while try waves.next(.max) != nil {}
    try touch()
    notices += try waves.finish(at: at).notices
    try waves.endTransaction()
    edgesAdded += edges.added + files.added + joins.added + changed.added
    edgesRemoved +=
      edges.removed + files.removed + joins.removed + changed.removed + waves.count.edges
  }

  private mutating func touch() throws {
    if store.binding.judgements.isEmpty { return }
    let validation = Validation(store: store)
    if !isFlushed { try validation.begin() }
    isFlushed = true
    let touched = [edges.touched, joins.touched, written.keys]
    try validation.touch(
      batch, touched.reduce([:]) { all, more in all.merging(more) { $0.union($1) } })
  }

  /// What was before a flush is as if it had always been.
  private mutating func begin() throws {
    try edges.begin()
    try files.begin()
    joins.begin()
    written = WrittenRows(store, batch: batch, hasWaiting: hasWaiting, spared)
    (made, exceptions) = ([], [])
    lastDeleted =
      try db.run("SELECT max(id) FROM cascade.deleted WHERE batch = \(batch)").integer ?? 0
  }

  package mutating func finish(_ submission: Submission) throws -> Receipt {
    try flush()
    try ProtectionRows(store).reject(deletedIn: batch)
    try HeldEdges(store).dropLosses(ofDeletedIn: batch)
    if !store.binding.judgements.isEmpty {
      let violations = try Validation(store: store).violations(.touched, limit: .max).list
      if !violations.isEmpty { throw Rejection(violations) }
    }
    try DeferredConstraints(store).check(
      of: writtenKeys.compactMap { number, keys in
        store.binding.table(number).map { ($0, keys) }
      })
    return try receipt(submission)
  }

  private mutating func judge() throws {
    var closure = try Closure(store, journal: .ofFile(store, batch))
    closure.lastDeleted = lastDeleted
    closure.leavesWaiting = hasWaiting
    closure.writtenBefore = written.before
    try closure.complete()
    let denials = try closure.denials()
    if !denials.isEmpty { throw Rejection(denials) }
    try judgeOwnDeletions(closure)
    if let held = try closure.judge(id: id, includingFirst: true)?.plan, try !isApproved(held) {
      throw held
    }
  }

  // MARK: - Own deletions

  private mutating func note(_ node: Node, mayDeleteItself: Bool?) throws {
    guard let allowed = mayDeleteItself else { return }
    let table = try table(node.collection)
    let node = table.node(try key(of: node, in: table))
    if allowed == ownDeletionsAreAllowed {
      exceptions.remove(node)
    } else {
      exceptions.insert(node)
    }
  }

  private mutating func judgeOwnDeletions(_ closure: Closure) throws {
    let found = try closure.ownDeletions(written: written.keys, joined: joins.ends, in: batch)
      .map { deletion in
        let node = deletion.table.node(deletion.key)
        return OwnDeletion(
          node, by: deletion.edge,
          isAllowed: ownDeletionsAreAllowed != exceptions.contains(node))
      }
    try OwnDeletion.judge(found)
    deletedOwn += found.prefix(max(0, Receipt.mostListed - deletedOwn.count)).map(\.node)
  }

  private func receipt(
    _ submission: Submission
  ) throws -> Receipt {
    let summary = try BatchSummary(store, batch)
    let files = try FileRows(store: store).take(into: batch, of: .thisTransaction)
    try Ledger(store).add(
      submission, batch: batch, deleted: summary.deletedCount, edges: edgesRemoved,
      notices: notices,
      skipped: skipped)
    if summary.deletedCount > 0 {
      let taking = DeletedNumbers.taking(batch)
      try db.run(taking.sql, taking.values)
    }
    var receipt = Receipt(id: submission.id, outcome: .applied)
    receipt.author = submission.author
    receipt.batch = batch
    receipt.deleted = summary.deleted
    receipt.deletedCount = summary.deletedCount
    receipt.deletedOwn = deletedOwn
    receipt.byRule = summary.byRule
    receipt.edgesAdded = edgesAdded
    receipt.edgesRemoved = edgesRemoved
    receipt.notices = notices
    receipt.files = files
    receipt.skippedChanges = skipped
    return receipt
  }
}
