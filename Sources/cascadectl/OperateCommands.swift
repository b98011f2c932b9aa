internal import CascadeKit
internal import Glibc
internal import CascadeModel
internal import CascadeSystem

/// Commands for the daemon itself.
enum OperateCommands {
  static func pause(_ arguments: inout Arguments) throws -> Commands.Prepared {
    try plain("Pause", "paused", &arguments)
  }

  static func resume(_ arguments: inout Arguments) throws -> Commands.Prepared {
    try arguments.noOperands()
    return { client, output in
      let reply = try client.call("Resume")
      let mismatched = reply["mismatched"] ?? []
      let hasAny = mismatched.array?.isEmpty == false
      let result: JSON =
        hasAny ? ["outcome": "resumed", "mismatched": mismatched] : ["outcome": "resumed"]
      try output.show(result, wentWrong: hasAny) {
        describeMismatched($0).joined(separator: "\n")
      }
      return hasAny ? EX_CONFIG : EX_OK
    }
  }

  private static func describeMismatched(_ reply: JSON) -> [String] {
    (reply["mismatched"]?.array ?? []).map {
      "\($0["store"]?.string?.printable ?? ""): the tables do not fit the model: "
        + ($0["reason"]?.string?.printable ?? "")
    }
  }

  private static func plain(
    _ method: String, _ outcome: String, _ arguments: inout Arguments
  ) throws -> Commands.Prepared {
    try arguments.noOperands()
    return { client, output in
      _ = try client.call(method)
      try output.acknowledge(["outcome": .string(outcome)])
      return EX_OK
    }
  }

  static func reload(_ arguments: inout Arguments) throws -> Commands.Prepared {
    try arguments.noOperands()
    return { client, output in
      let reloaded = try client.call("Reload")["reloaded"] ?? .null
      let hasFailed = ["failed", "mismatched"].contains {
        reloaded[$0]?.array?.isEmpty == false
      }
      try output.show(reloaded, wentWrong: hasFailed, describe)
      return hasFailed ? EX_CONFIG : EX_OK
    }
  }

  private static func describe(_ reloaded: JSON) -> String {
    let added = DisplayText.texts(reloaded["added"]).map { "\($0): is served from now on" }
    let removed = DisplayText.texts(reloaded["removed"]).map { "\($0): is no longer served" }
    let changed = (reloaded["changed"]?.array ?? []).map { change in
      ["\(change["store"]?.string?.printable ?? ""):"]
        + DisplayText.texts(change["changes"]).map { "  \($0)" }
    }
    let failed = (reloaded["failed"]?.array ?? []).map {
      "\($0["store"]?.string?.printable ?? ""): keeps its old model: "
        + ($0["reason"]?.string?.printable ?? "")
    }
    let lines = added + removed + changed.joined() + failed + describeMismatched(reloaded)
    return lines.isEmpty ? "nothing changed" : lines.joined(separator: "\n")
  }

  static func metrics(_ arguments: inout Arguments) throws -> Commands.Prepared {
    let format = try arguments.option("--format")
    let all = arguments.flag("--all")
    try arguments.noOperands()
    let parameters: JSON = ["format": format.map(JSON.string) ?? .null, "all": .bool(all)]
    return { client, output in
      try output.show(client.call("Metrics", parameters)) {
        // `show` adds the last line end.
        String(($0["text"]?.string ?? "").dropLast())
      }
      return EX_OK
    }
  }

  static func events(_ arguments: inout Arguments) throws -> Commands.Prepared {
    let after = try arguments.numberOption("--after")
    let follow = arguments.flag("--follow")
    try arguments.noOperands()
    let parameters: JSON = [
      "after": after.map(JSON.integer) ?? .null, "follow": .bool(follow),
    ]
    return { client, output in
      try client.stream("Events", parameters) { reply in
        if let missed = reply["missed"]?.integer, missed > 0 {
          output.problem("\(missed) events are no longer available")
        }
        try output.list(reply["events"]?.array ?? [], describeEvent)
      }
      return EX_OK
    }
  }

  private static func describeEvent(_ event: JSON) -> String {
    let time = event["at"]?.integer.map(SystemClock.text) ?? ""
    return "\(time)  \(event["kind"]?.string ?? "")  \(event["message"]?.string?.printable ?? "")"
  }
}
