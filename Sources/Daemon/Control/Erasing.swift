internal import CascadeModel
internal import CascadeStore
internal import CascadeSystem
internal import CascadeVarlink
internal import Spool
internal import VarlinkServer

/// Erasure: a job that leaves nothing, with a gate before it and a report behind it.
extension Control {
  func erase(_ call: Call) async throws -> JSON {
    let service = try await awaitedService(call)
    let named = try call.node("node", of: service.configuration.model)!
    var erasure = try await service.reader.read {
      try ErasureRequest($0, $0.withStoredKey(named), accepting: call.accepted)
    }
    erasure.files = try service.spool.filesNaming(
      Set(erasure.plan.steps.map(\.node) + [erasure.node]))
    if call.parameters["dryRun"]?.bool == true || erasure.isStopped {
      return ["erasure": erasure.refusal]
    }
    try service.mayWork()
    var request = DeletionJob.Request(
      .nodes([erasure.node]), by: userName(call.peer.uid),
      expecting: call.parameters["expect"]?.integer.map { Int(clamping: $0) })
    request.erasure = DeletionJob.Erasure()
    let (asked, rewrites) = (request, call.parameters["vacuum"]?.bool ?? false)
    let (prepared, path) = (erasure, service.path)
    return try await call.tellingProgress(of: service) {
      let begun = SystemClock.wall()
      let job = try await service.delete(asked, waits: true)
      if job.state == .held { return ["erasure": prepared.json(of: job)] }
      let end = try await service.finishErasure(job, prepared, rewrites: rewrites)
      return [
        "erasure": prepared.json(
          of: job, ErasureReport(prepared, job, end, begun: begun, store: path))
      ]
    }
  }
}

extension Call {
  fileprivate var accepted: Set<String> {
    Set(parameters["accept"]?.array?.compactMap(\.string) ?? [])
  }
}

/// What is known before anything is erased.
struct ErasureRequest: Sendable {
  let node: Node
  let plan: Plan
  let evidence: [ColumnEvidence]
  let accepted: Set<String>
  let scope: ErasureScope
  /// Texts of what goes, for which the database is searched afterwards.
  let texts: [String]
  /// Change files that name something of it.
  var files: [String] = []

  private static let mostTexts = 10_000
  private static let shortest = 6

  init(_ reader: any StoreReading, _ node: Node, accepting accepted: Set<String>) throws {
    self.node = node
    self.accepted = accepted
    plan = try reader.plan(of: .nodes([node]))
    scope = try reader.erasureScope()
    let collections = Set(plan.byCollection.keys).union([node.collection])
    evidence =
      try plan.deletedCount == 0
      ? [] : scope.uncovered(of: reader.evidence(), deletingFrom: collections, accepted: accepted)
    texts = try ErasureRequest.texts(of: [node] + plan.steps.map(\.node), reader)
  }

  private static func texts(of nodes: [Node], _ reader: any StoreReading) throws -> [String] {
    var texts: Set<String> = []
    for node in nodes where texts.count < mostTexts {
      if case .text(let key) = node.key, key.utf8.count > 3 { texts.insert(key) }
      collect(try reader.node(node).value?.json ?? .null, &texts)
    }
    return texts.sorted()
  }

  private static func collect(_ json: JSON, _ texts: inout Set<String>) {
    switch json {
    case .string(let text) where text.utf8.count >= shortest: texts.insert(text)
    case .array(let parts): for part in parts { collect(part, &texts) }
    case .object(let members): for member in members { collect(member.value, &texts) }
    default: break
    }
  }

  var isStopped: Bool { !evidence.isEmpty || !files.isEmpty }

  /// Nothing was deleted.
  var refusal: JSON {
    let isBlocked = isStopped || !plan.denials.isEmpty
    return json(
      state: isBlocked ? "blocked" : plan.isOverLimit ? "held" : "done", job: nil,
      count: plan.deletedCount, plan.byCollection, plan.denials.map(\.json), nil, nil)
  }

  func json(of job: DeletionJob, _ report: ErasureReport? = nil) -> JSON {
    let hasTraces = report.map { !$0.traces.isEmpty } ?? false
    let state = job.state == .done && hasTraces ? "blocked" : job.state.rawValue
    return json(
      state: state, job: job.number, count: job.deletedCount, job.byCollection, job.blocked,
      job.plan, report)
  }

  private func json(
    state: String, job: Int64?, count: Int, _ byCollection: [String: Int], _ blocked: [JSON],
    _ plan: Int64?, _ report: ErasureReport?
  ) -> JSON {
    [
      "job": job.map(JSON.integer) ?? .null, "state": .string(state),
      "deletedCount": .integer(Int64(count)), "byCollection": counts(byCollection),
      "plan": plan.map(JSON.integer) ?? .null, "blocked": .array(blocked),
      "evidence": .array(evidence.map(\.json)), "files": .array(files.map(JSON.string)),
      "traces": .array((report?.traces ?? []).map(JSON.string)),
      "report": report?.json ?? .null, "salt": report.map { .string($0.salt) } ?? .null,
    ]
  }
}

