package import CascadeModel
package import CascadeStore

/// Transactions in letters. Every node is of the collection "n" unless it says another.
///
///     A        put A                        A{8>B,32x>C}   put A with its whole list of edges
///     !A       delete A                     A-8>B          a manual edge "e" with rule 8
///     !*       delete the collection        A-36x>B        one called "x" with rules 4 and 32
///     |        flush                        ~A->B          remove "e"; ~A-x>B removes "x"
///                                           ~A->B:d ~A->B:e   as destination, as edge alone
package func changes(_ script: String) -> [Change] {
  script.split(separator: " ").map { change($0) }
}

private func change(_ word: Substring) -> Change {
  if word == "|" { return .flush }
  if word == "!*" { return .deleteAll(collection: "n") }
  if word.hasPrefix("!") { return .delete(node(word.dropFirst())) }
  if word.hasPrefix("~") { return removal(of: word.dropFirst()) }
  if let brace = word.firstIndex(of: "{") {
    let list = word[word.index(after: brace)...].dropLast().split(separator: ",")
    return put(node(word[..<brace]), edges: list.map(declared))
  }
  guard let dash = word.firstIndex(of: "-") else { return put(node(word)) }
  let edge = declared(word[word.index(after: dash)...])
  return .link(
    name: edge.name, from: node(word[..<dash]), to: edge.destination, rules: edge.rules)
}

private func removal(of word: Substring) -> Change {
  let parts = word.split(separator: ":")
  let dash = word.firstIndex(of: "-")!
  let edge = declared(parts[0][word.index(after: dash)...])
  let removals: [Substring: Removal] = ["d": .destinationDeleted, "e": .edgeDeleted]
  return .unlink(
    name: edge.name, from: node(word[..<dash]), to: edge.destination,
    as: parts.count > 1 ? removals[parts[1]]! : .sourceDeleted)
}

private func put(_ node: Node, edges: [DeclaredEdge]? = nil) -> Change {
  .put(node, type: nil, value: nil, edges: edges)
}

/// `8x>B`; without digits the model says the rules.
private func declared(_ text: Substring) -> DeclaredEdge {
  let parts = text.split(separator: ">", omittingEmptySubsequences: false)
  let digits = parts[0].prefix { $0.isNumber }
  let name = parts[0].dropFirst(digits.count)
  return DeclaredEdge(
    name: name.isEmpty ? "e" : String(name), destination: .node(node(parts[1])),
    rules: Int64(digits).map { Rules(rawValue: $0) })
}

/// `A`, or `albums/A` in a collection of its own.
package func node(_ text: some StringProtocol) -> Node {
  let parts = String(text).split(separator: "/" as Character).map(String.init)
  return parts.count == 1 ? Node("n", .text(parts[0])) : Node(parts[0], .text(parts[1]))
}

extension Node {
  package var letters: String {
    collection == "n" ? key.managedText ?? "" : "\(collection)/\(key.managedText ?? "")"
  }
}

extension Edge {
  /// As it is written above; a declared edge has `=` instead of the dash.
  package var letters: String {
    let called = name == "e" ? "" : name
    let end = destination.node?.letters ?? "file"
    return "\(source.letters)\(origin == .manual ? "-" : "=")\(rules.rawValue)\(called)>\(end)"
  }
}

extension Destination {
  package var node: Node? {
    if case .node(let node) = self { node } else { nil }
  }
}

extension StoreUnderTest {
  @discardableResult
  package func run(_ script: String) throws -> Receipt { try apply(changes(script)) }

  /// What the transaction deletes, in the order of the alphabet.
  package func gone(_ script: String) throws -> String { try run(script).deleted.letters }

  /// The nodes that must stay, or else what was wrong, in the order of the alphabet.
  package func refusals(_ script: String) throws -> [String] {
    try verdict(changes(script))
  }

  package func alive(in collection: String = "n") throws -> String {
    try reader.nodes(in: collection, after: nil, limit: 1_000).map(\.node).letters
  }

  package func graph() throws -> String {
    try edges().map(\.letters).sorted().joined(separator: " ")
  }

  /// Each as `receiver: edge`, with a cross behind it where the receiver is deleted.
  package func told() throws -> [String] {
    try reader.notices(after: 0, limit: 1_000).map {
      "\($0.node.letters): \($0.edge.letters)\($0.receiverDeleted ? " †" : "")"
    }
  }
}

extension [Node] {
  package var letters: String { map(\.letters).sorted().joined(separator: " ") }
}

/// Rules as their numbers.
extension Rules: ExpressibleByIntegerLiteral {
  package init(integerLiteral value: Int64) { self.init(rawValue: value) }
}
