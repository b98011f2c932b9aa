internal import CascadeModel
internal import CascadeSystem
internal import CascadeVarlink
internal import Spool
internal import CascadeStore
internal import CascadeEngine
internal import VarlinkServer

/// Commands that change the store or its spool.
extension Control {
  func upload(_ call: Call) async throws -> JSON {
    ["upload": .string(try await begin(call.text("data")!, call))]
  }

  /// Begins or continues an upload, and returns its id.
  private func begin(_ data: String, _ call: Call) async throws -> String {
    guard let bytes = Base64.decode(data) else { throw VarlinkError.unusable("data", "not base64") }
    let known = call.text("upload")
    let service = try await awaitedService(call)
    // A detached store would not apply the file.
    if service.condition.isDetached { throw StoreError.detached }
    try service.mayWork()
    guard let id = try uploads.append(bytes, to: known, for: call, service) else {
      throw VarlinkError.noSuchThing("upload \(known ?? "")")
    }
    return id
  }

  func apply(_ call: Call) async throws -> JSON {
    let upload = try await wholeUpload(call)
    let service = upload.service
    do {
      try Uploads.refuseLong(upload, as: call.text("name"))
      let name = try await freeName(call.text("name")!, for: upload)
      try await sync(upload)
      return try await call.tellingReasons(of: service) {
        let receipt = try await service.enqueueAndWait(name) {
          try service.submit(upload, as: name)
        }
        return ["receipt": receipt.json]
      }
    } catch {
      // If the upload was already submitted, there is nothing left to drop.
      try? service.spool.dropUpload(upload.name)
      throw error
    }
  }

  /// A small file comes with the call; a larger one was uploaded before.
  private func wholeUpload(_ call: Call) async throws -> Uploads.Upload {
    var id = call.text("upload")
    if let data = call.text("data") {
      if id != nil { throw VarlinkError.unusable("data", "the file was uploaded already") }
      id = try await begin(data, call)
    }
    guard let id else { throw VarlinkError.unusable("upload", "give either upload or data") }
    guard let upload = uploads.take(id) else { throw VarlinkError.noSuchThing("upload \(id)") }
    return upload
  }

  /// After a power cut, the queue must not have a part of the file. The event loop does not wait.
  private func sync(_ upload: Uploads.Upload) async throws {
    let (name, spool) = (upload.name, try upload.service.spool)
    try await upload.service.reader.read { _ in try spool.syncUpload(name) }
  }

  /// The name for an upload in the queue. It is the id of a file that gives none. If the name was
  /// used before for another content, this is another change and gets another name.
  private func freeName(_ text: String, for upload: Uploads.Upload) async throws -> FileName {
    let name = FileName(text)
    let isChangeFile = text.hasSuffix(".json") || text.hasSuffix(".ndjson")
    guard name.isValid, !name.isHidden, isChangeFile, name.bytes.count <= 200 else {
      throw VarlinkError.unusable("name", "\"\(text)\" is not a name of a change file")
    }
    let (fingerprint, spool) = (upload.fingerprint, try upload.service.spool)
    return try await upload.service.reader.read { reader in
      let used = try reader.fingerprint(ofId: text)
      let isFree = used == nil || used == fingerprint.signed
      if try isFree && !spool.isTaken(name, by: fingerprint) { return name }
      return try spool.uniqueName(text, fingerprint)
    }
  }

  func sweep(_ call: Call) async throws -> JSON {
    let service = try await awaitedService(call)
    let kinds = try call.sweepKinds()
    if call.parameters["dryRun"]?.bool != true {
      try service.mayWork()
      if call.parameters["wait"]?.bool != false { return try await sweep(kinds, service, call) }
      service.requestSweep(kinds, by: call.peer.uid)
      return ["sweep": ["kinds": .array(kinds.map { .string($0.rawValue) }), "outcome": "begun"]]
    }
    var result = try await service.reader.read { [model = service.configuration.model] in
      try $0.dryRun(of: kinds, model)
    }
    if kinds.sweepsFiles { result.unreferenced = try await service.unreferencedFiles() }
    return ["sweep": result.json(number: 0)]
  }

  private func sweep(
    _ kinds: [SweepKind], _ service: StoreService, _ call: Call
  ) async throws -> JSON {
    try await call.tellingProgress(of: service) {
      let result = try await service.sweep(kinds, by: call.peer.uid)
      return ["sweep": await result.json(number: service.sweepCount)]
    }
  }

