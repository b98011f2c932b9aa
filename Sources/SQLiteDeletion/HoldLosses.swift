internal import CascadeModel
internal import CascadeSQLite
internal import CascadePlanning
internal import SQLiteBinding
package import SQLiteTables

/// References to nodes that no watch saw go: because a table was recreated and is still empty, for
/// example, or because the model names the wrong key. They are treated much like nodes: their
/// removal waits for approval.
extension Connection {
  /// Counts the references that would be removed because they lead to dead nodes in `temp.gone`,
  /// with the number of all references of their kind. Without `ofDeadOnly`, those that lead to any
  /// node in `temp.gone`.
  func losses(
    _ binding: Binding, _ numbers: NumberedTables, ofDeadOnly: Bool = true
  ) throws(SQLiteError) -> [CollectionCount] {
    let isDead = ofDeadOnly ? CollectionCount.isDead : "true"
    var losses: [CollectionCount] = []
    for relation in binding.edgeRelations {
      for (rows, all) in relation.losses(numbers) {
        losses.append(try count("\(rows) AND \(isDead)", all, relation.lossKey))
      }
    }
    for end in EdgeEnd.allCases {
      let edges = "FROM temp.gone AS g CROSS JOIN main.cascade_edge AS e ON e.\(end) = g.id"
      losses.append(try count("\(edges) WHERE \(isDead)", "main.cascade_edge", "\(end)"))
    }
    return losses
  }

  private func count(
    _ rows: String, _ all: String, _ name: String
  ) throws(SQLiteError) -> CollectionCount {
    let gone = try integer(generated: "SELECT count(*) \(rows)") ?? 0
    let all = gone == 0 ? 0 : try integer(generated: "SELECT count(*) FROM \(all)") ?? 0
    return CollectionCount(name: name, gone: Int(gone), all: Int(all))
  }
}

extension CollectionCount {
  fileprivate static let isDead = "g.rule = 0 AND NOT g.counts"
}

extension Writer {
  /// Whether a sweep that continues an approved plan may remove these references: the approval
  /// covers a number of each kind. Such a sweep also finds nodes dead that it deleted itself.
  /// Without an approval there is nothing to continue, even if a batch is open.
  func areWithinApproval(_ losses: [CollectionCount]) throws -> Bool {
    let approved = try db.integer(
      generated: "SELECT 1 FROM cascade_meta AS m WHERE \(MetaKey.isApprovedLosses) LIMIT 1")
    if approved == nil { return false }
    return try losses.byName.allSatisfy { try $1 <= db.meta(.approvedLosses($0)) ?? 0 }
  }

  /// Determines how many references of each kind the current plan removes.
  func computePlannedLosses() throws {
    current.hold.approvedLosses = try db.losses(binding, current.numbers, ofDeadOnly: false).byName
  }

  /// Stores how many references of each kind may be removed: the number that was approved, and less
  /// each time that the sweep continues.
  package func persistApprovedLosses(isApproved: Bool) throws {
    if isApproved { try deleteApprovedLosses() }
    for (name, count) in current.hold.approvedLosses {
      let key = MetaKey.approvedLosses(name)
      let most = isApproved ? count : try db.meta(key) ?? 0
      try db.setMeta(key, min(count, most))
    }
  }

  package func deleteApprovedLosses() throws {
    try db.run(
      generated: "DELETE FROM cascade_meta AS m WHERE \(MetaKey.isApprovedLosses)")
  }
}

extension [CollectionCount] {
  fileprivate var byName: [String: Int64] {
    Dictionary(map { ($0.name, Int64($0.gone)) }, uniquingKeysWith: +)
  }
}

extension EdgeRelation {
  /// Distinguishes its kind of edges: name, source and destination.
  fileprivate var lossKey: String { "\(nameId) \(source.id) \(destination.id)" }

  /// The references that are lost, and the table of all references.
  fileprivate func losses(_ numbers: NumberedTables) -> [(rows: String, all: String)] {
    let lost = numbers.forms(of: destination).map {
      "\(edgesToDestinations(in: .gone, $0, numbers).text) AND \(leadsNowhereElse(staying: numbers))"
    }
    if case .join(let table, _, _) = form {
      let joins = numbers.forms(of: source).map {
        edgesFromSources(in: .gone, $0, withDestinations: false).text
      }
      return (lost + joins).map { ($0, "main.\(quoted(table.name))") }
    }
    if !rules.contains(.nullifySourceIfDestinationDeleted) { return [] }
    return lost.map { ($0, source.rows) }
  }
}
