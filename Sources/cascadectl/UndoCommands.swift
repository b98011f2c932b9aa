internal import CascadeKit
internal import Glibc
internal import CascadeModel
internal import CascadeSystem

/// Commands about batches: what was deleted together, and undo.
enum UndoCommands {
  static func undo(_ arguments: inout Arguments) throws -> Commands.Prepared {
    let subject = try arguments.operand("batch or node")
    if Int64(subject) == nil && !subject.contains("/") && !subject.hasPrefix("[") {
      throw UsageError("\"\(subject)\" is neither the number of a batch nor a node")
    }
    let parameters: JSON =
      Int64(subject).map { ["batch": .integer($0)] } ?? ["node": .string(subject)]
    return { client, output in
      let reply = try ProgressLine.call("Undo", parameters, &client, output)
      let undone = reply["undone"] ?? .null
      let isWhole = undone["leftCount"]?.integer == 0
      try output.show(undone, wentWrong: !isWhole, describe)
      return isWhole ? EX_OK : Status.denied
    }
  }

  private static func describe(_ undone: JSON) -> String {
    let counts = [
      ("restored", "node", "nodes"), ("rows", "other row", "other rows"),
      ("edges", "edge", "edges"), ("references", "reference", "references"),
      ("files", "file", "files"),
    ]
    let list = counts.filter { $0.0 == "restored" || undone[$0.0]?.integer ?? 0 > 0 }
      .map { DisplayText.count(undone[$0.0], $0.1, $0.2) }.joined(separator: ", ")
    let remarks = undone["remarks"]?.array?.compactMap(\.string?.printable) ?? []
    return (["restored: \(list)"] + remarks + left(undone) + dangling(undone))
      .joined(separator: "\n")
  }

  static func left(_ undone: JSON) -> [String] {
    if undone["leftCount"]?.integer ?? 0 == 0 { return [] }
    let lines = DisplayText.firstFew(undone["left"], of: undone["leftCount"]) {
      "\($0["what"]?.string?.printable ?? "?"): \($0["reason"]?.string?.printable ?? "")"
    }
    return ["not restored, still in the trash:"] + lines
  }

  private static func dangling(_ undone: JSON) -> [String] {
    if undone["danglingCount"]?.integer == 0 { return [] }
    let lines = DisplayText.firstFew(
      undone["dangling"], of: undone["danglingCount"], DisplayText.edge)
    return ["restored with dangling references; the next sweep applies their rules:"] + lines
  }

  static func batches(_ arguments: inout Arguments) throws -> Commands.Prepared {
    let after = try arguments.numberOption("--after") ?? 0
    let since = try arguments.option("--since").map(GivenTime.past)
    let last = try arguments.numberOption("--last")
    try arguments.noOperands()
    if let last, last < 1 { throw UsageError("--last needs a number above 0") }
    if last != nil && after != 0 { throw UsageError("--last and --after do not go together") }
    return { client, output in
      func list(_ batches: [JSON]) throws {
        let isMeant = { (batch: JSON) in since.map { batch["at"]?.integer ?? 0 >= $0 } ?? true }
        try output.list(batches.filter(isMeant), describeBatch)
      }
      if let last {
        try list(newest(last, &client))
      } else {
        try client.stream("Batches", ["after": .integer(after)]) {
          try list($0["batches"]?.array ?? [])
        }
      }
      return EX_OK
    }
  }

  /// The last batches, the oldest first.
  private static func newest(_ count: Int64, _ client: inout ControlClient) throws -> [JSON] {
    let reply = try client.call("Batches", ["newest": true, "limit": .integer(count)])
    return (reply["batches"]?.array ?? []).reversed()
  }

  private static func describeBatch(_ batch: JSON) -> String {
    let author = batch["author"]?.string.map { " (\($0.printable))" } ?? ""
    let counts = DisplayText.byCollection(batch)
    let count = DisplayText.count(batch["deletedCount"], "node", "nodes")
    return "\(batch["batch"]?.text ?? "")  \(time(batch["at"]))  "
      + "\(batch["id"]?.string?.printable ?? "")\(author): \(count) \(DisplayText.done(batch))"
      + (counts.isEmpty ? "" : ", \(counts)") + "; \(way(batch))"
  }

  private static func way(_ batch: JSON) -> String {
    guard let undone = batch["undone"], !undone.isNull else {
      guard let until = batch["undoUntil"], !until.isNull else { return "cannot be undone" }
      return "can be undone until \(time(until))"
    }
    let partly = undone["partly"]?.bool == true ? "partly " : ""
    return "\(partly)undone at \(time(undone["at"])) by \(undone["by"]?.string?.printable ?? "")"
  }

  private static func time(_ json: JSON?) -> String {
    json?.integer.map(SystemClock.text) ?? "?"
  }
}