  func acknowledge(_ call: Call) async throws -> JSON {
    let notice = call.parameters["notice"]!.integer!
    let service = try await service(call)
    let count = try await service.onStore { try await service.writer.acknowledge(upTo: notice) }
    return ["acknowledged": .integer(Int64(count))]
  }

  // MARK: - The spool

  func listSpool(_ call: Call) async throws -> JSON {
    let service = try await service(call)
    let rejected = try service.spool.rejectedNames().map { name -> JSON in
      let reasons = try service.spool.reasons(of: name).flatMap { try? JSON.parse($0, as: .json) }
      return ["file": .string(name.description), "reasons": reasons?["reasons"] ?? []]
    }
    let stuck = try service.spool.setAside()
    let waiting = try service.spool.queue().filter { name in !stuck.contains { $0.name == name } }
    return [
      "waiting": .array(waiting.map { .string($0.description) }),
      "held": .array(try await held(service)), "rejected": .array(rejected),
      "stuck": .array(stuck.map(\.json)),
    ]
  }

  /// The held files. They are listed even when the store, which knows their plans, cannot be read.
  private func held(_ service: StoreService) async throws -> [JSON] {
    let names = try service.spool.heldNames()
    if names.isEmpty { return [] }
    let plans = (try? await service.reader.read { try $0.plansOfFiles() }) ?? [:]
    return names.map { name in
      let plan = plans[name.description]
      return [
        "file": .string(name.description), "plan": plan.map { .integer($0.plan) } ?? .null,
        "deletedCount": plan.map { .integer(Int64($0.deletedCount)) } ?? .null,
      ]
    }
  }

  func retry(_ call: Call) async throws -> JSON {
    let service = try await service(call)
    let name = try spoolName(call, in: service.spool)
    let isThere =
      try service.spool.retry(name) || service.spool.release(name)
      || service.spool.retrySetAside(name)
    if !isThere {
      throw VarlinkError.noSuchThing("file \(name) among the rejected, held and stuck ones")
    }
    service.reportRetried(name, by: call.peer.uid)
    service.wakeUp()
    return [:]
  }

  func drop(_ call: Call) async throws -> JSON {
    let service = try await service(call)
    let name = try spoolName(call, in: service.spool)
    var isDropped = try service.spool.dropRejected(name) || service.spool.dropSetAside(name)
    if !isDropped { isDropped = try await dropHeld(name, service) }
    guard isDropped else {
      throw VarlinkError.noSuchThing("file \(name) among the rejected, held and stuck ones")
    }
    service.reportDropped(name, by: call.peer.uid)
    return [:]
  }

  private func dropHeld(_ name: FileName, _ service: StoreService) async throws -> Bool {
    if try !service.spool.isHeld(name) { return false }
    // A detached store has no plans.
    if !service.condition.isDetached {
      try await service.onStore { try await service.writer.dropPlans(ofFile: name.description) }
    }
    return try service.spool.dropHeld(name)
  }

  private func spoolName(_ call: Call, in spool: SpoolDirectory) throws -> FileName {
    let name = try spool.listed(call.text("file")!)
    if !name.isValid || name.isHidden {
      throw VarlinkError.unusable("file", "\"\(name)\" is not a name of a file in the spool")
    }
    return name
  }

  func approve(_ call: Call) async throws -> JSON {
    let service = try await service(call)
    try service.mayWork()
    let plan = call.parameters["plan"]!.integer!
    let user = call.peer.uid
    let approved = try await service.onStore { try await service.writer.approve(plan: plan) }
    guard let approved else {
      throw VarlinkError.noSuchThing("plan \(plan) that waits for approval")
    }
    service.condition.noteAnswered(plan)
    service.reportApproved(plan: plan, by: user)
    switch approved {
    case .sweep(let kinds):
      return ["receipt": try await service.sweep(kinds, because: .approved, by: user).receipt.json]
    case .file(let name):
      return ["receipt": try await release(FileName(name), service).json]
    case .job(let job):
      return ["receipt": try await service.job(job, waits: true).receipt.json]
    }
  }

