internal import CascadeKit
internal import Glibc
internal import CascadeModel
internal import CascadeSystem

/// Commands that make, remove or check what Cascade keeps in the store.
enum AttachCommands {
  static func attach(_ arguments: inout Arguments) throws -> Commands.Prepared {
    let createIndexes = arguments.flag("--create-indexes")
    let createConstraints = arguments.flag("--create-constraints")
    let createFunctions = arguments.flag("--create-functions")
    let isSure = arguments.flag("--yes")
    try arguments.noOperands()
    return { client, output in
      if createIndexes, try !mayCreateIndexes(&client, output, isSure) {
        throw Failure("no index was created", Status.denied)
      }
      let reply = try client.call(
        "Attach",
        [
          "createIndexes": .bool(createIndexes), "createConstraints": .bool(createConstraints),
          "createFunctions": .bool(createFunctions),
        ])
      try output.show(reply["report"] ?? .null, describeAttached)
      return EX_OK
    }
  }

  /// Tells how long the indexes take, and asks for them on a terminal.
  private static func mayCreateIndexes(
    _ client: inout ControlClient, _ output: Output, _ isSure: Bool
  ) throws -> Bool {
    let indexes = try client.call("EstimateIndexes")["indexes"]?.array ?? []
    if indexes.isEmpty || output.json || output.quiet { return true }
    let seconds = indexes.reduce(0) { $0 + ($1["seconds"]?.number ?? 0) }
    let time = seconds < 1 ? "less than 1 s" : "about \(Int(seconds.rounded(.up))) s"
    let count = indexes.count.counted("index", "indexes")
    output.problem("creating \(count) takes \(time); nobody else can write to the store meanwhile")
    if isSure || isatty(STDIN_FILENO) != 1 { return true }
    StandardStream.error.write("create? [y/N] ")
    return readLine()?.lowercased().hasPrefix("y") == true
  }

  static func migrate(_ arguments: inout Arguments) throws -> Commands.Prepared {
    switch try arguments.operands() {
    case ["begin"]:
      return { client, output in
        _ = try client.call("BeginMigration")
        try output.acknowledge(["outcome": "migrating"])
        return EX_OK
      }
    case ["end"]:
      return { client, output in
        try output.show(client.call("EndMigration")["report"] ?? .null, describeAttached)
        return EX_OK
      }
    default: throw UsageError("expected migrate begin or migrate end")
    }
  }

  private static func describeAttached(_ report: JSON) -> String {
    let collections = DisplayText.texts(report["collections"])
    let what = collections.isEmpty ? "no tables" : collections.joined(separator: ", ")
    var lines = ["attached \(report["store"]?.string?.printable ?? ""): \(what)"]
    lines += describeThings(report, "created")
    lines += (report["problems"]?.array ?? []).map {
      "  ! \($0["path"]?.string?.printable ?? ""): \($0["message"]?.string?.printable ?? "")"
    }
    lines += (report["missingIndexes"]?.array ?? []).map {
      "  ! no index on "
        + "\($0["table"]?.string ?? "")(\($0["column"]?.string ?? ""))".printable
        + ": attach --create-indexes creates it"
    }
    let statements = DisplayText.texts(report["statements"])
    if !statements.isEmpty {
      lines.append("  ! only a superuser, or the owner of the tables, may run:")
    }
    lines += statements.map { "    \($0.printable);" }
    if let plan = report["plan"]?.integer {
      let count = DisplayText.count(report["dangling"], "node depends", "nodes depend")
      lines.append("  ! held as plan \(plan): \(count) on dangling references")
      lines.append("  cascadectl approve \(plan) deletes them")
    }
    return lines.joined(separator: "\n")
  }

  static func roots(_ arguments: inout Arguments) throws -> Commands.Prepared {
    let operands = try arguments.operands()
    guard operands.first == "take" else { throw UsageError("expected roots take [ROOT...]") }
    let wanted: JSON = ["roots": .array(operands.dropFirst().map(JSON.string))]
    return { client, output in
      try output.show(client.call("TakeRoots", wanted)["report"] ?? .null, describeTaken)
      return EX_OK
    }
  }

  private static func describeTaken(_ report: JSON) -> String {
    let taken = (report["taken"]?.array ?? []).map { root in
      let parts = ["root", "path", "from"].map { root[$0]?.string?.printable ?? "" }
      return "took \(parts[0]) (\(parts[1])): it belonged to \(parts[2])"
    }
    return taken.isEmpty ? "no root belongs to another store" : taken.joined(separator: "\n")
  }

  static func detach(_ arguments: inout Arguments) throws -> Commands.Prepared {
    try arguments.noOperands()
    return { client, output in
      try output.show(client.call("Detach")["report"] ?? .null, describeDetached)
      return EX_OK
    }
  }

  private static func describeDetached(_ report: JSON) -> String {
    let store = report["store"]?.string?.printable ?? ""
    let removed = describeThings(report, "removed")
    let files = DisplayText.count(report["files"], "file", "files")
    let hasLeft = report["files"]?.integer ?? 0 > 0
    let left = hasLeft ? ["  ! \(files) still to be moved or restored; they were not moved"] : []
    return
      (["detached \(store)"]
      + (removed.isEmpty ? ["  nothing to remove"] : removed) + left
      + ["  change files wait until attach or a restart of cascaded"])
      .joined(separator: "\n")
  }

  /// One line for each kind of thing. If there are many, only their number; `--json` lists them.
  private static func describeThings(_ report: JSON?, _ verb: String) -> [String] {
    [
      ("triggers", "trigger"), ("tables", "table"), ("indexes", "index"),
      ("constraints", "constraint"), ("functions", "function"),
    ].compactMap { (many, one) in
      let names = DisplayText.texts(report?[many])
      if names.isEmpty { return nil }
      let title = names.count.counted(one, many)
      let list = names.count > 5 ? "" : ": \(names.joined(separator: ", "))"
      return "  \(verb) \(title)\(list)"
    }
  }
}
