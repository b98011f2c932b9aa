internal import CascadeModel
internal import CascadeSystem
internal import Spool
internal import CascadeStore
internal import SystemdService

/// Messages for the log: one line for a file that deleted something or was not applied, one for a
/// sweep that did something. Other successful work is not logged.
extension StoreService {
  func tell(
    _ priority: Log.Priority, _ id: LogMessageID, _ message: String,
    _ fields: [(LogField, String)] = [], file: String = #fileID, line: Int = #line,
    function: String = #function
  ) {
    events.tell(
      priority, id, "\(path): \(message)", [(.store, path)] + fields, file: file, line: line,
      function: function)
  }

  /// Tells the clients that watch events what happened before the daemon started.
  func recall(_ batches: [Batch]) {
    for batch in batches {
      events.add(
        batch.kind == .sweep ? .swept : .deleted, .info,
        "\(path): \(batch.id.printable) deleted \(nodes(batch.deletedCount))",
        [
          (.store, path), (.batch, String(batch.batch)), (.deleted, String(batch.deletedCount)),
          (.author, batch.author ?? ""),
        ], at: batch.at)
    }
  }

  /// Reports a file's outcome. The user is known if the file was submitted over the socket,
  /// whatever author it names.
  func report(_ outcome: Inbox.Outcome, submittedBy user: UInt32?) {
    let receipt = outcome.receipt
    let sender = [(LogField.peerUser, number(user))]
    if let trouble = outcome.trouble {
      tell(
        .warning, .trouble,
        "\(outcome.title) was processed, but cannot leave the queue: \(trouble)",
        [(.reason, trouble)] + outcome.fields)
    }
    switch receipt.outcome {
    case .duplicate: break
    case .applied where receipt.deletedCount > 0: reportDeletion(outcome, sender)
    case .applied: noteApplied(outcome, sender)
    case .rejected: reportRejection(outcome, sender)
    case .held:
      tell(
        .warning, .held,
        "\(outcome.title) is held: \(receipt.reasons.first?.message ?? ""); "
          + "`cascadectl approve \(receipt.plan ?? 0)` allows it",
        [(.plan, String(receipt.plan ?? 0))] + outcome.fields + sender)
    }
  }

  /// Reports an applied file only to the clients that watch events.
  private func noteApplied(_ outcome: Inbox.Outcome, _ sender: [(LogField, String)]) {
    events.add(
      .applied, .debug, "\(path): applied \(outcome.receipt.id.printable)",
      [(.store, path), (.batch, outcome.receipt.batch.map { String($0) } ?? "")] + outcome.fields
        + sender)
  }

  private func reportDeletion(_ outcome: Inbox.Outcome, _ sender: [(LogField, String)]) {
    let receipt = outcome.receipt
    let author = receipt.author.map { " by \($0.printable)" } ?? ""
    tell(
      .info, .deleted,
      "\(receipt.id.printable)\(author) deleted \(nodes(receipt.deletedCount)) "
        + "(batch \(receipt.batch ?? 0))",
      [(.batch, String(receipt.batch ?? 0)), (.deleted, String(receipt.deletedCount))]
        + outcome.fields + sender)
  }

  private func reportRejection(_ outcome: Inbox.Outcome, _ sender: [(LogField, String)]) {
    let reasons = outcome.receipt.reasons
    let more = reasons.count > 1 ? " (and \(reasons.count - 1) more reasons)" : ""
    let first = reasons.first
    let place = first?.line.map { ":\($0)\(first?.column.map { ":\($0)" } ?? "")" } ?? ""
    let message = first?.message ?? ""
    tell(
      .warning, .rejected, "rejected \(outcome.title)\(place): \(message)\(more)",
      [(.reason, message)] + outcome.fields + sender)
  }

  /// Reports a sweep. `user` is nil if no user asked for it.
  func report(_ result: SweepResult, number: Int64, by user: UInt32?) {
    if result.outcome == .nothing { return }
    if result.outcome != .held || result.batch != nil {
      reportSwept(result, number: number, by: user)
    }
    if result.outcome == .held {
      for part in result.otherHeldParts + [result] { reportHeld(part, number: number, by: user) }
    }
  }

  /// Reports a job that does not run any more.
  func report(_ job: DeletionJob) {
    let what: [DeletionJob.State: String] = [
      .held: "waits for the approval of plan \(job.plan ?? 0)", .cancelled: "was cancelled",
      .blocked: "is blocked: \(job.blocked.first?["message"]?.string ?? "something has to stay")",
    ]
    tell(
      job.state == .done ? .info : .warning, .jobEnded,
      "job \(job.number) of \(job.request.author.printable) \(what[job.state] ?? "is done"), \(job.lastMark == nil ? "deleted" : "marked") "
        + nodes(job.deletedCount),
      [
        (.deleted, String(job.deletedCount)), (.batch, job.batch.map { String($0) } ?? ""),
        (.plan, job.plan.map { String($0) } ?? ""),
      ])
  }

  private func reportSwept(_ result: SweepResult, number: Int64, by user: UInt32?) {
    let outcome: SweepResult.Outcome = result.blocked.isEmpty ? .done : .blocked
    tell(
      outcome == .done ? .info : .warning, .swept,
      "\(result.title)\(by(user)) \(outcome.rawValue), deleted "
        + nodes(result.deletedCount) + result.edgesAlone + result.blockedText,
      [
        (.sweep, String(number)), (.deleted, String(result.deletedCount)),
        (.batch, result.batch.map { String($0) } ?? ""), (.peerUser, self.number(user)),
        (.longestLock, result.lockMilliseconds.max().map { "\(Int64($0.rounded(.up)))" } ?? ""),
      ])
  }

