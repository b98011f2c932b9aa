internal import CascadeKit
internal import Glibc
internal import CascadeModel
internal import CascadeSystem
internal import Zstandard

/// `apply`: submits change files one after the other, and prints the outcome of each.
enum Apply {
  static func command(_ arguments: inout Arguments) throws -> Commands.Prepared {
    let files = try arguments.operands()
    if files.isEmpty { throw UsageError("apply needs a FILE, or - for standard input") }
    return { client, output in
      var status = EX_OK
      for file in files {
        var source = try ChangeSource(file)
        let receipt = try client.apply(name: source.name) { try source.next() }
        let own = exitStatus(receipt)
        try output.show(receipt, wentWrong: own != EX_OK) {
          describe($0, file == "-" ? "standard input" : file)
        }
        status = max(status, own)
      }
      return status
    }
  }

  static func approve(_ arguments: inout Arguments) throws -> Commands.Prepared {
    let plan = try arguments.number("plan")
    return { client, output in
      let receipt = try client.call("Approve", ["plan": .integer(plan)])["receipt"] ?? .null
      let status = exitStatus(receipt)
      try output.show(receipt, wentWrong: status != EX_OK) { describe($0, "plan \(plan)") }
      return status
    }
  }

  static func reject(_ arguments: inout Arguments) throws -> Commands.Prepared {
    let plan = try arguments.number("plan")
    return { client, output in
      try output.show(client.call("Reject", ["plan": .integer(plan)])) { answer in
        let givenUp = DisplayText.count(
          answer["givenUp"], "node or reference is", "nodes and references are")
        return "plan \(plan): rejected; \(givenUp) given up, "
          + "\(DisplayText.count(answer["restored"], "row is", "rows are")) back"
      }
      return EX_OK
    }
  }

  private static func exitStatus(_ receipt: JSON) -> CInt {
    switch receipt["outcome"]?.string {
    case "applied", "duplicate":
      return receipt["leftCount"]?.integer ?? 0 > 0 ? Status.denied : EX_OK
    case "held": return Status.held
    default:
      let codes = receipt["reasons"]?.array?.compactMap { $0["code"]?.string } ?? []
      return codes.contains("denied") ? Status.denied : EX_DATAERR
    }
  }

  private static func describe(_ receipt: JSON, _ file: String) -> String {
    let outcome = receipt["outcome"]?.string ?? "?"
    let reasons = (receipt["reasons"]?.array ?? []).map { "  ! \(DisplayText.reason($0))" }
    switch outcome {
    case "applied": return describeApplied(receipt, file)
    case "duplicate":
      let batch = receipt["batch"]?.text ?? "?"
      return "\(file): duplicate: it was applied before, as batch \(batch); nothing was done"
    case "held":
      let plan = receipt["plan"]?.text ?? ""
      let advice = "  cascadectl approve \(plan) allows it"
      return (["\(file): held as plan \(plan)"] + reasons + [advice]).joined(separator: "\n")
    default: return (["\(file): \(outcome)"] + reasons).joined(separator: "\n")
    }
  }

  private static func describeApplied(_ receipt: JSON, _ file: String) -> String {
    var parts: [String] = []
    for (name, one, many) in [
      ("edgesAdded", "edge added", "edges added"),
      ("edgesRemoved", "edge removed", "edges removed"),
      ("deletedCount", "node deleted", "nodes deleted"), ("notices", "notice", "notices"),
      ("passedOver", "delete or unlink found nothing", "deletes or unlinks found nothing"),
    ] where receipt[name]?.integer ?? 0 > 0 {
      parts.append(DisplayText.count(receipt[name], one, many))
    }
    if let restored = receipt["restored"] {
      parts.insert(DisplayText.count(restored, "node restored", "nodes restored"), at: 0)
    }
    let summary = parts.isEmpty ? "applied" : "applied: \(parts.joined(separator: ", "))"
    let deleted = DisplayText.firstFew(
      receipt["deleted"], of: receipt["deletedCount"], DisplayText.node)
    let own = (receipt["deletedOwn"]?.array ?? []).map(DisplayText.node)
    let warning =
      own.isEmpty
      ? []
      : [
        "  ! written and deleted at once, because a reference that the file gave leads nowhere: "
          + own.prefix(3).joined(separator: ", ")
          + (own.count > 3 ? " and \(own.count - 3) more" : "")
      ]
    return (["\(file): \(summary)"] + deleted + warning + UndoCommands.left(receipt)).joined(
      separator: "\n")
  }
}

/// Reads a change file or standard input in parts, with the name under which it is submitted.
///
/// What zstd has compressed, as the archive is, is read as what it was.
struct ChangeSource: ~Copyable {
  let name: String
  private let file: FileDescriptor
  private var first: [UInt8]?
  private let decompressor: ZstdDecompressor?

  init(_ path: String) throws {
    let file = try path == "-" ? StandardStream.input.duplicate() : FileDescriptor.open(path)
    var first: [UInt8]
    do {
      first = try ChangeSource.read(file)
    } catch let error as SystemError {
      // Opening a directory succeeds; only reading it fails.
      throw SystemError(code: error.code, call: error.call, path: path)
    }
    var decompressor: ZstdDecompressor?
    if first.starts(with: ChangeSource.magic) {
      decompressor = try ZstdDecompressor()
      first = try decompressor!.decompress(first)
    }
    name = try ChangeSource.name(path.withoutSuffix(".zst"), first)
    self.file = file
    self.first = first
    self.decompressor = decompressor
  }

  /// What a file of zstd begins with.
  private static let magic: [UInt8] = [0x28, 0xb5, 0x2f, 0xfd]

  mutating func next() throws -> [UInt8] {
    if let first {
      self.first = nil
      // An empty part would be the end.
      if !first.isEmpty || decompressor == nil { return first }
    }
    while true {
      let part = try ChangeSource.read(file)
      guard let decompressor else { return part }
      if part.isEmpty && decompressor.isAtEnd { return part }
      if part.isEmpty { throw ZstdError.isCut }
      let content = try decompressor.decompress(part)
      if !content.isEmpty { return content }
    }
  }

  private static func read(_ file: borrowing FileDescriptor) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while try file.read(into: &bytes, upTo: ControlClient.partSize) == nil {
      try file.waitBlocking(for: .readable, milliseconds: -1)
    }
    return bytes
  }

  /// The name to submit under. A file keeps its own name, so that submitting it again is a
  /// duplicate. Standard input gets a new name each time.
  private static func name(_ path: String, _ first: [UInt8]) throws -> String {
    let base = String(path.split(separator: "/").last ?? "")
    if base.hasSuffix(".json") || base.hasSuffix(".ndjson") { return base.droppingDots }
    let form = isLines(first) ? "ndjson" : "json"
    if path != "-" { return "\(base.droppingDots).\(form)" }
    let random = try Process.randomBytes(4).map { String($0, radix: 16) }.joined()
    return "stdin-\(SystemClock.wall())-\(random).\(form)"
  }

  /// Whether the content is lines of changes: the first line is a whole object without a list of
  /// changes.
  private static func isLines(_ bytes: [UInt8]) -> Bool {
    let line = Array(bytes.prefix { $0 != UInt8(ascii: "\n") })
    guard let json = try? JSON.parse(line, as: .json) else { return false }
    return json["changes"] == nil
  }
}

extension String {
  fileprivate func withoutSuffix(_ suffix: String) -> String {
    hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
  }

  /// The name without leading dots, because the queue ignores names that begin with one.
  fileprivate var droppingDots: String { String(drop { $0 == "." }) }
}
