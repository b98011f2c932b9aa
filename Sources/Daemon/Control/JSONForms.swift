internal import CascadeModel
internal import CascadeStore
internal import CascadeEngine

/// What the socket replies, as JSON.
extension StoredNode {
  var json: JSON {
    [
      "node": node.json, "exists": .bool(exists), "type": type.map(JSON.string) ?? .null,
      "value": value.map(JSON.raw) ?? .null,
    ]
  }
}

extension Edge {
  /// The form that listings show.
  var listed: JSON {
    guard case .object(let fields) = json else { return json }
    return .object(fields + [JSON.Field("kind", .string(kind.rawValue))])
  }
}

extension Plan.Step {
  /// An edge is given by its name and its ends.
  var json: JSON {
    let edge: JSON? = edge.map { edge in
      [
        "name": .string(edge.name), "from": edge.source.json, "to": edge.destination.json,
      ]
    }
    return ["node": subject.json, "edge": edge ?? .null, "rule": rule.map(JSON.string) ?? .null]
  }
}

extension Plan {
  func json(of nodes: [Node]) -> JSON {
    [
      "nodes": .array(nodes.map(\.json)),
      "deleted": .array(steps.map(\.node.json)),
      "deletedCount": .integer(Int64(deletedCount)),
      "byCollection": counts(byCollection),
      "byRule": counts(byRule),
      "steps": .array(steps.map(\.json)),
      "denied": .array(denials.map(\.json)),
      "files": .integer(Int64(files)),
      "held": .bool(isOverLimit),
    ]
  }
}

func counts(_ counts: [String: Int]) -> JSON {
  .object(counts.sorted { $0.key < $1.key }.map { JSON.Field($0.key, .integer(Int64($0.value))) })
}

extension Why {
  func json(of node: Destination) -> JSON {
    switch self {
    case .alive(let holders, let total, let leases):
      [
        "node": node.json, "state": "alive",
        "holders": .array(leases.map { ["lease": $0.json] } + holders.map(\.listed)),
        "holderCount": .integer(Int64(total + leases.count)), "deleted": .null,
      ]
    case .deleted(let deletion):
      ["node": node.json, "state": "deleted", "holders": [], "deleted": deletion.json]
    case .unknown: ["node": node.json, "state": "unknown", "holders": [], "deleted": .null]
    }
  }
}

extension Why.Deletion {
  fileprivate var json: JSON {
    [
      "batch": .integer(batch), "at": .integer(at), "id": .string(id),
      "author": author.map(JSON.string) ?? .null, "cause": .string(cause.rawValue),
      "began": chainStart.map(\.json) ?? .null, "chain": .array(chain.map(\.json)),
    ]
  }
}

extension Why.LedgerCause {
  fileprivate var json: JSON {
    [
      "batch": .integer(batch), "at": .integer(at), "id": .string(id),
      "author": author.map(JSON.string) ?? .null,
    ]
  }
}

extension MarkReason {
  var json: JSON {
    [
      "because": via?.json ?? .null, "name": name.map(JSON.string) ?? .null,
      "rule": rule.map(JSON.string) ?? .null, "at": .integer(at),
      "batch": batch.map(JSON.integer) ?? .null,
    ]
  }
}

extension Notice {
  var json: JSON {
    [
      "notice": .integer(id), "node": node.json, "edge": edge.json, "reason": .string(reason),
      "receiverDeleted": .bool(receiverDeleted), "batch": .integer(batch),
    ]
  }
}

extension UnreferencedFiles {
  fileprivate var json: JSON {
    [
      "count": .integer(Int64(count)), "paths": .array(files.map(\.json)),
      "unreadable": .array(unreadable.map(JSON.string)),
    ]
  }
}

extension SweepResult {
  func json(number: Int64) -> JSON {
    var fields: [JSON.Field] = []
    if let unreferenced { fields = [JSON.Field("unreferenced", unreferenced.json)] }
    if marked > 0 { fields.append(JSON.Field("marked", .integer(Int64(marked)))) }
    if outcome == .held { fields.append(JSON.Field("held", .array(heldParts.map(\.heldPlan)))) }
    let sweep: JSON = [
      "sweep": .integer(number), "kinds": .array(kinds.map { .string($0.rawValue) }),
      "outcome": .string(outcome.rawValue), "deletedCount": .integer(Int64(deletedCount)),
      "edgesRemoved": .integer(Int64(edgesRemoved)), "byCollection": counts(byCollection),
      "byRule": counts(byRule), "blocked": .array(blocked.map(\.json)),
      "batch": batch.map(JSON.integer) ?? .null, "plan": plan.map(JSON.integer) ?? .null,
      "heldCount": .integer(Int64(heldCount)), "heldEdges": .integer(Int64(heldEdges)),
      "files": .integer(Int64(files)),
      "lockMs": LockHolds.summary(of: lockMilliseconds),
    ]
    guard case .object(let all) = sweep else { return sweep }
    return .object(all + fields)
  }

  /// A sweep that waits for approval, in the list of held plans.
  var heldPlan: JSON {
    [
      "plan": plan.map(JSON.integer) ?? .null,
      "kinds": .array(heldKinds.map { .string($0.rawValue) }),
      "deletedCount": .integer(Int64(heldCount)), "edges": .integer(Int64(heldEdges)),
      "byCollection": counts(heldValue?.byCollection ?? (batch == nil ? byCollection : [:])),
      "value": heldValue?.json ?? .null,
    ]
  }

  private var heldParts: [SweepResult] { plan == nil ? [] : otherHeldParts + [self] }
}

extension LockHolds {
  var json: JSON { LockHolds.summary(of: milliseconds) }

  fileprivate static func summary(of milliseconds: [Double]) -> JSON {
    let sorted = milliseconds.sorted()
    guard let longest = sorted.last else { return ["p50": 0, "p99": 0, "max": 0] }
    func rank(_ share: Double) -> JSON {
      .number(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))])
    }
    return ["p50": rank(0.5), "p99": rank(0.99), "max": .number(longest)]
  }
}

extension WorkProgress {
  /// As `status` shows it.
  var status: JSON {
    [
      "what": .string(subject ?? phase.rawValue), "done": .integer(Int64(done)),
      "of": .integer(Int64(total)),
    ]
  }

  var json: JSON {
    [
      "phase": .string(phase.rawValue), "done": .integer(Int64(done)),
      "total": .integer(Int64(total)),
    ]
  }
}

extension HeldValue {
  var json: JSON {
    [
      "relationship": .string(name), "from": .string(from), "value": missing.key.json,
      "count": .integer(Int64(count)), "message": .string(sentence),
    ]
  }
}
