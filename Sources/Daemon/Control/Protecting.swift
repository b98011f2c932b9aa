internal import CascadeModel
internal import CascadeStore
internal import CascadeSystem
internal import CascadeVarlink
internal import VarlinkServer

/// Nodes that are kept from every deletion.
extension Control {
  func protect(_ call: Call) async throws -> JSON {
    let service = try await awaitedService(call)
    try service.mayWork()
    let named = try Call.node(call.text("node")!, "node", of: service.configuration.model)
    let node = try await service.reader.read { try $0.withStoredKey(named) }
    let reason = call.text("reason") ?? ""
    if reason.isEmpty { throw VarlinkError.unusable("reason", "say why, in words") }
    let request = Protection.Request(
      node, because: reason, by: userName(call.peer.uid), until: call.parameters["until"]?.integer)
    do {
      return ["protection": try await service.protect(request, by: call.peer.uid).json]
    } catch let missing as NoNodeToProtect {
      throw VarlinkError.noSuchThing("\(missing.node)")
    }
  }

  func unprotect(_ call: Call) async throws -> JSON {
    let service = try await awaitedService(call)
    try service.mayWork()
    let node = try Call.node(call.text("node")!, "node", of: service.configuration.model)
    guard let protection = try await service.unprotect(node, by: call.peer.uid) else {
      throw VarlinkError.noSuchThing("protection of \(node)")
    }
    return ["protection": protection.json]
  }

  func protections(_ call: Call) async throws -> JSON {
    let all = try await service(call).reader.read { try $0.protections() }
    return ["protections": .array(all.map(\.json))]
  }
}

extension Protection {
  fileprivate var json: JSON {
    [
      "node": node.json, "reason": .string(reason), "by": .string(author), "since": .integer(since),
      "until": until.map(JSON.integer) ?? .null,
    ]
  }
}
