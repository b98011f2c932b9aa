internal import CascadeKit
internal import CascadeModel
internal import CascadeSystem
internal import Glibc

/// `protect`, `unprotect` and `protections`.
enum ProtectCommands {
  static func protect(_ arguments: inout Arguments) throws -> Commands.Prepared {
    guard let reason = try arguments.option("--reason"), !reason.isEmpty else {
      throw UsageError("protect needs --reason: why the node must stay")
    }
    let until = try arguments.option("--until").map(GivenTime.coming)
    let node = try arguments.operand("node")
    let call: JSON = [
      "node": .string(node), "reason": .string(reason),
      "until": until.map(JSON.integer) ?? .null,
    ]
    return { client, output in
      try output.show(client.call("Protect", call)["protection"] ?? .null, describe)
      return EX_OK
    }
  }

  static func unprotect(_ arguments: inout Arguments) throws -> Commands.Prepared {
    let node = try arguments.operand("node")
    return { client, output in
      try output.show(client.call("Unprotect", ["node": .string(node)])["protection"] ?? .null) {
        "\(DisplayText.node($0["node"])) is not protected any more"
      }
      return EX_OK
    }
  }

  static func protections(_ arguments: inout Arguments) throws -> Commands.Prepared {
    try arguments.noOperands()
    return { client, output in
      try output.list(client.call("Protections")["protections"]?.array ?? [], describe)
      return EX_OK
    }
  }

  private static func describe(_ protection: JSON) -> String {
    let until = protection["until"]?.integer.map { " until \(SystemClock.text($0))" } ?? ""
    let since = SystemClock.text(protection["since"]?.integer ?? 0)
    return "\(DisplayText.node(protection["node"])) is protected\(until): "
      + "\(protection["reason"]?.string?.printable ?? "")  "
      + "(since \(since), by \(protection["by"]?.string?.printable ?? ""))"
  }
}
