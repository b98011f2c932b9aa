internal import CascadeModel
internal import CascadeSystem
internal import CascadeVarlink
internal import CascadeStore
internal import VarlinkServer

/// Commands about batches: what was deleted, and undo.
extension Control {
  private nonisolated static let page = 1_000

  func batches(_ call: Call) async throws -> JSON {
    let reader = try await service(call).reader
    var rest = call.parameters["limit"]?.integer.map { Int(clamping: $0) } ?? .max
    if rest < 0 { throw VarlinkError.unusable("limit", "a limit must not be negative") }
    if call.parameters["newest"]?.bool == true {
      return try await newestBatches(call, reader, limit: min(rest, Control.page))
    }
    var last = call.parameters["after"]?.integer ?? 0
    while true {
      let (after, limit) = (last, min(rest, Control.page))
      let page = try await reader.read { try $0.batches(after: after, limit: limit) }
      let reply: JSON = ["batches": .array(page.map(\.json))]
      last = page.last?.batch ?? last
      rest -= page.count
      if page.count < Control.page || rest == 0 || !call.more { return reply }
      try await call.reply(continues: reply)
    }
  }

  private func newestBatches(
    _ call: Call, _ reader: StoreReader, limit: Int
  ) async throws -> JSON {
    if call.parameters["after"]?.integer != nil {
      throw VarlinkError.unusable("newest", "not together with `after`")
    }
    let page = try await reader.read { try $0.newestBatches(limit: limit) }
    return ["batches": .array(page.map(\.json))]
  }

  func undo(_ call: Call) async throws -> JSON {
    let service = try await awaitedService(call)
    try service.mayWork()
    return try await call.tellingProgress(of: service) {
      try await service.inTurn { try await self.undo(call, service) }
    }
  }

  private func undo(_ call: Call, _ service: StoreService) async throws -> JSON {
    let user = call.peer.uid
    let subject = try await undoSubject(call, service)
    do {
      var result = try await service.onStore {
        switch subject {
        case .batch(let batch): try await service.writer.undo(batch, by: userName(user))
        case .node(let node): try await service.writer.undo(node, by: userName(user))
        }
      }
      let batch = result.batch
      // The undo may have restored references to files that wait to be moved.
      service.retriesFiles = true
      for file in try await service.moveUnreferencedFiles().left where file.batch == batch {
        result.leave(file.file, because: file.reason)
      }
      for file in try await service.writer.filesStillWanted(of: batch) {
        result.leave(file, because: "it cannot be moved now; it will be retried")
      }
      service.reportUndone(result, by: user)
      return ["undone": result.json]
    } catch let refusal as UndoUnavailable {
      throw VarlinkError.noSuchThing("\(subject)\(refusal.reason)")
    }
  }

  private func undoSubject(_ call: Call, _ service: StoreService) async throws -> UndoSubject {
    guard let name = call.text("node") else {
      guard let batch = call.parameters["batch"]?.integer else {
        throw VarlinkError.unusable("batch", "name a batch, or a node")
      }
      return .batch(batch)
    }
    if call.parameters["batch"]?.integer != nil {
      throw VarlinkError.unusable("node", "not together with `batch`")
    }
    let node = try Call.node(name, "node", of: service.configuration.model)
    return .node(try await service.reader.read { try $0.withStoredKey(node) })
  }
}

private enum UndoSubject: CustomStringConvertible {
  case batch(Int64)
  case node(Node)

  var description: String {
    switch self {
    case .batch(let batch): "batch \(batch)"
    case .node(let node): "node \(node)"
    }
  }
}

extension UndoUnavailable {
  fileprivate var reason: String {
    switch self {
    case .unknown: ""
    case .undone(let at, let by): " to undo: it was undone at \(SystemClock.text(at)) by \(by)"
    case .notInTrash: " to undo: its trash was deleted"
    case .nodeNotInTrash: " to undo: nothing of it is in the trash"
    }
  }
}

extension Batch {
  fileprivate var json: JSON {
    let undone: JSON? = undone.map {
      ["at": .integer($0.at), "by": .string($0.by), "partly": .bool($0.isPartly)]
    }
    return [
      "batch": .integer(batch), "at": .integer(at), "author": author.map(JSON.string) ?? .null,
      "id": .string(id), "cause": .string(kind.rawValue),
      "deletedCount": .integer(Int64(deletedCount)), "byCollection": counts(byCollection),
      "undone": undone ?? .null, "undoUntil": undoUntil.map(JSON.integer) ?? .null,
    ]
  }
}

extension UndoResult {
  fileprivate var json: JSON {
    [
      "batch": .integer(batch), "restored": .integer(Int64(restored)),
      "byCollection": counts(byCollection), "edges": .integer(Int64(edges)),
      "references": .integer(Int64(references)), "rows": .integer(Int64(rows)),
      "files": .integer(Int64(files)), "left": .array(left.map(\.json)),
      "leftCount": .integer(Int64(leftCount)), "dangling": .array(dangling.map(\.listed)),
      "danglingCount": .integer(Int64(danglingCount)),
      "remarks": .array(remarks.map(JSON.string)),
    ]
  }
}
