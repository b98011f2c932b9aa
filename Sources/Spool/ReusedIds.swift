internal import CascadeModel
internal import CascadeStore

/// A change file whose id was used before: the same content is a duplicate, other content is
/// rejected.
extension Inbox {
  /// The receipt for a file that the ledger already has; nil if it is new or unfinished.
  func ledgerReceipt(_ file: PreparedFile) throws -> Receipt? {
    guard let entry = try writer.ledgerEntry(file.id) else { return nil }
    if entry.fingerprint != (try file.fingerprint()) {
      var receipt = Receipt(id: file.id, outcome: .rejected)
      receipt.reasons = [
        Reason(
          .idReused,
          "the id \"\(file.id)\" was already used for different content; "
            + "use a new id for a new change")
      ]
      return receipt
    }
    if !entry.isComplete { return nil }
    var receipt = entry.receipt
    receipt.outcome = .duplicate
    return receipt
  }
}
