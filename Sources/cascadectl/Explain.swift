internal import CascadeKit
internal import Glibc
internal import CascadeModel
internal import CascadeSystem

/// Commands that explain what a deletion would remove, and why a node is there or was deleted.
extension Commands {
  static func plan(_ arguments: inout Arguments) throws -> Prepared {
    let nodes = try arguments.operands()
    if nodes.isEmpty { throw UsageError("plan needs a NODE, or a PLAN that is held") }
    if nodes.count == 1, let plan = Int64(nodes[0]) { return heldPlan(plan) }
    return { client, output in
      let reply = try client.call("Plan", ["nodes": .array(nodes.map(JSON.string))])
      try output.show(reply["plan"] ?? .null, describePlan)
      return EX_OK
    }
  }

  private static func heldPlan(_ number: Int64) -> Prepared {
    { client, output in
      let reply = try client.call("HeldPlan", ["plan": .integer(number)])
      try output.show(reply["plan"] ?? .null, describeHeldPlan)
      return EX_OK
    }
  }

  static func describeHeldPlan(_ plan: JSON) -> String {
    let kinds = DisplayText.texts(plan["kinds"]).joined(separator: ", ")
    let job = kinds.isEmpty ? plan["job"]?.integer.map { "job \($0)" } : nil
    let source =
      plan["file"]?.string.map { "change file \($0.printable)" } ?? job ?? "a sweep (\(kinds))"
    let sums = [("collection", "byCollection"), ("rule", "byRule")].flatMap { title, name in
      (plan[name]?.object ?? []).map { "  by \(title) \($0.name.printable): \($0.value.text)" }
    }
    let head = "plan \(plan["plan"]?.text ?? "") of \(source):"
    let value = plan["value"]?["message"]?.string.map { ["  \($0.printable)"] } ?? []
    return ([head] + value + sums + [describePlan(plan)]).joined(separator: "\n")
  }

  static func describePlan(_ plan: JSON) -> String {
    let denied = plan["denied"]?.array ?? []
    if plan["deletedCount"]?.integer == 0 { return "nothing would be deleted: no such node" }
    let count = DisplayText.count(plan["deletedCount"], "node", "nodes")
    let head =
      denied.isEmpty ? [] : ["denied: nothing would be deleted"] + DisplayText.denials(denied)
    let sum = "\(count) would be deleted\(denied.isEmpty ? "" : " if not denied")"
    let steps = DisplayText.firstFew(plan["steps"], of: plan["deletedCount"], describeStep)
    let files = describeFiles(plan["files"])
    let held = plan["held"]?.bool == true ? ["over the hold limit: it would wait for approval"] : []
    return (head + [sum] + steps + files + held).joined(separator: "\n")
  }

  private static func describeFiles(_ count: JSON?) -> [String] {
    if (count?.integer ?? 0) == 0 { return [] }
    return [
      DisplayText.count(count, "file would lose its last edge", "files would lose their last edge")
    ]
  }

  private static func describeStep(_ step: JSON) -> String {
    let node = DisplayText.destination(step["node"])
    guard let rule = step["rule"]?.string else { return node }
    // A row whose reference was set to null, and which was not deleted, has no record.
    if step["edge"]?.isNull != false {
      return "\(node)  by \(rule) of a reference that was changed"
    }
    return "\(node)  by \(rule) of \(DisplayText.edge(step["edge"]))"
  }

  static func why(_ arguments: inout Arguments) throws -> Prepared {
    let node = try arguments.operand("node or file")
    return { client, output in
      let reply = try client.call("Why", ["node": .string(node)])
      try output.show(reply["why"] ?? .null, describeWhy)
      return EX_OK
    }
  }

  static func describeWhy(_ why: JSON) -> String {
    let node = DisplayText.destination(why["node"])
    switch why["state"]?.string {
    case "alive": return ([describeHolders(node, why)] + marks(why)).joined(separator: "\n")
    case "deleted": return describeDeletion(node, why["deleted"] ?? .null)
    default:
      let isFile = why["node"]?["file"] != nil
      return isFile
        ? "\(node) is not known: no edge references it, and there is no record of it"
        : "\(node) is not known: it never existed, or its record was deleted"
    }
  }

  private static func describeHolders(_ node: String, _ why: JSON) -> String {
    let holders = why["holders"]?.array ?? []
    if holders.isEmpty { return "\(node) exists, and no edge points at it or holds it" }
    let leases = holders.count { $0["lease"] != nil }
    let edges = (why["holderCount"]?.integer ?? 0) - Int64(leases)
    let total = DisplayText.count(
      .integer(edges), "edge points at it or holds it", "edges point at it or hold it")
    let lines = DisplayText.firstFew(why["holders"], of: why["holderCount"], DisplayText.holder)
    let head = edges == 0 ? "no edge points at it or holds it, but it is leased" : total
    return (["\(node) exists; \(head)"] + lines).joined(separator: "\n")
  }

  private static func marks(_ why: JSON) -> [String] {
    (why["marked"]?.array ?? []).map { reason in
      let batch = reason["batch"]?.integer.map { ", batch \($0)" } ?? ""
      let at = reason["at"]?.integer.map(SystemClock.text) ?? "?"
      guard let rule = reason["rule"]?.string else {
        return "  it is marked as gone for others, as was seen at \(at)\(batch)"
      }
      return
        "  it is marked as gone for others because of \(DisplayText.node(reason["because"])), by \(rule) of "
        + "\"\(reason["name"]?.string?.printable ?? "")\", at \(at)\(batch)"
    }
  }

  private static func describeDeletion(_ node: String, _ deletion: JSON) -> String {
    let seen =
      switch deletion["cause"]?.string {
      case "sweep": ", after an application's change"
      case "job": ", by a deletion that was asked for"
      case "expired": ", because of its age or what it hung on"
      case "unreachable": ", by a sweep that found nothing that keeps it"
      default: ""
      }
    let first = deletion["began"].flatMap { $0 == .null ? nil : describeBatch($0) }
    let began = first.map { "\nthe deletion began \($0)" } ?? ""
    let cause = "\(node) was deleted \(describeBatch(deletion))\(began)\(seen)"
    return ([cause] + describeChain(deletion["chain"]?.array ?? [])).joined(separator: "\n")
  }

  private static func describeBatch(_ batch: JSON) -> String {
    let author = batch["author"]?.string.map { " (\($0.printable))" } ?? ""
    let time = batch["at"]?.integer.map(SystemClock.text) ?? "?"
    let id = batch["id"]?.string?.printable ?? ""
    return "at \(time) by \(id)\(author), batch \(batch["batch"]?.text ?? "")"
  }

  /// Describes a chain of reasons. Of a long chain, shows both ends: the node asked for and the
  /// first cause.
  private static func describeChain(_ chain: [JSON]) -> [String] {
    let lines = chain.count > 20 ? chain.prefix(10) + chain.suffix(10) : chain[...]
    var text = lines.map { "  - \(describeStep($0))" }
    if chain.count > 20 { text.insert("  … \(chain.count - 20) steps omitted", at: 10) }
    return text
  }
}