  func reject(_ call: Call) async throws -> JSON {
    let service = try await service(call)
    try service.mayWork()
    let plan = call.parameters["plan"]!.integer!
    let rejected = try await service.reject(plan: plan, by: call.peer.uid)
    guard let rejected else {
      throw VarlinkError.noSuchThing("plan \(plan) that waits for approval")
    }
    return [
      "plan": .integer(plan), "restored": .integer(Int64(rejected.restored)),
      "givenUp": .integer(Int64(rejected.givenUp)),
    ]
  }

  /// Puts an approved file back into the queue and waits for its receipt. If it was approved before
  /// and is still in the queue, only waits.
  private func release(_ name: FileName, _ service: StoreService) async throws -> Receipt {
    if try !service.spool.isHeld(name) && !service.spool.isQueued(name) {
      // The approval must not apply to a later file of the same name.
      try await service.onStore { try await service.writer.dropPlans(ofFile: "\(name)") }
      throw VarlinkError.noSuchThing("file \(name) among the held ones")
    }
    return try await service.enqueueAndWait(name) {
      if try service.spool.release(name) || service.spool.isQueued(name) { return }
      throw VarlinkError.noSuchThing("file \(name) among the held ones: it was just processed")
    }
  }
}

extension SweepResult {
  /// The result of an approved sweep, in the form of a change file's receipt.
  fileprivate var receipt: Receipt {
    let outcomes: [Outcome: Receipt.Outcome] = [.held: .held, .blocked: .rejected]
    // What was deleted had been approved; what is held now is another part.
    let outcome = outcome == .held && batch != nil ? Outcome.done : outcome
    var receipt = Receipt(id: "sweep", outcome: outcomes[outcome] ?? .applied)
    receipt.batch = batch
    receipt.deleted = deleted
    receipt.deletedCount = deletedCount
    receipt.edgesRemoved = edgesRemoved
    receipt.reasons = blocked
    receipt.plan = outcome == .held ? plan : nil
    return receipt
  }

  /// The result of a dry run, in the form of a sweep's result.
  fileprivate init(wouldDo plan: Plan, _ kinds: [SweepKind]) {
    self.init(kinds: kinds, outcome: .nothing)
    files = plan.files
    trashedBatchesDeleted = plan.batchesToDelete
    edgesRemoved = plan.edgesRemoved
    if plan.deletedCount + edgesRemoved + files + trashedBatchesDeleted > 0 { outcome = .done }
    if plan.isOverLimit { outcome = .held }
    if !plan.denials.isEmpty { outcome = .blocked }
    deletedCount = plan.deletedCount
    byCollection = plan.byCollection
    byRule = plan.byRule
    blocked = plan.denials
  }
}

extension StoreReading {
  /// What a sweep would do.
  fileprivate func dryRun(of kinds: [SweepKind], _ model: StoreModel) throws -> SweepResult {
    let others = kinds.filter { $0 != .expired }
    var result = SweepResult(kinds: kinds, outcome: .nothing)
    if !others.isEmpty { result = SweepResult(wouldDo: try planSweep(others), kinds) }
    if !kinds.expire(model) { return result }
    for plan in try planExpired(at: SystemClock.wall()) {
      result.add(SweepResult(wouldDo: plan, [.expired]))
    }
    return result
  }
}

extension FailingFile {
  /// With its reason in the form of a rejected file's.
  fileprivate var json: JSON {
    let reason = Reason(.invalid, reason)
    return ["file": .string(name.description), "reasons": .array([reason.json])]
  }
}

extension SpoolDirectory {
  fileprivate func uniqueName(_ text: String, _ fingerprint: Fingerprint) throws -> FileName {
    let dot = text.lastIndex(of: ".")!
    let stem = "\(text[..<dot])-\(String(fingerprint.value, radix: 16))"
    var number = 1
    var name = FileName("\(stem)\(text[dot...])")
    while try isTaken(name, by: fingerprint) {
      number += 1
      name = FileName("\(stem)-\(number)\(text[dot...])")
    }
    return name
  }

  /// Whether another content waits under this name. If the same content waits, the new request
  /// waits for its receipt too.
  fileprivate func isTaken(_ name: FileName, by fingerprint: Fingerprint) throws -> Bool {
    guard let waiting = try waiting(name) else { return false }
    return waiting != .content(fingerprint.signed)
  }
}
