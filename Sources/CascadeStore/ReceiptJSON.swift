package import CascadeModel

/// Receipts as the socket and the reason files show them.
extension Receipt {
  package var json: JSON {
    .object(
      [
        JSON.Field("id", .string(id)),
        JSON.Field("outcome", .string(outcome.rawValue)),
        JSON.Field("batch", batch.map(JSON.integer) ?? .null),
        JSON.Field("deleted", .array(deleted.map(\.json))),
        JSON.Field("deletedCount", .integer(Int64(deletedCount))),
        JSON.Field("deletedOwn", .array(deletedOwn.map(\.json))),
        JSON.Field("edgesAdded", .integer(Int64(edgesAdded))),
        JSON.Field("edgesRemoved", .integer(Int64(edgesRemoved))),
        JSON.Field("notices", .integer(Int64(notices))),
        JSON.Field("passedOver", .integer(Int64(skippedChanges))),
        JSON.Field("reasons", .array(reasons.map(\.json))),
      ] + (plan.map { [JSON.Field("plan", .integer($0))] } ?? []) + (restored?.ofReceipt ?? []))
  }
}

extension Reason {
  /// Has only the fields that are known: a reason without a position has no `line`.
  package var json: JSON {
    var fields = [
      JSON.Field("code", .string(code.rawValue)), JSON.Field("message", .string(message)),
    ]
    if let node { fields.append(JSON.Field("node", node.json)) }
    if let edge { fields.append(JSON.Field("edge", edge.json)) }
    if let path { fields.append(JSON.Field("path", .string(path))) }
    if let line { fields.append(JSON.Field("line", .integer(Int64(line)))) }
    if let column { fields.append(JSON.Field("column", .integer(Int64(column)))) }
    return .object(fields)
  }

  package init(_ error: ChangeError) {
    self.init(.malformed, error.message, path: error.path.isEmpty ? nil : error.path)
    line = error.line
    column = error.column
  }
}

extension UndoResult {
  /// What came back of an archive.
  fileprivate var ofReceipt: [JSON.Field] {
    [
      JSON.Field("restored", .integer(Int64(restored))),
      JSON.Field("left", .array(left.map(\.json))),
      JSON.Field("leftCount", .integer(Int64(leftCount))),
    ]
  }
}

extension UndoResult.Left {
  package var json: JSON {
    ["node": node?.json ?? .null, "what": .string(what), "reason": .string(reason)]
  }
}
