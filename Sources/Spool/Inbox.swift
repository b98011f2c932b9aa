internal import CascadeModel
package import CascadeStore
package import CascadeSystem

/// Takes change files from the queue into the store, in order, each exactly once.
///
/// Work is done in steps. Each step is one commit, so that the caller can do other work in between.
/// Many small files share a commit, each in a savepoint of its own. A file leaves the queue only
/// after its commit. If the daemon is killed in between, the ledger recognises the file at the next
/// start.
package final class Inbox {
  package let spool: SpoolDirectory
  package let writer: any StoreWriting
  private var lock: FileLock?
  let now: () -> Int64
  private var queue: ArraySlice<FileName> = []
  private var unfinished: BatchFile?
  /// What was judged in commits that could still be lost.
  private var unsettled: [(FileName, Receipt)] = []
  /// An earlier daemon has left verdicts that could not be settled yet.
  private var owesVerdicts = false
  var stuck: [FileName: StuckFile] = [:]
  /// Whether the last commit stored verdicts.
  var hasStoredVerdicts = false
  /// When stuck files were last tried.
  var stuckSince: Int64 = 0
  var retryInterval = Inbox.shortestRetry
  /// How many of the next files do not share a commit, because a commit of several failed.
  private var loners = 0

  /// `now` returns milliseconds since 1970.
  package init(
    _ spool: SpoolDirectory, _ lock: consuming FileLock, writer: any StoreWriting,
    now: @escaping () -> Int64
  ) throws {
    self.lock = .some(lock)
    self.spool = spool
    try spool.removeStaleUploads(olderThan: now() - Inbox.uploadLifetime)
    self.writer = writer
    self.now = now
    do {
      try carryOutVerdicts()
    } catch is StoreAway {
      owesVerdicts = true
    }
  }

  /// A file that was judged, and its receipt.
  package struct Outcome: Sendable {
    package let name: FileName
    package let receipt: Receipt
    /// Why the file could not leave the queue; nil if it did.
    package let trouble: String?
    /// Its name among the rejected files, if it is there.
    package let rejectedAs: FileName?
  }

  package enum Step: Sendable {
    case idle
    case worked([Outcome])
    /// The store fails at this file, and those behind it go on.
    case setAside(FileName, reason: String)
  }

  /// Applies as many files as fit into a commit of this length.
  package func step(budget: Duration) throws -> Step {
    do {
      if owesVerdicts { try carryOutVerdicts() }
      owesVerdicts = false
      if !unsettled.isEmpty { return .worked(try moveJudged([])) }
      if let file = unfinished { return .worked(try applyNextPart(of: file)) }
      if queue.isEmpty {
        try retryStuck()
        queue =
          try spool.queue().filter { try !isStuck($0) && !spool.isSetAside($0, now: now) }[...]
      }
      if queue.isEmpty { return .idle }
      return .worked(try applyGroup(budget: budget))
    } catch {
      // What was committed is not settled yet. The queue is read again and taken from the start.
      queue = []
      unfinished = nil
      guard let failure = error as? FileFailure else { throw error }
      switch try spool.noteFailure(of: failure.name, failure.reason, at: now()) {
      case .tryAgain: throw failure.error
      case .setAside: return .setAside(failure.name, reason: failure.reason)
      case .stillSetAside: return .worked([])
      }
    }
  }

  /// A failure that only one file meets.
  private struct FileFailure: Error, CustomStringConvertible {
    let name: FileName
    let reason: String
    let error: any Error
    var description: String { reason }

    /// Nil if others would meet it, too.
    init?(_ name: FileName, _ error: any Error, at writer: any StoreWriting) {
      guard let reason = writer.failure(ofFile: error) else { return nil }
      (self.name, self.reason, self.error) = (name, reason, error)
    }
  }

  /// Whether a step would find something to do.
  package var hasQueue: Bool {
    get throws { try unfinished != nil || !queue.isEmpty || !spool.queue().isEmpty }
  }

  /// Ends the work, and returns the spool's lock.
  package func retire() -> FileLock? { lock.take() }

  /// Discards what was read of the queue, because the ledger may be another one now.
  package func restart() {
    queue = []
    unfinished = nil
    unsettled = []
    stuck = [:]
  }

  /// An upload that was not continued for an hour is abandoned.
  private static let uploadLifetime: Int64 = 3_600_000

  // MARK: - Many files in one commit

  private static let mostBytes = 4 << 20

  private func applyGroup(budget: Duration) throws -> [Outcome] {
    var verdicts: [(FileName, Receipt)] = []
    let prepared = try prepare(&verdicts)
    loners = max(0, loners - 1)
    if let file = prepared.first, file.header.batch != nil {
      return try begin(file) + moveJudged(verdicts)
    }
    let judged = try prepared.isEmpty ? [] : judge(prepared[...], budget: budget)
    queue = (prepared[judged.count...].map(\.name) + queue)[...]
    return try moveJudged(verdicts + judged)
  }

  /// Applies files in one commit. If a file's trigger rolls back everything, the files before it
  /// are applied again without it. That file is rejected when it comes first.
  private func judge(
    _ files: ArraySlice<PreparedFile>, budget: Duration
  ) throws -> [(FileName, Receipt)] {
    var verdicts: [(FileName, Receipt)] = []
    do {
      try writer.group {
        let start = ContinuousClock.now
        for file in files where verdicts.isEmpty || ContinuousClock.now - start < budget {
          guard let receipt = try verdict(file, behind: verdicts.count) else { break }
          verdicts.append((file.name, receipt))
        }
        try storeVerdicts(verdicts, of: files)
      }
      return try verdicts.map { ($0, try restoring($1)) }
    } catch let error as RejectionWithRollback {
      if !verdicts.isEmpty { return try judge(files.prefix(verdicts.count), budget: budget) }
      let file = files[files.startIndex]
      return [(file.name, try attempt(file) { throw error.rejection })]
    } catch {
      let first = files[files.startIndex]
      guard let failure = FileFailure(first.name, error, at: writer) else { throw error }
      if files.count > 1 {
        loners = files.count
        return try judge(files.prefix(1), budget: budget)
      }
      if writer.reason(refusing: error) == nil { throw failure }
      return [(first.name, try attempt(first) { throw error })]
    }
  }

  /// What an archive has comes back when it is in the trash. If that is interrupted, it goes on as an undo
  /// does.
  private func restoring(_ receipt: Receipt) throws -> Receipt {
    if !receipt.isRestoring { return receipt }
    var receipt = receipt
    receipt.restored = try writer.finishRestoring(at: now())
    return receipt
  }

  private var mostFiles: Int { loners > 0 ? 1 : writer.mostFilesPerGroup }

  /// Reads the next files. A file that is not a change file is judged at once.
  private func prepare(_ verdicts: inout [(FileName, Receipt)]) throws -> [PreparedFile] {
    var prepared: [PreparedFile] = []
    var bytes = 0
    while let name = queue.first, prepared.count + verdicts.count < mostFiles,
      bytes < Inbox.mostBytes
    {
      do {
        let file = try PreparedFile(
          name, in: spool.parts.incoming, submitter: spool.submitter(of: name))
        // A file of several transactions is taken alone, when everything before it is settled.
        if file.header.batch != nil && !(prepared.isEmpty && verdicts.isEmpty) { break }
        prepared.append(file)
        bytes += file.size
        queue.removeFirst()
        if file.header.batch != nil { break }
      } catch {
        queue.removeFirst()
        if let receipt = try refusal(of: name, error) { verdicts.append((name, receipt)) }
      }
    }
    return prepared
  }

  /// The receipt for a file that cannot be read; nil if the file is gone.
  private func refusal(of name: FileName, _ error: any Error) throws -> Receipt? {
    var receipt = Receipt(id: name.description, outcome: .rejected)
    receipt.author = spool.submitter(of: name)
    switch error {
    case SpoolFault.vanished: return nil
    case SpoolFault.refused(let reason): receipt.reasons = [Reason(.malformed, reason)]
    case let error as ChangeError: receipt.reasons = [Reason(error)]
    default: throw error
    }
    return receipt
  }

  /// The receipt of a file; nil if it has to wait. The files before it are still committed.
  private func verdict(_ file: PreparedFile, behind taken: Int) throws -> Receipt? {
    do {
      return try verdict(file)
    } catch is StoreError where taken > 0 {
      return nil
    }
  }

  private func verdict(_ file: PreparedFile) throws -> Receipt {
    if let known = try ledgerReceipt(file) { return known }
    return try attempt(file) {
      try writer.apply(
        file.submission(at: now()), changes: file.changes(), completing: file.complete)
    }
  }

  // MARK: - Judging

  /// Runs `body`. A fault of the file becomes its receipt; a fault of the machine is thrown.
  func attempt(_ file: PreparedFile, _ body: () throws -> Receipt) throws -> Receipt {
    var receipt = Receipt(id: file.id, outcome: .rejected)
    receipt.author = file.author
    do {
      return try body()
    } catch let rejection as Rejection {
      receipt.reasons = rejection.reasons.map { withLine($0, in: file) }
    } catch let error as ChangeError {
      receipt.reasons = [Reason(error)]
    } catch SpoolFault.refused(let reason) {
      receipt.reasons = [Reason(.malformed, reason)]
    } catch let held as HeldPlan {
      receipt = try hold(file, held)
    } catch {
      guard let reason = writer.reason(refusing: error) else { throw error }
      receipt.reasons = [reason]
    }
    return receipt
  }

  private func hold(_ file: PreparedFile, _ held: HeldPlan) throws -> Receipt {
    var receipt = Receipt(id: file.id, outcome: .held)
    receipt.author = file.author
    receipt.deletedCount = held.deletedCount
    receipt.reasons = [Reason(held)]
    if let other = try conflictingHeldFile(than: file, held) {
      receipt.outcome = .rejected
      receipt.reasons.append(
        Reason(.overLimit, "\(other) is already held: approve or drop it first"))
    } else {
      receipt.plan = try writer.persistPlan(held, file: file.title)
    }
    return receipt
  }

  /// Describes another held file with the same name or id, if there is one.
  private func conflictingHeldFile(than file: PreparedFile, _ held: HeldPlan) throws -> String? {
    if try spool.holdsAnother(than: file) { return "another file named \(file.title)" }
    let others = try writer.filesHeld(underIdOf: held, but: file.title)
    // A file of the same commit is still in the queue.
    let other = try others.first {
      try spool.isHeld(FileName($0)) || spool.isQueued(FileName($0))
    }
    return other.map { "\($0), which has the same id," }
  }

  /// In a file of lines, gives the line instead of the number of the change.
  private func withLine(_ reason: Reason, in file: PreparedFile) -> Reason {
    guard let lines = file.lines, reason.path != nil else { return reason }
    var reason = reason
    reason.path = nil
    reason.line = lines.line
    return reason
  }

  // MARK: - After the commit

  /// Moves files out of the queue, and what was judged before. This cannot be taken back.
  private func moveJudged(_ verdicts: [(FileName, Receipt)]) throws -> [Outcome] {
    unsettled += verdicts
    if unsettled.isEmpty { return [] }
    try writer.settle()
    defer { unsettled = [] }
    let outcomes = unsettled.map { name, receipt in
      let departure = moveOut(name, receipt)
      return Outcome(
        name: name, receipt: receipt, trouble: departure.trouble,
        rejectedAs: departure.rejectedAs)
    }
    deleteVerdicts()
    return outcomes
  }

  func reasonFile(_ name: FileName, _ receipt: Receipt) -> String {
    let file: JSON = [
      "file": .string(name.description), "id": .string(receipt.id),
      "author": receipt.author.map(JSON.string) ?? .null, "at": .integer(now()),
      "reasons": .array(receipt.reasons.map(\.json)),
    ]
    return file.text + "\n"
  }

  // MARK: - One file in many commits

  private func begin(_ file: PreparedFile) throws -> [Outcome] {
    if let known = try ledgerReceipt(file) { return try moveJudged([(file.name, known)]) }
    let verdict = try attempt(file) {
      unfinished = try BatchFile(file, resuming: writer.ledgerEntry(file.id))
      return Receipt(id: file.id, outcome: .applied)
    }
    return unfinished == nil ? try moveJudged([(file.name, verdict)]) : []
  }

  private func applyNextPart(of batch: BatchFile) throws -> [Outcome] {
    let file = batch.file
    let receipt = try attempt(file) {
      do {
        let receipt = try writer.group {
          try attempt(file) { try batch.applyNext(to: writer, at: now()) }
        }
        let restored = try restoring(receipt)
        batch.add(restored.restored)
        return restored
      } catch let error as RejectionWithRollback {
        throw error.rejection
      } catch  where writer.reason(refusing: error) == nil {
        throw FileFailure(file.name, error, at: writer) ?? error
      }
    }
    if receipt.outcome == .applied && !batch.isFinished { return [] }
    unfinished = nil
    return try moveJudged([(file.name, receipt.outcome == .applied ? batch.total : receipt)])
  }
}
