internal import CascadeKit
internal import CascadeModel
internal import CascadeSystem
internal import Glibc

/// `erase`: a deletion that leaves nothing, and a report of it.
enum EraseCommand {
  static func prepare(_ arguments: inout Arguments) throws -> Commands.Prepared {
    let (isDry, rewrites) = (arguments.flag("--dry-run"), arguments.flag("--vacuum"))
    let expected = try arguments.numberOption("--expect")
    let report = try arguments.option("--report")
    var accepted: [String] = []
    while let column = try arguments.option("--accept") {
      accepted += column.split(separator: ",").map(String.init)
    }
    let node = try arguments.operand("node")
    let call: JSON = [
      "node": .string(node), "dryRun": .bool(isDry), "vacuum": .bool(rewrites),
      "expect": expected.map(JSON.integer) ?? .null,
      "accept": .array(accepted.map(JSON.string)),
    ]
    return { client, output in
      // Nothing is erased if the report could not be written.
      let file = try report.map { try ReportFile($0) }
      if rewrites && !isDry && !output.json && !output.quiet {
        Output.complain("the database is rewritten: programs that write wait for that")
      }
      let erasure = try ProgressLine.call("Erase", call, &client, output)["erasure"] ?? .null
      if let text = erasure["report"], !text.isNull {
        try file?.write(text)
      } else {
        file?.discard()
      }
      let status =
        isDry && erasure["state"] == "held" ? EX_OK : JobCommands.exitStatus(erasure)
      try output.show(erasure, wentWrong: status != EX_OK) { describe($0, isDry, report) }
      return status
    }
  }

  private static func describe(_ erasure: JSON, _ isDry: Bool, _ report: String?) -> String {
    let isBegun = erasure["job"]?.integer != nil
    var lines = [head(erasure, isBegun)] + DisplayText.denials(erasure["blocked"]?.array ?? [])
    lines += (erasure["evidence"]?.array ?? []).map(evidence)
    lines += (erasure["files"]?.array ?? []).map {
      "  ! \($0.string?.printable ?? "") names it: `cascadectl spool drop` it, or let it be applied"
    }
    let traces = erasure["traces"]?.array?.compactMap(\.string?.printable) ?? []
    lines += traces.prefix(5).map { "  ! something of it is still in the file: \($0)" }
    if !traces.isEmpty {
      lines.append(
        "  cascadectl erase … --vacuum removes \(traces.count == 1 ? "it" : "all \(traces.count)")")
    }
    if let plan = erasure["plan"]?.integer, erasure["state"] == "held" {
      lines.append("  cascadectl approve \(plan) allows it")
    }
    if let salt = erasure["salt"]?.string, report != nil {
      lines.append("  the salt of the report's hashes, which is told once: \(salt)")
    }
    return lines.joined(separator: "\n")
  }

  private static func head(_ erasure: JSON, _ isBegun: Bool) -> String {
    let counts = DisplayText.byCollection(erasure)
    let count = DisplayText.count(erasure["deletedCount"], "node", "nodes")
    let verb = isBegun && erasure["state"] != "held" ? "erased" : "would be erased"
    return "\(erasure["state"]?.string ?? ""): \(count) \(verb)"
      + (counts.isEmpty ? "" : ": \(counts)")
  }

  private static func evidence(_ column: JSON) -> String {
    let columns = (column["columns"]?.array ?? []).compactMap(\.string?.printable)
    let name = "\(column["table"]?.string?.printable ?? "").\(columns.joined(separator: ", "))"
    return
      "  ! \(name) seems to refer to \(column["to"]?.string?.printable ?? ""), and no relationship "
      + "covers it (\(column["evidence"]?.string?.printable ?? "")): declare it, or --accept \(name)"
  }
}

/// A file that is there, empty, before anything is erased.
private struct ReportFile {
  private let path: String
  private let part: String

  init(_ path: String) throws {
    (self.path, part) = (path, "\(path).part")
    if try FileStatus.of(path) != nil { throw Failure("\(path) is there already", EX_CANTCREAT) }
    _ = try Route(to: part).parent.file(Route(to: part).name, .createNew, mode: 0o600)
  }

  func write(_ report: JSON) throws {
    let route = try Route(to: part)
    let file = try route.parent.file(route.name, .readWrite(create: true))
    try file.writeAll(Array("\(report.text)\n".utf8))
    try file.sync()
    try route.parent.rename(route.name, to: route.parent, asNew: Route(to: path).name)
  }

  func discard() {
    guard let route = try? Route(to: part) else { return }
    _ = try? route.parent.remove(route.name)
  }
}
