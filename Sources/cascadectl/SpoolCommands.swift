internal import CascadeKit
internal import Glibc
internal import CascadeModel
internal import CascadeSystem

/// `spool`: the files that wait, are held, were rejected, or are set aside.
enum SpoolCommands {
  static func command(_ arguments: inout Arguments) throws -> Commands.Prepared {
    var operands = try arguments.operands()
    let verb = operands.isEmpty ? "list" : operands.removeFirst()
    switch (verb, operands.count) {
    case ("list", 0): return list
    case ("retry", 1...): return each("Retry", "retried", operands)
    case ("drop", 1...): return each("Drop", "dropped", operands)
    case ("retry", _), ("drop", _): throw UsageError("spool \(verb) needs one FILE")
    default: throw UsageError("expected spool list, spool retry FILE or spool drop FILE")
    }
  }

  /// Arguments that are not all UTF-8. Only `spool` takes such a name, as it lists it.
  static func arguments(_ bytes: [[UInt8]]) -> [String]? {
    let shown = bytes.map { FileName(bytes: $0).description }
    return shown.contains("spool") ? shown : nil
  }

  private static func each(
    _ method: String, _ outcome: String, _ files: [String]
  ) -> Commands.Prepared {
    { client, output in
      for file in files {
        _ = try client.call(method, ["file": .string(file)])
        try output.acknowledge(["file": .string(file), "outcome": .string(outcome)])
      }
      return EX_OK
    }
  }

  private static func list(_ client: inout ControlClient, _ output: Output) throws -> CInt {
    let reply = try client.call("Spool")
    let waiting = reply["waiting"]?.array ?? []
    try output.list(waiting.map { ["file": $0, "state": "waiting"] }, describe)
    let held = reply["held"]?.array ?? []
    try output.list(
      held.map {
        [
          "file": $0["file"] ?? .null, "state": "held", "plan": $0["plan"] ?? .null,
          "deletedCount": $0["deletedCount"] ?? .null,
        ]
      }, describe)
    for state in ["rejected", "stuck"] {
      try output.list(
        (reply[state]?.array ?? []).map {
          ["file": $0["file"] ?? .null, "state": .string(state), "reasons": $0["reasons"] ?? []]
        }, describe)
    }
    return EX_OK
  }

  private static func describe(_ file: JSON) -> String {
    let reasons = (file["reasons"]?.array ?? []).map { "  ! \(DisplayText.reason($0))" }
    let line = "\(file["state"]?.string ?? "")  \(file["file"]?.string?.printable ?? "")"
    return ([line] + reasons + plan(file)).joined(separator: "\n")
  }

  private static func plan(_ file: JSON) -> [String] {
    guard let plan = file["plan"]?.integer else { return [] }
    let count = DisplayText.count(file["deletedCount"], "node", "nodes")
    return ["  plan \(plan): \(count) would be deleted; cascadectl approve \(plan) allows it"]
  }
}

/// The output of `status` for a terminal.
enum StatusTable {
  /// Without the stores with which all is well.
  static func notOk(_ status: JSON) -> JSON {
    guard case .object(let members) = status else { return status }
    return .object(
      members.map { member in
        let stores = member.value.array?.filter { $0["state"] != "ok" }
        return member.name == "stores" ? JSON.Field("stores", .array(stores ?? [])) : member
      })
  }

  /// With so many stores, only their states are shown.
  private static let many = 10

  static func text(_ status: JSON) -> String {
    let stores = status["stores"]?.array ?? []
    let line = { self.line($0, withSchedules: stores.count <= many) }
    let problems = (status["problems"]?.array ?? []).map {
      "  ! \($0.string?.printable ?? "")"
    }
    return (["cascaded \(status["version"]?.string ?? "")"] + problems + stores.map(line))
      .joined(separator: "\n")
  }

  private static func line(_ store: JSON, withSchedules: Bool) -> String {
    let spool = store["spool"]
    let isAnyStuck = spool?["stuck"]?.integer ?? 0 > 0
    let states = ["waiting", "held", "rejected"] + (isAnyStuck ? ["stuck"] : [])
    let counts = states.map { "\(spool?[$0]?.integer ?? 0) \($0)" }.joined(separator: ", ")
    let journal = store["journal"]?.integer ?? 0
    let counted = journal > 0 ? "\(counts), \(journal) in the journal" : counts
    let reasons = ["reason", "polled"].compactMap { store[$0]?.string }
      .map { "\n    \($0.printable)" }.joined()
    let state = store["state"]?.string ?? ""
    let line = "  \(state)  \(store["store"]?.string?.printable ?? "")  (\(counted))\(reasons)"
    let schedules = withSchedules ? ScheduleTable.lines(store["schedules"]) : []
    return ([line] + jobs(store) + overdue(store) + schedules).joined(separator: "\n")
  }

  private static func jobs(_ store: JSON) -> [String] {
    (store["jobs"]?.array ?? []).filter { $0["state"] == "running" }.map { job in
      let all = job["of"]?.integer.map { " of \($0)" } ?? ""
      return "    job \(job["job"]?.text ?? "") runs: "
        + "\(DisplayText.count(job["deletedCount"], "node", "nodes"))\(all) \(DisplayText.done(job))"
    }
  }

  private static func overdue(_ store: JSON) -> [String] {
    let expired = store["expired"]
    if expired?["waiting"]?.integer ?? 0 == 0 { return [] }
    let first = expired?["oldest"]?.integer.map { ", the first for \(roughly(seconds: $0))" } ?? ""
    return ["    \(DisplayText.count(expired?["waiting"], "row is", "rows are")) overdue\(first)"]
  }

  private static func roughly(seconds: Int64) -> String {
    let units: [(Int64, String, String)] = [
      (86_400, "day", "days"), (3_600, "hour", "hours"), (60, "minute", "minutes"),
      (1, "second", "seconds"),
    ]
    let (unit, one, many) = units.first { seconds >= $0.0 } ?? units[3]
    return Int(seconds / unit).counted(one, many)
  }
}