  private func reportHeld(_ result: SweepResult, number: Int64, by user: UInt32?) {
    let plan = result.plan ?? 0
    tell(
      .warning, .held, "\(result.title)\(by(user)) is held: \(result.heldText(plan: plan))",
      [
        (.sweep, String(number)), (.plan, String(plan)), (.deleted, String(result.heldCount)),
        (.peerUser, self.number(user)),
      ])
  }

  func reportMismatch(_ problems: [String]) {
    if problems.isEmpty {
      tell(.notice, .recovered, "the tables match the model again")
    } else {
      let reason = problems.joined(separator: "; ")
      tell(
        .warning, .mismatch,
        "nothing is deleted while the tables do not match the model: \(reason)", [(.reason, reason)]
      )
    }
  }

  func reportLook() {
    tell(.info, .looking, "looking through the tables for references to nothing")
  }

  func reportLooked(in time: Duration) {
    let seconds = Double(time / .milliseconds(100)).rounded(.up) / 10
    tell(.info, .looked, "looked through the tables in \(seconds) s")
  }

  func reportReplaced(_ standing: StoreStanding) {
    let what =
      switch standing {
      case .logRemoved: "its log was removed while it was in use; its commits were saved"
      case .logReplaced:
        "its log was removed while it was in use, and commits that only it had are lost: stop the "
          + "program that removes it"
      case .overwritten: "a copy was written over it; the new content is served"
      case .sameFile, .replaced: "another file is there now; the new content is served"
      }
    tell(.warning, .replaced, "\(what); searching for dangling references")
  }

  func reportAttached(_ report: AttachReport, by user: UInt32) {
    tell(
      .notice, .attached,
      "attached\(by(user)), \(report.collections.count) collections are tables",
      [(.peerUser, number(user))])
  }

  func reportDetached(by user: UInt32) {
    tell(
      .notice, .detached, "detached\(by(user)); change files wait until it is attached again",
      [(.peerUser, number(user))])
  }

  func reportApproved(plan: Int64, by user: UInt32) {
    tell(
      .notice, .approved, "plan \(plan) approved\(by(user))",
      [(.plan, String(plan)), (.peerUser, number(user))])
  }

  func reportRejected(_ rejected: RejectedPlan, by user: UInt32) {
    let plan = rejected.plan
    let nodes = rejected.givenUp.counted("reference or node", "references and nodes")
    let text = rejected.file.map { "plan \(plan) rejected\(by(user)), with the file \($0)" }
    tell(
      .notice, .planRejected,
      text ?? "plan \(plan) rejected\(by(user)): \(nodes) given up, \(rejected.restored) restored",
      [(.plan, String(plan)), (.peerUser, number(user))])
  }

  func reportSetAside(
    _ file: FileName, _ text: String, because reason: String, submittedBy user: UInt32?
  ) {
    tell(
      .warning, .setAside, "\(text); `cascadectl spool` lists it",
      [(.file, file.description), (.reason, reason), (.peerUser, number(user))])
  }

  func reportRetried(_ file: FileName, by user: UInt32) {
    let title = file.description
    tell(
      .notice, .retried, "\(title.printable) put back into the queue\(by(user))",
      [(.file, title), (.peerUser, number(user))])
  }

  func reportDropped(_ file: FileName, by user: UInt32) {
    let title = file.description
    tell(
      .notice, .dropped, "\(title.printable) dropped\(by(user))",
      [(.file, title), (.peerUser, number(user))])
  }

  func reportUndone(_ result: UndoResult, by user: UInt32? = nil) {
    let left = result.leftCount > 0 ? ", \(result.leftCount) not restored" : ""
    tell(
      .notice, .undone,
      "batch \(result.batch) undone by \(result.author): \(nodes(result.restored)) restored\(left)",
      [
        (.batch, String(result.batch)), (.author, result.author), (.peerUser, number(user)),
      ])
  }

  func report(_ undo: UndoFailed) {
    tell(
      .error, .undoGivenUp,
      "batch \(undo.batch) is undone only in part: \(undo.reason); `cascadectl undo \(undo.batch)` "
        + "retries the rest",
      [(.batch, String(undo.batch)), (.reason, undo.reason)])
  }

  func reportPaused(by user: UInt32) {
    tell(.notice, .paused, "paused\(by(user))", [(.peerUser, number(user))])
  }

  func reportResumed(by user: UInt32) {
    tell(.notice, .resumed, "resumed\(by(user))", [(.peerUser, number(user))])
  }

  private func by(_ user: UInt32?) -> String { user.map { " by \(userName($0))" } ?? "" }

  private func number(_ user: UInt32?) -> String { user.map { String($0) } ?? "" }

  private func nodes(_ count: Int) -> String { count.counted("node", "nodes") }
}

/// The author of what a user asks for over the socket.
func userName(_ user: UInt32) -> String { "uid \(user)" }

extension SweepResult {
  /// The number of removed edges, if the sweep only set references to null.
  fileprivate var edgesAlone: String {
    if deletedCount > 0 || edgesRemoved == 0 { return "" }
    return " and \(edgesRemoved.counted("edge", "edges"))"
  }

  /// The first reason and the number of others, for the log.
  /// As `batches` names it. A sweep that deleted nothing has no batch.
  fileprivate var title: String { batch.map { "sweep-\($0)" } ?? "a sweep" }

  fileprivate var blockedText: String {
    guard let first = blocked.first else { return "" }
    return ": \(first.message)" + (blocked.count > 1 ? " (and \(blocked.count - 1) more)" : "")
  }
}

extension Inbox.Outcome {
  fileprivate var title: String { name.description.printable }

  fileprivate var fields: [(LogField, String)] {
    [(.file, name.description), (.author, receipt.author ?? "")]
  }
}
