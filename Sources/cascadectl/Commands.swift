internal import CascadeKit
internal import Glibc
internal import CascadeModel

/// The commands. Each reads its arguments first and then calls the daemon, so a wrong command line
/// is found without a daemon.
enum Commands {
  typealias Prepared = (inout ControlClient, Output) throws -> CInt
  typealias Command = @Sendable (inout Arguments) throws -> Prepared

  /// A command that needs no daemon.
  typealias Local = (Output) throws -> CInt
  typealias LocalCommand = @Sendable (inout Arguments) throws -> Local

  /// A command that runs until its user ends it, and connects to the daemon again and again.
  typealias Live = (@escaping @Sendable () throws -> ControlClient) throws -> CInt
  typealias LiveCommand = @Sendable (inout Arguments) throws -> Live

  static let live: [String: LiveCommand] = ["top": Top.command, "web": WebCommand.command]

  static let local: [String: LocalCommand] = [
    "inspect": InspectCommand.inspect, "suggest": InspectCommand.suggest,
  ]

  static let all: [String: Command] = [
    "status": status, "apply": Apply.command, "node": node, "nodes": nodes, "edges": edges,
    "fetch": fetch, "graph": GraphCommand.command,
    "plan": plan, "why": why, "sweep": SweepCommand.command, "notices": notices,
    "deleted": DeletedCommand.prepare, "erase": EraseCommand.prepare, "ack": acknowledge,
    "spool": SpoolCommands.command, "approve": Apply.approve,
    "reject": Apply.reject, "attach": AttachCommands.attach,
    "detach": AttachCommands.detach, "migrate": AttachCommands.migrate,
    "roots": AttachCommands.roots,
    "check": CheckCommand.command,
    "undo": UndoCommands.undo, "batches": UndoCommands.batches,
    "delete": JobCommands.delete, "jobs": JobCommands.jobs, "cancel": JobCommands.cancel,
    "protect": ProtectCommands.protect, "unprotect": ProtectCommands.unprotect,
    "protections": ProtectCommands.protections,
    "lease": LeaseCommand.command, "pause": OperateCommands.pause,
    "resume": OperateCommands.resume, "reload": OperateCommands.reload,
    "events": OperateCommands.events, "metrics": OperateCommands.metrics,
  ]

  static var names: [String] {
    (Array(all.keys) + Array(local.keys) + Array(live.keys)).sorted()
  }

  private static func status(_ arguments: inout Arguments) throws -> Prepared {
    let onlyTrouble = arguments.flag("--not-ok")
    try arguments.noOperands()
    return { client, output in
      let status = try client.call("Status")
      try output.show(onlyTrouble ? StatusTable.notOk(status) : status, StatusTable.text)
      return EX_OK
    }
  }

  private static func node(_ arguments: inout Arguments) throws -> Prepared {
    let node = try arguments.operand("node")
    return { client, output in
      let reply = try client.call("Node", ["node": .string(node)])
      try output.show(reply["node"] ?? .null, describe)
      return EX_OK
    }
  }

  private static func describe(_ node: JSON) -> String {
    let name = DisplayText.node(node["node"])
    if node["exists"]?.bool != true { return "\(name) does not exist" }
    let type = node["type"]?.string.map { " (\($0.printable))" } ?? ""
    let value = node["value"].flatMap { $0.isNull ? nil : "  \($0.text)" } ?? ""
    return name + type + value
  }

  private static func nodes(_ arguments: inout Arguments) throws -> Prepared {
    let collection = try arguments.operand("collection")
    return { client, output in
      try client.stream("Nodes", ["collection": .string(collection)]) { reply in
        try output.list(reply["nodes"]?.array ?? [], describe)
      }
      return EX_OK
    }
  }

  private static func fetch(_ arguments: inout Arguments) throws -> Prepared {
    let refresh = arguments.flag("--refresh")
    let operands = try arguments.operands()
    if operands.count != 2 { throw UsageError("fetch needs NODE and NAME") }
    let parameters: JSON = [
      "node": .string(operands[0]), "name": .string(operands[1]), "refresh": .bool(refresh),
    ]
    return { client, output in
      try client.stream("Fetch", parameters) { try output.list($0["nodes"]?.array ?? [], describe) }
      return EX_OK
    }
  }

  private static func edges(_ arguments: inout Arguments) throws -> Prepared {
    var query: [JSON.Field] = []
    for (option, name) in [("--name", "name"), ("--from", "from"), ("--to", "to")] {
      if let value = try arguments.option(option) { query.append(.init(name, .string(value))) }
    }
    let counts = arguments.flag("--count")
    try arguments.noOperands()
    let parameters = JSON.object(query)
    return { client, output in
      if counts {
        try output.show(client.call("CountEdges", parameters)) { $0["count"]?.text ?? "" }
      } else {
        try client.stream("Edges", parameters) {
          try output.list($0["edges"]?.array ?? [], DisplayText.edge)
        }
      }
      return EX_OK
    }
  }

  private static func notices(_ arguments: inout Arguments) throws -> Prepared {
    let after = try arguments.numberOption("--after") ?? 0
    let follow = arguments.flag("--follow")
    try arguments.noOperands()
    return { client, output in
      try client.stream("Notices", ["after": .integer(after), "follow": .bool(follow)]) {
        try output.list($0["notices"]?.array ?? [], describeNotice)
      }
      return EX_OK
    }
  }

  private static func describeNotice(_ notice: JSON) -> String {
    let gone = notice["receiverDeleted"]?.bool == true ? " (deleted since)" : ""
    let edge = notice["edge"]
    let lost = notice["reason"]?.string == "sourceDeleted" ? edge?["from"] : edge?["to"]
    return "\(notice["notice"]?.text ?? "")  \(DisplayText.node(notice["node"]))\(gone) "
      + "lost \(DisplayText.destination(lost)): \(DisplayText.edge(edge))"
  }

  private static func acknowledge(_ arguments: inout Arguments) throws -> Prepared {
    let notice = try arguments.number("notice")
    return { client, output in
      try output.show(client.call("Acknowledge", ["notice": .integer(notice)])) {
        "\(DisplayText.count($0["acknowledged"], "notice", "notices")) deleted"
      }
      return EX_OK
    }
  }
}
