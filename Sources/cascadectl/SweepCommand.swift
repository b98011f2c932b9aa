internal import CascadeKit
internal import Glibc
internal import CascadeModel
internal import CascadeSystem
internal import CascadeVarlink

/// `sweep`: sweeps one store, or all stores that the daemon serves.
enum SweepCommand {
  static func command(_ arguments: inout Arguments) throws -> Commands.Prepared {
    let dryRun = arguments.flag("--dry-run")
    // A dry run has no output before its end.
    let waits = !arguments.flag("--no-wait") || dryRun
    let kinds = try arguments.operands()
    let parameters: JSON = [
      "kinds": .array(kinds.map(JSON.string)), "dryRun": .bool(dryRun), "wait": .bool(waits),
    ]
    return { client, output in
      try EachStore.run(&client) { client, title in
        try sweep(&client, output, parameters, waits, title)
      }
    }
  }

  private static func sweep(
    _ client: inout ControlClient, _ output: Output, _ parameters: JSON, _ waits: Bool,
    _ title: String
  ) throws -> CInt {
    if waits { return try wait(&client, output, parameters, title) }
    let begun = try client.call("Sweep", parameters)["sweep"] ?? .null
    try output.acknowledge(begun)
    return EX_OK
  }

  private static func wait(
    _ client: inout ControlClient, _ output: Output, _ parameters: JSON, _ title: String
  ) throws -> CInt {
    var sweep = try ProgressLine.call("Sweep", parameters, &client, output)["sweep"] ?? .null
    // With several stores, each line must name its store.
    if !title.isEmpty, case .object(let fields) = sweep, let store = client.store {
      sweep = .object([JSON.Field("store", .string(store))] + fields)
    }
    let status = exitStatus(sweep)
    try output.show(sweep, wentWrong: status != EX_OK) {
      title + describe($0, parameters["dryRun"]?.bool ?? false)
    }
    return status
  }

  private static func exitStatus(_ sweep: JSON) -> CInt {
    switch sweep["outcome"]?.string {
    case "held": Status.held
    case "blocked": Status.denied
    default: EX_OK
    }
  }

  private static func describe(_ sweep: JSON, _ dryRun: Bool) -> String {
    let plan = sweep["plan"]?.integer
    let advice = plan.map { ["  cascadectl approve \($0) allows it"] } ?? []
    return
      ([plan.map { headOfHeld($0, sweep) } ?? head(sweep, dryRun)]
      + DisplayText.denials(sweep["blocked"]?.array ?? []) + describeFiles(sweep) + advice)
      .joined(separator: "\n")
  }

  private static func head(_ sweep: JSON, _ dryRun: Bool) -> String {
    let count = DisplayText.count(sweep["deletedCount"], "node", "nodes")
    let deleted = "\(count) \(dryRun ? "would be deleted" : "deleted")"
    let marked = sweep["marked"].map { ", \(DisplayText.count($0, "row", "rows")) marked" } ?? ""
    return "\(sweep["outcome"]?.string ?? ""): \(deleted)\(edgesAlone(sweep))\(marked)"
  }

  /// The number of removed edges, if the sweep only set references to null.
  private static func edgesAlone(_ sweep: JSON) -> String {
    if sweep["deletedCount"]?.integer != 0 || sweep["edgesRemoved"]?.integer ?? 0 == 0 { return "" }
    return ", \(DisplayText.count(sweep["edgesRemoved"], "edge", "edges")) removed"
  }

  /// The first line of a held sweep. If some kinds were done before another was held, there is a
  /// batch.
  private static func headOfHeld(_ plan: Int64, _ sweep: JSON) -> String {
    let isDone = sweep["batch"]?.integer != nil
    var held = DisplayText.count(sweep["heldCount"], "node", "nodes")
    if sweep["heldEdges"]?.integer ?? 0 > 0 {
      held += " and \(DisplayText.count(sweep["heldEdges"], "edge", "edges"))"
    }
    let done = DisplayText.count(sweep["deletedCount"], "node", "nodes")
    let parts = (sweep["held"]?.array ?? []).compactMap { part in
      part["value"]?["message"]?.string.map {
        "\n  plan \(part["plan"]?.text ?? ""): \($0.printable)"
      }
    }
    return "held as plan \(plan): \(held) would be deleted"
      + (isDone ? ", after \(done) deleted" : "") + parts.joined()
  }

  private static func describeFiles(_ sweep: JSON) -> [String] {
    var lines: [String] = []
    if sweep["files"]?.integer ?? 0 > 0 {
      lines.append(
        "  \(DisplayText.count(sweep["files"], "file", "files")) lost their last edge")
    }
    guard let others = sweep["unreferenced"] else { return lines }
    if others["count"]?.integer ?? 0 > 0 {
      let count = DisplayText.count(others["count"], "file was", "files were")
      lines.append("  \(count) never referenced by an edge, and not touched")
      lines += DisplayText.firstFew(others["paths"], of: others["count"], DisplayText.destination)
    }
    return lines
      + (others["unreadable"]?.array ?? []).map {
        "  ! not readable: \($0.string?.printable ?? "")"
      }
  }
}
