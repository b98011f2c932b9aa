package import CascadeModel
package import CascadeStore

/// Why a node must stay, in the same words wherever it is told: by a trigger to an application, by a receipt,
/// by a sweep.
package enum DenialText {
  /// The parts of a sentence. A trigger makes some of them from rows, as SQL; `words` turns the others into
  /// what they are put together with.
  package static func stays(
    _ node: String, because why: [String], words: (String) -> String = { $0 }
  ) -> [String] { [node, words(" must stay: ")] + why }

  /// That a row outside of the model refers to it by a foreign key.
  package static func held(byRowOf table: String, _ columns: [String]) -> String {
    "a row of \"\(table)\" refers to it (FOREIGN KEY (\(columns.joined(separator: ", "))))"
  }

  package static let leased = "it is leased"
  package static let protected = "it is protected: "

  /// That a node is protected itself, or because another one is: the parts of a sentence.
  package static func protected(
    _ node: String, with root: String?, because reason: String, words: (String) -> String = { $0 }
  ) -> [String] {
    guard let root else { return [node, words(" is protected: "), reason] }
    return [node, words(" is protected with "), root, words(": "), reason]
  }

  /// That an edge holds the node by a rule.
  package static func held(
    by holder: String, _ relationship: String, _ rule: String, words: (String) -> String = { $0 }
  ) -> [String] {
    [holder, words(" holds it by \""), relationship, words("\" ("), rule, words(")")]
  }
}

extension Reason {
  /// Why a node must not be marked.
  package static func unmarkable(_ node: Node, because why: String) -> Reason {
    .mustStay(node, because: why, why.hasPrefix(DenialText.protected) ? .protected : .denied)
  }

  package static func protected(_ node: Node, with root: Node, because reason: String) -> Reason {
    let text = DenialText.protected(
      "\(node)", with: node == root ? nil : "\(root)", because: reason)
    return Reason(.protected, text.joined(), node: node, keepsNode: true)
  }

  package static func mustStay(
    _ node: Node, because why: String, _ code: Code = .denied
  ) -> Reason {
    Reason(
      code, DenialText.stays("\(node)", because: [why]).joined(), node: node, keepsNode: true)
  }

  /// An edge denies the deletion of the node at one end. `rule` tells by what, if it is no rule of the
  /// model's.
  package static func mustStay(at end: EdgeEnd, of edge: Edge, by rule: String? = nil) -> Reason {
    let why = DenialText.held(
      by: edge.described(end.other), edge.name, rule ?? end.denial.names.joined())
    let node = end == .source ? edge.source : edge.destination.node
    return Reason(
      .denied, DenialText.stays(edge.described(end), because: why).joined(), node: node, edge: edge,
      keepsNode: node != nil)
  }
}

extension Edge {
  fileprivate func described(_ end: EdgeEnd) -> String {
    if end == .source { return "\(source)" }
    return destination.node.map { "\($0)" } ?? destination.json.text
  }
}
