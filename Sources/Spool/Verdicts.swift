internal import CascadeModel
internal import CascadeStore
internal import CascadeSystem

/// A file leaves the queue after the commit that judged it. A rejected or held file has no entry in
/// the ledger. So the commit also stores its verdict, if a later file of the same commit was
/// applied.
extension Inbox {
  func storeVerdicts(_ verdicts: [(FileName, Receipt)], of files: ArraySlice<PreparedFile>) throws {
    let last = verdicts.lastIndex { $0.1.outcome == .applied } ?? 0
    for (file, (name, receipt)) in zip(files, verdicts.prefix(last)) {
      if receipt.outcome != .rejected && receipt.outcome != .held { continue }
      let reasons = receipt.outcome == .held ? nil : reasonFile(name, receipt)
      try writer.saveVerdict(
        FileVerdict(name: Array(name.bytes), fingerprint: file.fingerprint(), reasons: reasons))
      hasStoredVerdicts = true
    }
  }

  /// Stores the verdict on a file that cannot leave the queue, so that it is not judged again after
  /// a restart.
  func storeVerdict(
    _ outcome: Receipt.Outcome, _ reasons: String, ofStuck name: FileName
  ) throws {
    if outcome != .rejected && outcome != .held { return }
    guard case .content(let fingerprint) = try spool.queued(name) else { return }
    try writer.group {
      try writer.saveVerdict(
        FileVerdict(
          name: Array(name.bytes), fingerprint: fingerprint,
          reasons: outcome == .held ? nil : reasons))
    }
    hasStoredVerdicts = true
  }

  /// Deletes verdicts that were carried out. If that fails, the next commit still has them.
  func deleteVerdicts() {
    if !hasStoredVerdicts { return }
    let stuck = Set(stuck.keys.map { Array($0.bytes) })
    if (try? writer.deleteVerdicts(but: stuck)) != nil { hasStoredVerdicts = !stuck.isEmpty }
  }

  /// Carries out the verdicts left by a crash, and those on stuck files.
  func carryOutVerdicts() throws {
    let verdicts = try writer.verdicts
    if !verdicts.isEmpty { try writer.settle() }
    for verdict in verdicts {
      hasStoredVerdicts = true
      let name = FileName(bytes: verdict.name)
      if try spool.queued(name) != .content(verdict.fingerprint) { continue }
      leave(name, verdict.reasons == nil ? .held : .rejected, verdict.reasons ?? "")
    }
    deleteVerdicts()
  }
}