extension ColumnEvidence {
  fileprivate var json: JSON {
    [
      "table": .string(table), "columns": .array(columns.map(JSON.string)), "to": .string(to),
      "evidence": .string(evidence),
    ]
  }
}

/// What was found when everything was erased.
struct ErasureEnd: Sendable {
  var files = 0
  var traces: [String] = []
  var isLogEmpty = true
}

/// For an auditor. Keys are in it as hashes, with a salt that is told once and is not in it.
struct ErasureReport {
  let json: JSON
  let salt: String
  let traces: [String]

  init(
    _ request: ErasureRequest, _ job: DeletionJob, _ end: ErasureEnd, begun: Int64, store: String
  ) {
    let salt = SHA256.hex((try? Process.randomBytes(32)) ?? [])
    func hashed(_ text: String) -> JSON { .string(SHA256.hex("\(salt)\(text)".utf8)) }
    (self.salt, traces) = (salt, end.traces)
    let before = job.request.erasure?.before ?? [:]
    let tables = Set(before.keys).union(job.byCollection.keys).sorted().map { name -> JSON in
      let (there, gone) = (before[name] ?? job.byCollection[name] ?? 0, job.byCollection[name] ?? 0)
      return [
        "collection": .string(name), "table": request.scope.tables[name].map(JSON.string) ?? .null,
        "before": .integer(Int64(there)), "gone": .integer(Int64(gone)),
        "left": .integer(Int64(max(0, there - gone))),
      ]
    }
    let stays = job.blocked.map { reason -> JSON in
      ["node": hashed(reason["node"]?.text ?? ""), "why": reason["code"] ?? .null]
    }
    let members: [JSON.Field] = [
      .init("subject", hashed(request.node.json.text)), .init("store", .string(store)),
      .init("by", .string(job.request.author)), .init("job", .integer(job.number)),
      .init("state", .string(job.state.rawValue)), .init("begun", .integer(begun)),
      .init("ended", .integer(SystemClock.wall())), .init("tables", .array(tables)),
      .init("stays", .array(stays)),
      .init("accepted", .array(request.accepted.sorted().map(JSON.string))),
      .init("files", .integer(Int64(end.files))),
      .init(
        "verified",
        [
          "referring": job.request.erasure?.referring.map { .integer(Int64($0)) } ?? .null,
          "texts": .integer(Int64(request.texts.count)),
          "traces": .integer(Int64(end.traces.count)), "logIsEmpty": .bool(end.isLogEmpty),
        ]), .init("traces", .array(end.traces.map(JSON.string))),
      .init("notCovered", .array(ErasureReport.notCovered(request, store).map(JSON.string))),
    ]
    let text = JSON.object(members).text
    json = .object(members + [JSON.Field("sha256", .string(SHA256.hex(text.utf8)))])
  }

  private static func notCovered(_ request: ErasureRequest, _ store: String) -> [String] {
    let isServer = !store.hasPrefix("/")
    let tables = request.scope.tables.filter { request.plan.byCollection[$0.key] != nil }.values
    return request.scope.shadows.map { "the shadow tables of the full-text index \($0)" }
      + (isServer
        ? [
          "the server's log, its standbys and its backups",
          "rows that VACUUM has not removed yet of \(tables.sorted().joined(separator: ", "))",
        ] : ["backups of the database"])
      + ["the journal of the system, which keeps what was logged"]
  }
}

extension StoreService {
  /// Files, the log, and what is left in places that nothing uses.
  func finishErasure(
    _ job: DeletionJob, _ request: ErasureRequest, rewrites: Bool
  ) async throws -> ErasureEnd {
    var end = ErasureEnd()
    if let batch = job.batch { end.files = try await eraseFiles(ofBatch: batch) }
    await reader.rest()
    end.isLogEmpty = try await inTurn {
      try await onStore { try await writer.clearUnusedPlaces(rewrites: rewrites) }
    }
    end.traces = try await reader.read { try $0.traces(of: request.texts) }
    return end
  }

  /// Returns how many there were.
  private func eraseFiles(ofBatch batch: Int64) async throws -> Int {
    if configuration.model.files.isEmpty { return 0 }
    retriesFiles = true
    _ = try await moveUnreferencedFiles()
    let count = try await onStore { try await writer.eraseFiles(ofBatch: batch) }
    retriesFiles = true
    _ = try await moveUnreferencedFiles()
    return count
  }
}

extension StoreWriter {
  func eraseFiles(ofBatch batch: Int64) throws -> Int {
    try attached().writer.eraseFiles(ofBatch: batch)
  }

  /// Tries a few times: a reader may need the log.
  func clearUnusedPlaces(rewrites: Bool) throws -> Bool {
    let writer = try attached().writer
    for attempt in 0..<20 {
      if try writer.clearUnusedPlaces(rewrites: rewrites && attempt == 0) { return true }
      SystemClock.sleep(for: .milliseconds(50))
    }
    return false
  }
}
