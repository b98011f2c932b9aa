internal import CascadeModel
internal import CascadeStore
internal import CascadeSystem
internal import CascadeVarlink
internal import Spool
internal import VarlinkServer

/// What a plan that waits for approval would delete.
extension Control {
  func heldPlan(_ call: Call) async throws -> JSON {
    let service = try await service(call)
    let number = call.parameters["plan"]!.integer!
    if let sweep = service.condition.heldSweeps.first(where: { $0.plan == number }) {
      let kinds = sweep.heldKinds
      let plan = try await service.reader.read { reader in
        try sweep.heldValue.map { try reader.plan(ofHeld: $0) }
          ?? reader.plan(ofHeld: number, kinds: kinds)
      }
      let head: JSON = [
        "plan": .integer(number), "kinds": .array(kinds.map { .string($0.rawValue) }),
        "file": .null, "value": sweep.heldValue?.json ?? .null,
      ]
      return reply(plan.json(of: []), head)
    }
    if let job = service.openJobs.first(where: { $0.plan == number }) {
      let plan = try await service.reader.read { try $0.plan(of: job.request.subject) }
      let head: JSON = [
        "plan": .integer(number), "kinds": job.kindsOfPlan, "file": .null, "value": .null,
        "job": .integer(job.number),
      ]
      return reply(plan.json(of: []), head)
    }
    let files = try await service.reader.read { try $0.plansOfFiles() }
    guard let file = files.first(where: { $0.value.plan == number })?.key else {
      throw VarlinkError.noSuchThing("plan \(number) that waits for approval")
    }
    let plan = try await plan(ofHeld: FileName(file), service)
    let head: JSON = [
      "plan": .integer(number), "kinds": .null, "file": .string(file), "value": .null,
    ]
    return reply(plan, head)
  }

  private func plan(ofHeld file: FileName, _ service: StoreService) async throws -> JSON {
    let limit = Receipt.mostListed
    var (nodes, collections) = try service.spool.deletions(inHeld: file, limit: limit)
    for collection in collections where nodes.count < limit {
      let room = limit - nodes.count
      nodes += try await service.reader.read {
        try $0.nodes(in: collection, after: nil, limit: room).map(\.node)
      }
    }
    return try await service.reader.read { [nodes] in
      try $0.plan(deleting: nodes).json(of: nodes.map($0.withStoredKey))
    }
  }

  private func reply(_ plan: JSON, _ head: JSON) -> JSON {
    ["plan": .object((head.object ?? []) + (plan.object ?? []))]
  }
}
