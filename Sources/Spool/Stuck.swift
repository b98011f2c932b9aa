internal import Store
internal import CascadeSystem
/// A file that was judged, and cannot leave the queue: where it belongs is full, or not to be written,
/// or not there. Those behind it go on.
struct Stuck {
  let outcome: Receipt.Outcome
  /// As they go beside a file that is rejected.
  let reasons: String
  let status: FileStatus
}

extension Inbox {
  /// Between two tries, in milliseconds.
  private static let rest: Int64 = 60_000

  /// Moves what was judged out of the queue; says why it stays.
  func leave(_ name: FileName, _ receipt: Receipt) -> String? {
    let reasons = receipt.outcome == .rejected ? reasonFile(name, receipt) : ""
    return leave(name, receipt.outcome, reasons)
  }

  /// Behind the commit, nothing that fails may keep anybody from hearing of it.
  @discardableResult
  func leave(_ name: FileName, _ outcome: Receipt.Outcome, _ reasons: String) -> String? {
    do {
      try move(name, outcome, reasons)
      return nil
    } catch {
      guard let status = try? spool.incoming.status(of: name) else { return nil }
      stuck[name] = Stuck(outcome: outcome, reasons: reasons, status: status)
      stuckSince = now()
      try? keepVerdict(outcome, reasons, ofStuck: name)
      return "it cannot be \(outcome.way): \(error)"
    }
  }

  private func move(_ name: FileName, _ outcome: Receipt.Outcome, _ reasons: String) throws {
    switch outcome {
    case .applied, .duplicate: try spool.remove(name)
    case .held: try spool.hold(name)
    case .rejected: try spool.reject(name, reasons: reasons)
    }
  }

  /// Another file of the same name is one that nobody judged.
  func isStuck(_ name: FileName) throws -> Bool {
    guard let file = stuck[name] else { return false }
    if try spool.incoming.status(of: name) == file.status { return true }
    stuck[name] = nil
    return false
  }

  func retryStuck() throws {
    if stuck.isEmpty || 0..<Inbox.rest ~= now() - stuckSince { return }
    for (name, file) in stuck where try isStuck(name) {
      stuck[name] = nil
      leave(name, file.outcome, file.reasons)
    }
    forgetVerdicts()
  }
}

extension Receipt.Outcome {
  fileprivate var way: String {
    switch self {
    case .applied, .duplicate: "removed"
    case .held: "moved to held/"
    case .rejected: "moved to rejected/"
    }
  }
}
