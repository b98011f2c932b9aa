internal import CascadeKit
internal import Glibc
internal import CascadeModel
internal import CascadeSystem

/// `lease`: protects nodes that are not referenced yet.
enum LeaseCommand {
  static func command(_ arguments: inout Arguments) throws -> Commands.Prepared {
    if arguments.flag("--list") { return try list(&arguments) }
    let releases = arguments.flag("--release")
    let owner = try arguments.option("--owner")
    let seconds = try arguments.option("--for").map(seconds)
    var collections: [JSON] = []
    while let name = try arguments.option("--collection") { collections.append(.string(name)) }
    let nodes = try arguments.operands().map(JSON.string)
    if nodes.isEmpty && collections.isEmpty {
      throw UsageError("lease needs a NODE or --collection")
    }
    let subjects: [JSON.Field] = [
      JSON.Field("nodes", .array(nodes)), JSON.Field("collections", .array(collections)),
      JSON.Field("owner", owner.map(JSON.string) ?? .null),
    ]
    if releases { return release(.object(subjects)) }
    guard let seconds else { return hold(.object(subjects)) }
    return take(.object(subjects + [JSON.Field("seconds", .integer(seconds))]))
  }

  private static func seconds(_ text: String) throws -> Int64 {
    guard let duration = Duration(text: text), duration >= .seconds(1) else {
      throw UsageError("\"\(text)\" is not a duration, such as \"90s\" or \"15m\"")
    }
    return duration.components.seconds
  }

  private static func take(_ parameters: JSON) -> Commands.Prepared {
    { client, output in
      try output.list(client.call("Lease", parameters)["leases"]?.array ?? [], describe)
      return EX_OK
    }
  }

  /// Holds leases until a signal arrives or the daemon ends.
  private static func hold(_ parameters: JSON) -> Commands.Prepared {
    { client, output in
      try client.stream("Lease", parameters) {
        try output.list($0["leases"]?.array ?? [], describe)
      }
      return EX_OK
    }
  }

  private static func release(_ parameters: JSON) -> Commands.Prepared {
    { client, output in
      try output.show(client.call("Release", parameters)) {
        "\(DisplayText.count($0["released"], "lease", "leases")) released"
      }
      return EX_OK
    }
  }

  private static func list(_ arguments: inout Arguments) throws -> Commands.Prepared {
    try arguments.noOperands()
    return { client, output in
      try output.list(client.call("Leases")["leases"]?.array ?? [], describe)
      return EX_OK
    }
  }

  private static func describe(_ lease: JSON) -> String {
    let subject =
      lease["collection"]?.string.map { "all of \($0.printable)" }
      ?? DisplayText.node(lease["node"])
    return "\(subject)  \(DisplayText.lease(lease))"
  }
}

extension DisplayText {
  /// The owner of a lease, and when it ends.
  static func lease(_ lease: JSON) -> String {
    let owner = lease["owner"]?.string.map { " by \($0.printable)" } ?? ""
    if lease["connection"]?.bool == true { return "leased\(owner) as long as it is connected" }
    let end = lease["expires"]?.integer.map { SystemClock.text($0 * 1_000) } ?? "?"
    return "leased\(owner) until \(end)"
  }

  /// Describes what holds a node: a lease or an edge.
  static func holder(_ json: JSON?) -> String {
    json?["lease"].map(lease) ?? edge(json)
  }
}
