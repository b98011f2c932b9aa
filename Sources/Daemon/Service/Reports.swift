internal import Model
internal import Spool
internal import Store
internal import System

/// What happened, for whoever reads the log: one line for a file that deleted something or was not
/// applied, one for a sweep that did something, none for what went as it should.
extension StoreService {
  func report(_ outcome: Inbox.Outcome) {
    let receipt = outcome.receipt
    switch receipt.outcome {
    case .duplicate: break
    case .applied:
      if receipt.deletedCount > 0 { reportDeletion(receipt) }
    case .rejected: reportRejection(outcome)
    case .held:
      Log.write(
        .warning,
        "\(store): \(outcome.title) is held: \(receipt.reasons.first?.message ?? ""); "
          + "`cascadectl approve \(receipt.plan ?? 0)` lets it pass",
        fields: fields + [(.plan, String(receipt.plan ?? 0)), (.file, outcome.name.description)],
        messageID: .held)
    }
  }

  private func reportDeletion(_ receipt: Receipt) {
    let author = receipt.author.map { " by \($0.printable)" } ?? ""
    Log.write(
      .info,
      "\(store): \(receipt.id.printable)\(author) deleted \(nodes(receipt.deletedCount)) "
        + "(batch \(receipt.batch ?? 0))",
      fields: fields + [
        (.batch, String(receipt.batch ?? 0)), (.deleted, String(receipt.deletedCount)),
        (.author, receipt.author ?? ""),
      ], messageID: .deleted)
  }

  private func reportRejection(_ outcome: Inbox.Outcome) {
    let reasons = outcome.receipt.reasons
    let more = reasons.count > 1 ? " (and \(reasons.count - 1) more reasons)" : ""
    let first = reasons.first
    let place = first?.line.map { ":\($0)\(first?.column.map { ":\($0)" } ?? "")" } ?? ""
    Log.write(
      .warning, "\(store): rejected \(outcome.title)\(place): \(first?.message ?? "")\(more)",
      fields: fields + [
        (.file, outcome.name.description), (.author, outcome.receipt.author ?? ""),
      ], messageID: .rejected)
  }

  func report(_ result: SweepResult, number: Int64) {
    if result.outcome == .nothing { return }
    if result.outcome == .held { return reportHeld(result, number: number) }
    Log.write(
      result.outcome == .done ? .info : .warning,
      "\(store): sweep \(number) \(result.outcome.rawValue), deleted "
        + nodes(result.deletedCount) + result.blockedText,
      fields: fields + [
        (.sweep, String(number)), (.deleted, String(result.deletedCount)),
        (.batch, result.batch.map { String($0) } ?? ""),
      ], messageID: .swept)
  }

  private func reportHeld(_ result: SweepResult, number: Int64) {
    let plan = result.plan ?? 0
    Log.write(
      .warning, "\(store): sweep \(number) is held: \(result.heldText(plan: plan))",
      fields: fields + [
        (.sweep, String(number)), (.plan, String(plan)), (.deleted, String(result.deletedCount)),
      ], messageID: .held)
  }

  func reportMismatch(_ problems: [String]) {
    if problems.isEmpty {
      Log.write(
        .notice, "\(store): the model and the tables fit again", fields: fields,
        messageID: .recovered)
    } else {
      Log.write(
        .warning,
        "\(store): nothing is deleted while the model and the tables differ: "
          + problems.joined(separator: "; "), fields: fields, messageID: .mismatch)
    }
  }

  func reportReplaced() {
    Log.write(
      .warning,
      "\(store): another file is there now; it is served from here on, and references to nothing "
        + "are looked for", fields: fields, messageID: .replaced)
  }

  func reportAttached(_ report: AttachReport) {
    Log.write(
      .notice, "\(store): attached, \(report.collections.count) collections are tables",
      fields: fields, messageID: .attached)
  }

  func reportDetached() {
    Log.write(
      .notice, "\(store): detached; change files wait until it is attached again", fields: fields,
      messageID: .detached)
  }

  private var store: String { configuration.path }

  private func nodes(_ count: Int) -> String { count == 1 ? "1 node" : "\(count) nodes" }
}

extension SweepResult {
  /// The first of the reasons, for whoever reads the log at night.
  fileprivate var blockedText: String {
    guard let first = blocked.first else { return "" }
    return ": \(first.message)" + (blocked.count > 1 ? " (and \(blocked.count - 1) more)" : "")
  }
}

extension Inbox.Outcome {
  fileprivate var title: String { name.description.printable }
}

extension LogMessageID {
  static let deleted = LogMessageID("8b1c2ae66b8e4a0e9d5a0e3f6c1f7a11")
  static let rejected = LogMessageID("5f3d7c0a4f5b4e5c9a7be2d61c8e9b22")
  static let held = LogMessageID("c2e7f4b19d6a4f3f8a1d0b5e7c9a3d33")
  static let swept = LogMessageID("1d9a6e5c3b7f4d2ea8c4f0b6d3e5a744")
  static let recovered = LogMessageID("7b2f9d4e1c6a48d5a3e8b0c4f7d1e966")
  static let trouble = LogMessageID("e4a1b7d83c5f49c6b2d8a6f1c7e3b955")
  static let mismatch = LogMessageID("30c6b9d2a1f74e58b7d40c9e62f8a177")
  static let replaced = LogMessageID("94f1e2c7d05b4a3e8c6a17b3d9e0f288")
  static let attached = LogMessageID("a8d37c50e94b4f12860f5d2b1e7c9399")
  static let detached = LogMessageID("f2b5810d6c3e49a7b94c8e07d1a3f4aa")
}
