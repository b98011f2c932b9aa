internal import CascadeModel
internal import CascadeStore
internal import CascadeSystem
internal import CascadeVarlink
internal import VarlinkServer

/// Deletions that begin here.
extension Control {
  private nonisolated static let page = 1_000

  func delete(_ call: Call) async throws -> JSON {
    let service = try await awaitedService(call)
    let named = try call.subject(of: service.configuration.model)
    let subject = try await service.reader.read { try $0.withStoredKeys(named) }
    if call.parameters["dryRun"]?.bool == true { return try await dryRun(of: subject, service) }
    try service.mayWork()
    let request = DeletionJob.Request(
      subject, by: userName(call.peer.uid),
      expecting: call.parameters["expect"]?.integer.map { Int(clamping: $0) },
      isPartial: call.parameters["partial"]?.bool ?? false)
    let waits = call.parameters["wait"]?.bool ?? true
    return try await usable {
      try await call.tellingProgress(of: service) {
        ["job": try await service.delete(request, waits: waits).json]
      }
    }
  }

  private func dryRun(
    of subject: DeletionJob.Subject, _ service: StoreService
  ) async throws -> JSON {
    let plan = try await usable { try await service.reader.read { try $0.plan(of: subject) } }
    let state: DeletionJob.State =
      !plan.denials.isEmpty ? .blocked : plan.isOverLimit ? .held : .done
    return [
      "job": [
        "job": .null, "state": .string(state.rawValue),
        "deletedCount": .integer(Int64(plan.deletedCount)),
        "of": .integer(Int64(plan.deletedCount)), "byCollection": counts(plan.byCollection),
        "batch": .null, "plan": .null, "blocked": .array(plan.denials.map(\.json)),
        "subject": subject.json, "author": .null, "at": .null,
      ]
    ]
  }

  private func usable<T>(_ body: () async throws -> T) async throws -> T {
    do {
      return try await body()
    } catch let illegal as IllegalCondition {
      throw VarlinkError.unusable("where", illegal.description)
    }
  }

  func jobs(_ call: Call) async throws -> JSON {
    let reader = try await service(call).reader
    var last = call.parameters["after"]?.integer ?? 0
    while true {
      let after = last
      let page = try await reader.read { try $0.jobs(after: after, limit: Control.page) }
      let reply: JSON = ["jobs": .array(page.map(\.json))]
      last = page.last?.number ?? last
      if page.count < Control.page || !call.more { return reply }
      try await call.reply(continues: reply)
    }
  }

  func cancel(_ call: Call) async throws -> JSON {
    let service = try await service(call)
    let number = call.parameters["job"]!.integer!
    guard let job = try await service.cancel(job: number) else {
      throw VarlinkError.noSuchThing("job \(number)")
    }
    return ["job": job.json]
  }
}

extension StoreReading {
  /// Nodes as the store has them, whatever the caller wrote.
  fileprivate func withStoredKeys(_ subject: DeletionJob.Subject) throws -> DeletionJob.Subject {
    guard case .nodes(let nodes) = subject else { return subject }
    return .nodes(try nodes.map(withStoredKey))
  }
}

extension Call {
  fileprivate func subject(of model: StoreModel) throws -> DeletionJob.Subject {
    let nodes = parameters["nodes"]?.array?.compactMap(\.string) ?? []
    guard let condition = text("where") else {
      if nodes.isEmpty { throw VarlinkError.unusable("nodes", "name nodes, or give a condition") }
      return .nodes(try nodes.map { try Call.node($0, "nodes", of: model) })
    }
    guard let collection = text("collection"), nodes.isEmpty else {
      throw VarlinkError.unusable("where", "a condition is for the rows of one collection")
    }
    return .rows(collection: collection, condition: condition)
  }
}

extension DeletionJob.Subject {
  fileprivate var told: JSON {
    if case .marks = self { return ["softDelete": true] }
    guard case .overdue(let overdue) = self else { return json }
    return ["collection": .string(overdue.collection), "expires": true]
  }
}

extension DeletionJob {
  var json: JSON {
    [
      "job": .integer(number), "state": .string(state.rawValue),
      "deletedCount": .integer(Int64(deletedCount)),
      "of": total.map { .integer(Int64($0)) } ?? .null, "byCollection": counts(byCollection),
      "batch": batch.map(JSON.integer) ?? .null, "plan": plan.map(JSON.integer) ?? .null,
      "blocked": .array(blocked), "subject": request.subject.told,
      "author": .string(request.author), "at": .integer(at),
    ]
  }

  /// As a plan that waits for approval, in the list of those.
  var heldPlan: JSON? {
    if state != .held { return nil }
    return [
      "plan": plan.map(JSON.integer) ?? .null, "kinds": kindsOfPlan, "job": .integer(number),
      "deletedCount": .integer(Int64((total ?? 0) - deletedCount)), "edges": 0,
      "byCollection": counts(byCollection), "value": .null,
    ]
  }

  /// A pass is a sweep to the outside.
  var kindsOfPlan: JSON { overdue == nil ? [] : [.string(SweepKind.expired.rawValue)] }

  var heldText: String {
    "job \(number) waits for approval: it would \(lastMark == nil ? "delete" : "mark") "
      + "\(((total ?? 0) - deletedCount).counted("node", "nodes")); `cascadectl approve \(plan ?? 0)` allows it"
  }

  /// In the form of a change file's receipt.
  var receipt: Receipt {
    let outcomes: [State: Receipt.Outcome] = [
      .held: .held, .blocked: .rejected, .cancelled: .rejected,
    ]
    var receipt = Receipt(id: "job-\(number)", outcome: outcomes[state] ?? .applied)
    (receipt.author, receipt.batch) = (request.author, batch)
    receipt.deletedCount = deletedCount
    receipt.plan = state == .held ? plan : nil
    return receipt
  }
}
