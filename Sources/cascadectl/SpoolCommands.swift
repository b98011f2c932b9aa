internal import CascadeKit
internal import Glibc
internal import Model

/// The files of the spool that wait, are held or were rejected.
enum SpoolCommands {
  static func command(_ arguments: inout Arguments) throws -> Commands.Prepared {
    var operands = try arguments.operands()
    let verb = operands.isEmpty ? "list" : operands.removeFirst()
    switch (verb, operands.count) {
    case ("list", 0): return list
    case ("retry", 1...): return each("Retry", operands)
    case ("drop", 1...): return each("Drop", operands)
    case ("retry", _), ("drop", _): throw UsageError("\(verb) which file?")
    default: throw UsageError("spool list, retry FILE or drop FILE")
    }
  }

  private static func each(_ method: String, _ files: [String]) -> Commands.Prepared {
    { client, _ in
      for file in files { _ = try client.call(method, ["file": .string(file)]) }
      return EX_OK
    }
  }

  private static func list(_ client: inout ControlClient, _ output: Output) throws -> CInt {
    let reply = try client.call("Spool")
    for state in ["waiting", "held"] {
      let files = reply[state]?.array ?? []
      output.list(files.map { ["file": $0, "state": .string(state)] }, describe)
    }
    let rejected = reply["rejected"]?.array ?? []
    output.list(
      rejected.map {
        ["file": $0["file"] ?? .null, "state": "rejected", "reasons": $0["reasons"] ?? []]
      }, describe)
    return EX_OK
  }

  private static func describe(_ file: JSON) -> String {
    let reasons = (file["reasons"]?.array ?? []).map { "  ! \(Words.reason($0))" }
    let line = "\(file["state"]?.string ?? "")  \(file["file"]?.string?.printable ?? "")"
    return ([line] + reasons).joined(separator: "\n")
  }
}

/// `status`, for a terminal.
enum StatusTable {
  static func text(_ status: JSON) -> String {
    let stores = status["stores"]?.array ?? []
    let problems = (status["problems"]?.array ?? []).map {
      "  ! \($0.string?.printable ?? "")"
    }
    return (["cascaded \(status["version"]?.string ?? "")"] + problems + stores.map(line))
      .joined(separator: "\n")
  }

  private static func line(_ store: JSON) -> String {
    let spool = store["spool"]
    let counts = ["waiting", "held", "rejected"]
      .map { "\(spool?[$0]?.integer ?? 0) \($0)" }.joined(separator: ", ")
    let journal = store["journal"]?.integer ?? 0
    let counted = journal > 0 ? "\(counts), \(journal) in the journal" : counts
    let reason = store["reason"]?.string.map { "\n    \($0)" } ?? ""
    let state = store["state"]?.string ?? ""
    let line = "  \(state)  \(store["store"]?.string ?? "")  (\(counted))\(reason)"
    return ([line] + ScheduleTable.lines(store["schedules"])).joined(separator: "\n")
  }
}
