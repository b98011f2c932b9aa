internal import CascadeKit
internal import CascadeModel
internal import Glibc
internal import _StringProcessing

/// `check`: what is wrong with a store, or with each store of the daemon.
enum CheckCommand {
  static func command(_ arguments: inout Arguments) throws -> Commands.Prepared {
    let repair = arguments.flag("--repair")
    let limit = try arguments.numberOption("--limit")
    try arguments.noOperands()
    let parameters: JSON = [
      "repair": .bool(repair), "limit": limit.map(JSON.integer) ?? .null,
    ]
    return { client, output in
      var found = FindingsOfStores()
      let status = try EachStore.run(&client) { client, title in
        let reply = try client.call("Check", parameters)
        let store = title.isEmpty ? nil : client.store
        if output.json { try list(reply, of: store, output) } else { found.add(reply, of: store) }
        return reply["count"]?.integer == 0 ? EX_OK : Status.found
      }
      try found.tell(output)
      return status
    }
  }

  private static func list(_ reply: JSON, of store: String?, _ output: Output) throws {
    let found = [reply["findings"], reply["unreferenced"]].flatMap { $0?.array ?? [] }
    let member = store.map { [JSON.Field("store", .string($0))] } ?? []
    let lines = (repaired(reply["repaired"]) + found).map {
      JSON.object(member + ($0.object ?? []))
    }
    try output.list(lines, \.text)
  }

  static func repaired(_ made: JSON?) -> [JSON] {
    [("triggers", "trigger"), ("indexes", "index")].flatMap { (many, one) in
      DisplayText.texts(made?[many]).map {
        ["kind": "repaired", "message": .string("created \(one) \($0)")]
      }
    }
  }
}

/// What was found in some stores, for people: what is the same in several is told once.
private struct FindingsOfStores {
  /// By line; none for the only store.
  private var stores: [String: [String]] = [:]
  private var lines: [String] = []
  private var notes: [String] = []
  private var rest: Int64 = 0

  mutating func add(_ reply: JSON, of store: String?) {
    let findings = reply["findings"]?.array ?? []
    for finding in CheckCommand.repaired(reply["repaired"]) + findings {
      add(text(finding, store), of: store)
    }
    for remark in [reply["remarks"], reply["unreferenced"]].flatMap({ $0?.array ?? [] }) {
      notes.append((store.map { "\($0.printable): " } ?? "") + text(remark, store))
    }
    rest += (reply["count"]?.integer ?? 0) - Int64(findings.count)
  }

  private mutating func add(_ line: String, of store: String?) {
    if stores[line] == nil { lines.append(line) }
    stores[line, default: []] += store.map { [$0.printable] } ?? []
  }

  /// Of several stores, what is told must not differ by their paths.
  private func text(_ finding: JSON, _ store: String?) -> String {
    let message = finding["message"]?.string ?? ""
    let common = store.map { message.replacing($0, with: "the store") } ?? message
    return "\(finding["kind"]?.string ?? ""): \(common.printable)"
  }

  func tell(_ output: Output) throws {
    if output.json { return }
    for line in lines { try output.show(.null) { _ in line + place(of: line) } }
    if output.quiet { return }
    for note in notes { output.problem("note: \(note)") }
    if rest > 0 { output.problem("… and \(rest) more: --limit lists more of them") }
  }

  private static let mostNamed = 3

  private func place(of line: String) -> String {
    let paths = stores[line] ?? []
    if paths.isEmpty { return "" }
    let named = paths.prefix(FindingsOfStores.mostNamed).joined(separator: ", ")
    let more = paths.count - FindingsOfStores.mostNamed
    return " (\(named)\(more > 0 ? " and \(more) more stores" : ""))"
  }
}
