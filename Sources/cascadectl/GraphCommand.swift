internal import CascadeKit
internal import Glibc
internal import CascadeModel
internal import CascadeSystem

/// `graph`: prints a node's neighbourhood for Graphviz.
enum GraphCommand {
  private enum Format: String, CaseIterable { case dot, svg }

  static func command(_ arguments: inout Arguments) throws -> Commands.Prepared {
    let name = try arguments.option("--format") ?? Format.dot.rawValue
    guard let format = Format(rawValue: name) else {
      throw UsageError("\"\(name)\" is not a format: use dot or svg")
    }
    let depth = try number("--depth", &arguments)
    let limit = try number("--limit", &arguments)
    let node = try arguments.operand("node")
    let parameters: JSON = ["node": .string(node), "depth": depth, "limit": limit]
    return { client, output in
      let graph = try client.call("Graph", parameters)
      if format == .svg && !output.json { return try draw(DotText(graph).text, output) }
      try output.show(graph) { DotText($0).text }
      return EX_OK
    }
  }

  private static func number(_ option: String, _ arguments: inout Arguments) throws -> JSON {
    try arguments.numberOption(option).map(JSON.integer) ?? .null
  }

  private static func draw(_ text: String, _ output: Output) throws -> CInt {
    if output.quiet { return EX_OK }
    do {
      let status = try ChildProcess.run("dot", ["-Tsvg"], input: Array(text.utf8))
      if status != 0 { throw Failure("dot failed with status \(status)", EX_SOFTWARE) }
      return EX_OK
    } catch let error as SystemError where error.isMissing {
      throw Failure(
        "dot was not found: install graphviz, or use --format dot", EX_UNAVAILABLE)
    }
  }
}

/// A graph in the DOT language. Nodes that would be deleted, and their edges, are red. An edge that
/// would deny the deletion is bold and dashed. Neighbours that are left out are drawn as one node
/// without a frame.
struct DotText {
  private let nodes: [JSON]
  private let edges: [JSON]
  /// Node numbers by the bytes of the names, because different names may be equal as strings.
  private var numbers: [[UInt8]: Int] = [:]
  private var deletedNodes: Set<Int> = []

  init(_ graph: JSON) {
    nodes = graph["nodes"]?.array ?? []
    edges = graph["edges"]?.array ?? []
    for (number, node) in nodes.enumerated() {
      numbers[DotText.bytes(node["node"])] = number
      if node["goes"]?.bool == true { deletedNodes.insert(number) }
    }
  }

  var text: String {
    let head = ["digraph cascade {", "  rankdir=LR;", "  node [shape=box, style=rounded];"]
    let all = head + nodes.indices.flatMap(lines) + edges.compactMap(line) + ["}"]
    return all.joined(separator: "\n")
  }

  private func lines(ofNode number: Int) -> [String] {
    let node = nodes[number]
    var attributes = [("label", DisplayText.destination(node["node"]).printable)]
    if node["node"]?["file"] != nil { attributes.append(("shape", "note")) }
    if number == 0 { attributes.append(("style", "rounded,bold")) }
    if deletedNodes.contains(number) { attributes += [("color", "red"), ("fontcolor", "red")] }
    let line = "  n\(number) \(list(attributes));"
    guard let more = node["more"]?.integer, more > 0 else { return [line] }
    return [
      line, "  m\(number) \(list([("label", "+\(more) more"), ("shape", "plaintext")]));",
      "  n\(number) -> m\(number) \(list([("style", "dotted"), ("arrowhead", "none")]));",
    ]
  }

  private func line(ofEdge edge: JSON) -> String? {
    guard let from = numbers[DotText.bytes(edge["from"])],
      let to = numbers[DotText.bytes(edge["to"])]
    else { return nil }
    let rules = (edge["rules"]?.array ?? []).compactMap(\.string).map { DotText.short[$0] ?? $0 }
    let name = edge["name"]?.string?.printable ?? ""
    var attributes = [
      ("label", ([name] + rules).joined(separator: "\n")),
      ("arrowhead", DotText.heads[edge["kind"]?.string ?? ""] ?? "normal"),
    ]
    if edge["denies"]?.bool == true {
      attributes.append(("style", "bold,dashed"))
    } else if deletedNodes.contains(from) || deletedNodes.contains(to) {
      attributes += [("color", "red"), ("fontcolor", "red")]
    }
    return "  n\(from) -> n\(to) \(list(attributes));"
  }

  private static func bytes(_ node: JSON?) -> [UInt8] { Array((node?.text ?? "").utf8) }

  private func list(_ attributes: [(String, String)]) -> String {
    let pairs = attributes.map { "\($0)=\($1.quotedForGraphviz)" }
    return "[\(pairs.joined(separator: ", "))]"
  }

  /// The arrow heads that show where an edge is stored.
  private static let heads = [
    "stored": "normal", "column": "vee", "join": "diamond", "property": "empty",
    "polymorphic": "odiamond", "file": "box",
  ]

  private static let short = [
    "notifyIfSourceDeleted": "notifies destination",
    "notifyIfDestinationDeleted": "notifies source",
    "deleteSourceIfDestinationDeleted": "source follows",
    "deleteDestinationIfSourceDeleted": "destination follows",
    "deleteSourceIfAllDestinationsDeleted": "source follows last",
    "deleteDestinationIfAllSourcesDeleted": "destination follows last",
    "nullifySourceIfDestinationDeleted": "nullify", "denyDestinationDeletion": "keeps destination",
    "denySourceDeletion": "keeps source",
  ]
}
