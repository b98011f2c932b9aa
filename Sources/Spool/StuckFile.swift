internal import CascadeStore
internal import CascadeSystem

/// A file that was judged but cannot leave the queue, because its target directory is full, not
/// writable or missing. The files behind it are still taken.
struct StuckFile {
  let outcome: Receipt.Outcome
  /// The content of its reason file, if it is rejected.
  let reasons: String
  let status: FileStatus
}

extension Inbox {
  /// Milliseconds between two tries: few at first, because most causes soon pass.
  static let shortestRetry: Int64 = 1_000
  private static let longestRetry: Int64 = 16_000

  /// When to try files again that are stuck, or set aside; nil if there are none.
  package var retryDelay: Duration? {
    let stuck = stuck.isEmpty ? nil : retryInterval
    let setAside = spool.nextTry().map { max(0, $0 - now()) }
    return [stuck, setAside].compactMap(\.self).min().map { .milliseconds($0) }
  }

  /// How a judged file left the queue, or why it could not.
  struct Departure {
    var trouble: String?
    var rejectedAs: FileName?
  }

  /// Moves a judged file out of the queue.
  func moveOut(_ name: FileName, _ receipt: Receipt) -> Departure {
    let reasons = receipt.outcome == .rejected ? reasonFile(name, receipt) : ""
    spool.forgetFailure(of: name)
    retryInterval = Inbox.shortestRetry
    return leave(name, receipt.outcome, reasons)
  }

  /// The same. It runs after the commit and does not throw, so that the outcome is still reported.
  @discardableResult
  func leave(
    _ name: FileName, _ outcome: Receipt.Outcome, _ reasons: String, storesVerdict: Bool = true
  ) -> Departure {
    do {
      return Departure(rejectedAs: try move(name, outcome, reasons))
    } catch {
      guard let status = try? spool.parts.incoming.status(of: name) else { return Departure() }
      stuck[name] = StuckFile(outcome: outcome, reasons: reasons, status: status)
      stuckSince = now()
      if storesVerdict { try? storeVerdict(outcome, reasons, ofStuck: name) }
      return Departure(trouble: "it cannot be \(outcome.moveDescription): \(error)")
    }
  }

  /// Returns its name among the rejected files, if it is there now.
  private func move(
    _ name: FileName, _ outcome: Receipt.Outcome, _ reasons: String
  ) throws -> FileName? {
    switch outcome {
    case .applied, .duplicate: try spool.remove(name)
    case .held: try spool.hold(name)
    case .rejected: return try spool.reject(name, reasons: reasons)
    }
    return nil
  }

  /// Whether this file is stuck. A changed file of the same name was not judged.
  func isStuck(_ name: FileName) throws -> Bool {
    guard let file = stuck[name] else { return false }
    if try spool.parts.incoming.status(of: name) == file.status { return true }
    stuck[name] = nil
    return false
  }

  func retryStuck() throws {
    if stuck.isEmpty || 0..<retryInterval ~= now() - stuckSince { return }
    retryInterval = min(2 * retryInterval, Inbox.longestRetry)
    for (name, file) in stuck where try isStuck(name) {
      stuck[name] = nil
      leave(name, file.outcome, file.reasons, storesVerdict: false)
    }
    deleteVerdicts()
  }
}

extension Receipt.Outcome {
  fileprivate var moveDescription: String {
    switch self {
    case .applied, .duplicate: "removed"
    case .held: "moved to held/"
    case .rejected: "moved to rejected/"
    }
  }
}
