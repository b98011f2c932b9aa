internal import CascadeEngine
package import CascadeSQLite
package import CascadeStore
internal import SQLiteBinding
package import SQLiteTables

/// Nodes that the application's own rules keep: a trigger, a foreign key, a CHECK or a NOT NULL
/// constraint. A statement that cannot be run here counts as well: because of a function that only
/// the application has, for example.
///
/// A transaction is refused as a whole. A sweep leaves the node where it is, with what would follow
/// from it, and goes on. It also goes on where the node is already gone: then what refers
/// to it stays.
package struct ApplicationRefusal: Error, CustomStringConvertible {
  package var nodes: [Int64] = []
  package var reasons: [Reason] = []

  package var description: String { reasons.text }

  mutating func add(_ found: GoneNode, _ code: Reason.Code = .denied, because why: String) {
    if found.isThere {
      nodes.append(found.id)
      return reasons.append(.mustStay(found.node, because: why, code))
    }
    reasons.append(Reason(code, "\(found.node) no longer exists, but \(why)", node: found.node))
  }
}

/// A trigger let a statement succeed, but kept the rows that it was about.
struct IgnoredByTrigger: Error, CustomStringConvertible {
  let table: String

  var description: String { "a trigger of \"\(table)\" prevents this" }
}

extension Error {
  /// Why the application's own rules refuse a statement; nil for any other error.
  fileprivate var refusalReason: String? {
    if let ignored = self as? IgnoredByTrigger { return ignored.description }
    guard let error = self as? SQLiteError else { return nil }
    if error.isAboutTheValue { return error.message }
    return error.isAboutTheStatement ? "SQLite cannot execute it: \(error.message)" : nil
  }
}

extension Writer {
  /// Runs `attempt` on a slice. If it is refused, runs it again node by node, to find the nodes
  /// that are refused. The caller that catches the error rolls back what was done.
  ///
  /// A statement that cannot be run here would fail for any node. It concerns only the nodes to
  /// which some of `rows` belong.
  func attemptOrRefuse(
    _ slice: Slice, _ what: String, _ code: Reason.Code = .denied,
    rows: (Slice) -> [Query], _ attempt: (Slice) throws -> Void
  ) throws {
    guard let error = try refusal(of: slice, attempt) else { return }
    let cannotRun = (error as? SQLiteError)?.isAboutTheStatement ?? false
    var refused = ApplicationRefusal()
    for part in try singleNodeSlices(of: slice) where try !cannotRun || hasRows(rows(part)) {
      guard let why = try refusal(of: part, attempt)?.refusalReason else { continue }
      try add(part, "\(what) (\(why))", code, to: &refused)
    }
    if refused.reasons.isEmpty && (error is IgnoredByTrigger || cannotRun) { return }
    if refused.reasons.isEmpty { throw error }
    if !current.sweep.isSweep || !refused.nodes.isEmpty { try refuse(refused) }
    current.block(refused.reasons)
  }

  /// The error by which a slice is refused, if it is.
  private func refusal(of slice: Slice, _ attempt: (Slice) throws -> Void) throws -> (any Error)? {
    do {
      try attempt(slice)
      return nil
    } catch let error where error.refusalReason != nil {
      if let error = error as? SQLiteError { try requireTransaction(error) }
      return error
    }
  }

  private func singleNodeSlices(of slice: Slice) throws -> [Slice] {
    try db.all("SELECT seq FROM temp.gone WHERE \(slice.contains("seq")) ORDER BY seq") {
      Slice(low: $0.integer(0) - 1, high: $0.integer(0))
    }
  }

  private func hasRows(_ rows: [Query]) throws -> Bool {
    try rows.contains { try db.integer("SELECT 1 FROM (\($0)) LIMIT 1") != nil }
  }

  /// RAISE(ROLLBACK) in a trigger ends the transaction, and takes everything back.
  package func requireTransaction(_ error: SQLiteError) throws {
    if db.isInTransaction { return }
    let why = "the application's own rules roll back the transaction: \(error.message)"
    throw RejectionWithRollback(rejection: Rejection(.denied, why))
  }

  func add(
    _ part: Slice, _ why: String, _ code: Reason.Code, to refused: inout ApplicationRefusal
  ) throws {
    let destinations = binding.edgeRelations.map(\.destination).filter { $0.kind != .files }
    for table in Set(binding.collections.values).union(destinations) {
      for found in try db.goneNodes(of: table, part, model) {
        refused.add(found, code, because: why)
      }
    }
  }

  private func refuse(_ refused: ApplicationRefusal) throws {
    throw current.sweep.isSweep ? refused : Rejection(refused.reasons)
  }

  /// Fails if a trigger kept rows that refer to deleted nodes: none of these may be left.
  func refuseIfReferencesRemain(_ rows: Query, of table: Table) throws {
    if !binding.mayBeWrittenByTrigger(table) { return }
    if try hasRows([rows]) { throw IgnoredByTrigger(table: table.name) }
  }

  /// Refuses nodes whose row a trigger kept although it let the statement succeed.
  func refuseKeptRows(_ table: NodeTable, _ slice: Slice) throws {
    var refused = ApplicationRefusal()
    for left in try db.goneNodes(of: table, slice, model, where: "1") {
      refused.add(left, because: "a trigger of \"\(table.table!.name)\" prevents its deletion")
    }
    if !refused.nodes.isEmpty { try refuse(refused) }
  }
}

extension Error {
  /// Whether trying again is useless. A full disk or a lock of another connection passes; this does
  /// not.
  package var isPermanentFailure: Bool {
    guard let error = self as? SQLiteError else {
      return self is StoreError || self is UndoUnavailable || self is RejectionWithRollback
    }
    return error.isAboutTheStatement || error.isAboutTheValue
  }
}
