internal import CascadeKit
internal import Glibc
internal import CascadeModel

/// Deletions that begin here: `delete`, `jobs` and `cancel`.
enum JobCommands {
  static func delete(_ arguments: inout Arguments) throws -> Commands.Prepared {
    let (isDry, isPartial) = (arguments.flag("--dry-run"), arguments.flag("--partial"))
    let waits = !arguments.flag("--no-wait") || isDry
    let expected = try arguments.numberOption("--expect")
    let condition = try arguments.option("--where")
    let operands = try arguments.operands()
    var parameters: [JSON.Field] = [
      .init("dryRun", .bool(isDry)), .init("partial", .bool(isPartial)),
      .init("wait", .bool(waits)),
    ]
    if let expected { parameters.append(.init("expect", .integer(expected))) }
    if let condition {
      if operands.count != 1 { throw UsageError("delete --where needs one COLLECTION") }
      parameters += [
        .init("collection", .string(operands[0])), .init("where", .string(condition)),
      ]
    } else {
      if operands.isEmpty {
        throw UsageError("delete needs a NODE, or a COLLECTION and --where")
      }
      parameters.append(.init("nodes", .array(operands.map(JSON.string))))
    }
    let call = JSON.object(parameters)
    return { client, output in
      let job = try ProgressLine.call("Delete", call, &client, output)["job"] ?? .null
      // Whether it is held already when it is not waited for is chance.
      let isOver = isDry ? job["state"] != "held" : waits
      let status = isOver ? exitStatus(job) : EX_OK
      try output.show(job, wentWrong: status != EX_OK) { describe($0, isDry) }
      return status
    }
  }

  /// Of a job, or an erasure.
  static func exitStatus(_ job: JSON) -> CInt {
    switch job["state"]?.string {
    case "held": Status.held
    case "blocked": Status.denied
    default: EX_OK
    }
  }

  private static func describe(_ job: JSON, _ isDry: Bool) -> String {
    let advice = job["plan"]?.integer.map { plan in
      job["state"] == "held" ? ["  cascadectl approve \(plan) allows it"] : []
    }
    return ([head(job, isDry)] + DisplayText.denials(job["blocked"]?.array ?? []) + (advice ?? []))
      .joined(separator: "\n")
  }

  private static func head(_ job: JSON, _ isDry: Bool) -> String {
    let counts = DisplayText.byCollection(job)
    let what = counts.isEmpty ? "" : ": \(counts)"
    if isDry {
      return "\(DisplayText.count(job["of"], "node", "nodes")) would be deleted\(what)"
    }
    let count = DisplayText.count(job["deletedCount"], "node", "nodes")
    let all = job["of"]?.integer.map { " of \($0)" } ?? ""
    let batch = job["batch"]?.integer.map { " (batch \($0))" } ?? ""
    return "job \(job["job"]?.text ?? ""): \(job["state"]?.string ?? ""), "
      + "\(count)\(all) \(DisplayText.done(job))\(batch)\(what)"
  }

  static func jobs(_ arguments: inout Arguments) throws -> Commands.Prepared {
    let after = try arguments.numberOption("--after") ?? 0
    try arguments.noOperands()
    return { client, output in
      try client.stream("Jobs", ["after": .integer(after)]) {
        try output.list($0["jobs"]?.array ?? []) { describe($0, false) }
      }
      return EX_OK
    }
  }

  static func cancel(_ arguments: inout Arguments) throws -> Commands.Prepared {
    let number = try arguments.number("job")
    return { client, output in
      let job = try client.call("Cancel", ["job": .integer(number)])["job"] ?? .null
      try output.show(job) { describe($0, false) }
      return EX_OK
    }
  }
}
