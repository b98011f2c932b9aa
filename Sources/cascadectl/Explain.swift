internal import CascadeKit
internal import Glibc
internal import Model

/// Commands that tell what would go, what goes, and why.
extension Commands {
  static func plan(_ arguments: inout Arguments) throws -> Prepared {
    let nodes = try arguments.operands()
    if nodes.isEmpty { throw UsageError("plan the deletion of which nodes?") }
    return { client, output in
      let reply = try client.call("Plan", ["nodes": .array(nodes.map(JSON.string))])
      output.show(reply["plan"] ?? .null, describePlan)
      return EX_OK
    }
  }

  private static func describePlan(_ plan: JSON) -> String {
    let denied = plan["denied"]?.array ?? []
    let count = Words.count(plan["deletedCount"], "node", "nodes")
    var lines = [denied.isEmpty ? "\(count) would be deleted" : "denied: nothing would be deleted"]
    lines += denied.map { "  ! \(Words.reason($0))" }
    lines += (plan["steps"]?.array ?? []).prefix(50).map { "  - \(describeStep($0))" }
    if plan["held"]?.bool == true { lines.append("over the hold limit: it would wait for approval") }
    return lines.joined(separator: "\n")
  }

  private static func describeStep(_ step: JSON) -> String {
    let node = Words.node(step["node"])
    guard let rule = step["rule"]?.string else { return node }
    return "\(node)  by \(rule) of \(Words.edge(step["edge"]))"
  }

  static func why(_ arguments: inout Arguments) throws -> Prepared {
    let node = try arguments.operand("node")
    return { client, output in
      let reply = try client.call("Why", ["node": .string(node)])
      output.show(reply["why"] ?? .null, describeWhy)
      return EX_OK
    }
  }

  private static func describeWhy(_ why: JSON) -> String {
    let node = Words.node(why["node"])
    switch why["state"]?.string {
    case "alive": return describeHolders(node, why)
    case "deleted": return describeDeletion(node, why["deleted"] ?? .null)
    default: return "\(node) is not known: it never was, or it was forgotten"
    }
  }

  private static func describeHolders(_ node: String, _ why: JSON) -> String {
    let holders = why["holders"]?.array ?? []
    if holders.isEmpty { return "\(node) is there, and nothing holds it" }
    let total = Words.count(why["holderCount"], "edge holds it", "edges hold it")
    let lines = holders.prefix(20).map { "  - \(Words.edge($0))" }
    return (["\(node) is there; \(total)"] + lines).joined(separator: "\n")
  }

  private static func describeDeletion(_ node: String, _ deletion: JSON) -> String {
    let author = deletion["author"]?.string.map { " by \($0)" } ?? ""
    let cause =
      "\(node) was deleted in batch \(deletion["batch"]?.text ?? ""), "
      + "by \(deletion["id"]?.string ?? "")\(author)"
    let chain = (deletion["chain"]?.array ?? []).map { "  - \(describeStep($0))" }
    return ([cause] + chain).joined(separator: "\n")
  }

  static func sweep(_ arguments: inout Arguments) throws -> Prepared {
    let dryRun = arguments.flag("--dry-run")
    let kinds = try arguments.operands()
    return { client, output in
      let parameters: JSON = [
        "kinds": .array(kinds.map(JSON.string)), "dryRun": .bool(dryRun),
      ]
      let sweep = try client.call("Sweep", parameters)["sweep"] ?? .null
      output.show(sweep) { describeSweep($0, dryRun) }
      switch sweep["outcome"]?.string {
      case "held": return Status.held
      case "blocked": return Status.denied
      default: return EX_OK
      }
    }
  }

  private static func describeSweep(_ sweep: JSON, _ dryRun: Bool) -> String {
    let count = Words.count(sweep["deletedCount"], "node", "nodes")
    let verb = dryRun ? "would be deleted" : "deleted"
    let blocked = (sweep["blocked"]?.array ?? []).map { "  ! \(Words.reason($0))" }
    return (["\(sweep["outcome"]?.string ?? ""): \(count) \(verb)"] + blocked)
      .joined(separator: "\n")
  }
}
