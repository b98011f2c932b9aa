internal import CascadeKit
internal import CascadeModel
internal import CascadeSystem
internal import Glibc

/// `deleted`: what went.
enum DeletedCommand {
  static func prepare(_ arguments: inout Arguments) throws -> Commands.Prepared {
    let after = try arguments.numberOption("--after")
    let (follows, hasValues) = (arguments.flag("--follow"), arguments.flag("--values"))
    let operands = try arguments.operands()
    if operands.count > 1 { throw UsageError("expected one collection, or none") }
    let collection = operands.first
    let parameters: JSON = [
      "collection": collection.map(JSON.string) ?? .null,
      "after": after.map(JSON.integer) ?? .null, "follow": .bool(follows),
      "values": .bool(hasValues),
    ]
    return { client, output in
      try client.stream("Deleted", parameters) {
        try output.list($0["deleted"]?.array ?? [], describe)
      }
      return EX_OK
    }
  }

  private static func describe(_ deleted: JSON) -> String {
    let author = deleted["author"]?.string.map { " (\($0.printable))" } ?? ""
    let value = deleted["value"].map { "  \($0.text)" } ?? ""
    return "\(deleted["deleted"]?.text ?? "")  \(time(deleted["at"]))  "
      + "\(node(deleted["node"]))  batch \(deleted["batch"]?.text ?? ""), "
      + "\(deleted["cause"]?.string ?? "")\(author)\(way(deleted))\(value)"
  }

  /// An erased node has no key.
  private static func node(_ node: JSON?) -> String {
    if let parts = node?.array, parts.count == 1 {
      return "\(parts[0].string?.printable ?? "?")/(erased)"
    }
    return DisplayText.node(node)
  }

  private static func way(_ deleted: JSON) -> String {
    deleted["kept"]?.bool == true ? "; can be undone" : ""
  }

  private static func time(_ json: JSON?) -> String {
    json?.integer.map(SystemClock.text) ?? "?"
  }
}
