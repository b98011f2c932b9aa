internal import CascadeModel
internal import CascadeSystem
internal import CascadeVarlink
internal import CascadeStore
internal import SystemdService
internal import VarlinkServer

/// Commands that make, remove or check what Cascade keeps in the store.
extension Control {
  func attach(_ call: Call) async throws -> JSON {
    let service = try await service(call)
    try service.mayWork()
    func wants(_ name: String) -> Bool { call.parameters[name]?.bool ?? false }
    let options = AttachOptions(
      createIndexes: wants("createIndexes"), createConstraints: wants("createConstraints"),
      createFunctions: wants("createFunctions"))
    let report = try await service.attach(options, by: call.peer.uid)
    return ["report": report.json(service)]
  }

  func estimateIndexes(_ call: Call) async throws -> JSON {
    let service = try await service(call)
    let estimates = try await service.reader.read { try $0.estimateIndexes() }
    return [
      "indexes": .array(
        estimates.map {
          [
            "table": .string($0.index.table), "column": .string($0.index.column),
            "seconds": .number($0.time / .seconds(1)),
          ]
        })
    ]
  }

  func beginMigration(_ call: Call) async throws -> JSON {
    let service = try await service(call)
    try await service.beginMigration(by: call.peer.uid)
    return [:]
  }

  func endMigration(_ call: Call) async throws -> JSON {
    let service = try await service(call)
    return ["report": try await service.endMigration(by: call.peer.uid).json(service)]
  }

  func detach(_ call: Call) async throws -> JSON {
    let service = try await service(call)
    let removed = try await service.detach(by: call.peer.uid)
    return [
      "report": [
        "store": .string(service.configuration.path), "triggers": names(removed.triggers),
        "tables": names(removed.tables), "indexes": names(removed.indexes),
        "files": .integer(removed.files),
      ]
    ]
  }

  func takeRoots(_ call: Call) async throws -> JSON {
    let service = try await service(call)
    let wanted = (call.parameters["roots"]?.array ?? []).compactMap(\.string)
    if let unknown = wanted.first(where: { service.configuration.model.files[$0] == nil }) {
      throw VarlinkError.unusable("roots", "the model has no root \"\(unknown)\" in \"files\"")
    }
    let taken = try await service.takeRoots(wanted)
    return [
      "report": [
        "store": .string(service.configuration.path),
        "taken": .array(
          taken.map {
            [
              "root": .string($0.name), "path": .string($0.path), "from": .string($0.owner),
            ]
          }),
      ]
    ]
  }

  func check(_ call: Call) async throws -> JSON {
    let service = try await service(call)
    let limit = try call.limit("limit") ?? 1_000
    if service.condition.isDetached { throw StoreError.detached }
    var repaired: JSON = .null
    if call.parameters["repair"]?.bool == true {
      try service.mayWork()
      let made = try await service.attach(AttachOptions(createIndexes: true), by: call.peer.uid)
      repaired = ["triggers": names(made.triggersMade), "indexes": names(made.indexesMade)]
    }
    let structure = try await setupFindings(of: service)
    let references = try await service.reader.read { try $0.checkReferences(limit: limit) }
    let surroundings = service.configuration.surroundings
    let room = max(limit - references.list.count, 0)
    let files = try await service.reader.read { try $0.checkFiles(surroundings, limit: room) }
    let unreferenced = try await service.reader.read { try $0.countUnreferenced() }
    let configuration = service.configuration
    let setUp =
      try stores.engine.ownershipProblems(at: configuration.path).map(Control.ownershipFinding)
      + WriteAccess.findings(of: configuration, socket: stores.socket)
      + service.longReaderFindings + service.polledFinding
    let found = structure.filter { $0.kind != .library }
    let remarks = stores.hasToldOfLibrary ? [] : structure.filter { $0.kind == .library }
    stores.hasToldOfLibrary = true
    return [
      "findings": .array(
        setUp + found.map(\.json) + references.list.map(\.json) + files.list.map(\.json)),
      "count": .integer(Int64(setUp.count + found.count + references.total + files.total)),
      "remarks": .array(remarks.map(\.json)),
      "unreferenced": .array(unreferenced.map(Control.unreferencedRemark)),
      "repaired": repaired,
    ]
  }
}

