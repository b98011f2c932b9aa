internal import Model
internal import Store
internal import System

/// A file leaves the queue behind the commit that judged it. What was refused has no entry in the ledger,
/// so the commit keeps the verdict where it has others behind it.
extension Inbox {
  func keepVerdicts(_ verdicts: [(FileName, Receipt)], of files: ArraySlice<PreparedFile>) throws {
    let last = verdicts.lastIndex { $0.1.outcome == .applied } ?? 0
    for (file, (name, receipt)) in zip(files, verdicts.prefix(last)) {
      if receipt.outcome != .rejected && receipt.outcome != .held { continue }
      let reasons = receipt.outcome == .held ? nil : reasonFile(name, receipt)
      try writer.keep(
        Verdict(name: Array(name.bytes), fingerprint: file.fingerprint(), reasons: reasons))
      hasVerdicts = true
    }
  }

  func forgetVerdicts() throws {
    if !hasVerdicts { return }
    try writer.forgetVerdicts()
    hasVerdicts = false
  }

  /// Those that a crash left.
  func executeVerdicts() throws {
    let verdicts = try writer.verdicts
    if verdicts.isEmpty { return }
    for verdict in verdicts {
      let name = FileName(bytes: verdict.name)
      if try spool.queued(name) != .content(verdict.fingerprint) { continue }
      if let reasons = verdict.reasons {
        try spool.reject(name, reasons: reasons)
      } else {
        try spool.hold(name)
      }
    }
    try writer.forgetVerdicts()
  }
}
