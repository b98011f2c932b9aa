internal import Store
internal import System

/// A file that was judged, and cannot leave the queue: where it belongs is full, or not to be written,
/// or not there. Those behind it go on.
struct Stuck {
  let receipt: Receipt
  let status: FileStatus
}

extension Inbox {
  /// Between two tries, in milliseconds.
  private static let rest: Int64 = 60_000

  /// Moves what was judged out of the queue; says why it stays.
  func leave(_ name: FileName, _ receipt: Receipt) throws -> String? {
    do {
      try move(name, receipt)
      return nil
    } catch let error as SystemError {
      guard let status = try spool.incoming.status(of: name) else { return nil }
      stuck[name] = Stuck(receipt: receipt, status: status)
      stuckSince = now()
      return "it cannot be \(receipt.outcome.way): \(error)"
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
      _ = try leave(name, file.receipt)
    }
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