extension Control {
  /// Triggers that were dropped with a table that was rebuilt a moment ago, and that the daemon is
  /// about to create again, are no finding. A store that is paused or locked is shown as it is.
  private func setupFindings(of service: StoreService) async throws -> [SetupFinding] {
    let found = try await currentFindings(of: service)
    if !found.contains(where: { $0.kind == .trigger }) || service.condition.pause != nil {
      return found
    }
    _ = try? await service.onStore { try await service.writer.followSchema() }
    return try await currentFindings(of: service)
  }

  /// A paused store may be locked by its application.
  private func currentFindings(of service: StoreService) async throws -> [SetupFinding] {
    do {
      return try await service.reader.read { try $0.checkSetup() }
    } catch  where stores.engine.isLocked(error) {
      throw StoreError(service.reasonToWait(for: error) ?? "\(error)")
    }
  }

  private static func unreferencedRemark(_ found: (collection: String, count: Int)) -> JSON {
    let nodes = found.count.counted("node", "nodes")
    return [
      "kind": "unreferenced", "collection": .string(found.collection),
      "count": .integer(Int64(found.count)),
      "message": .string(
        "\(nodes) of \"\(found.collection)\" that nothing refers to: "
          + "\"sweep unreferenced\" finds them"),
    ]
  }

  private static func ownershipFinding(_ problem: String) -> JSON {
    ["kind": "ownership", "message": .string(problem)]
  }
}

extension Call {
  fileprivate func limit(_ name: String) throws -> Int? {
    guard let number = parameters[name]?.integer else { return nil }
    if number < 0 { throw VarlinkError.unusable(name, "a limit must not be negative") }
    return Int(min(number, Int64(Receipt.mostListed)))
  }
}

private func names(_ names: [String]) -> JSON { .array(names.map(JSON.string)) }

extension AttachReport {
  @EventLoopActor
  fileprivate func json(_ service: StoreService) -> JSON {
    let held = service.condition.heldRescan
    let made: JSON = [
      "store": .string(service.configuration.path), "collections": names(collections),
      "triggers": names(triggersMade), "indexes": names(indexesMade),
      "missingIndexes": .array(
        missingIndexes.map { ["table": .string($0.table), "column": .string($0.column)] }),
      "problems": .array(
        problems.map { ["path": .string($0.path), "message": .string($0.message)] }),
      "dangling": .integer(Int64((held?.heldCount ?? 0) + (held?.heldEdges ?? 0))),
      "plan": held?.plan.map(JSON.integer) ?? .null,
    ]
    let asked = [("constraints", constraints), ("functions", functions)].filter { $1 != nil }
    guard case .object(let fields) = made, !asked.isEmpty else { return made }
    return .object(
      fields + asked.map { JSON.Field($0, names($1?.made ?? [])) }
        + [JSON.Field("statements", names(asked.flatMap { $1?.forOwner ?? [] }))])
  }
}

extension SetupFinding {
  fileprivate var json: JSON {
    var fields = [
      JSON.Field("kind", .string(kind.rawValue)), JSON.Field("message", .string(message)),
    ]
    if let table { fields.append(JSON.Field("table", .string(table))) }
    return .object(fields)
  }
}

extension Finding {
  fileprivate var json: JSON {
    var fields = [JSON.Field("kind", .string(kind)), JSON.Field("message", .string(message))]
    if let node { fields.append(JSON.Field("node", node.json)) }
    if let edge { fields.append(JSON.Field("edge", edge.listed)) }
    if let file { fields.append(JSON.Field("file", file.json)) }
    return .object(fields)
  }
}
