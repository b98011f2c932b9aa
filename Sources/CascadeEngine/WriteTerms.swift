package import CascadeModel
package import CascadeStore

/// What a change demands of the node that it writes, for both engines.
extension Rejection {
  /// A node has other values than a change expects; `columns` is nil if it is not there. Nil if
  /// nothing has changed.
  package init?(changed columns: [String]?, of node: Node) {
    guard let columns else {
      self.init(.changed, "\(node) has changed: it is not there any more", node: node)
      return
    }
    if columns.isEmpty { return nil }
    let names = columns.map { "\"\($0)\"" }.joined(separator: ", ")
    let verb = columns.count == 1 ? "has another value" : "have other values"
    self.init(.changed, "\(node) has changed: \(names) \(verb) by now", node: node)
  }
}

extension Node {
  /// The value that an object has after a put with `merge`: members that the put does not give stay.
  package func merging(_ value: JSONText?, into old: JSONText?) throws -> JSONText? {
    guard let old, let value else { return value ?? old }
    guard var members = old.isNull ? [] : old.members(), let given = value.members() else {
      throw Rejection(
        .invalid, "\(self): \"merge\" needs objects, and a value is none", node: self)
    }
    members.apply(set: given, unset: [])
    return JSONText(object: members)
  }
}

/// A node that goes because an edge that the transaction itself added leads nowhere.
package struct OwnDeletion {
  package let node: Node
  package let edge: Edge
  /// Whether the change that wrote the node, or the file, allows it.
  package let isAllowed: Bool

  package init(_ node: Node, by edge: Edge, isAllowed: Bool) {
    (self.node, self.edge, self.isAllowed) = (node, edge, isAllowed)
  }

  private var reason: Reason {
    let rules = edge.rules.intersection(.ofLostDestination).names.joined(separator: ", ")
    let destination =
      switch edge.destination {
      case .node(let node): "\(node)"
      case .file(let root, let path): "\(root):\(path)"
      }
    return Reason(
      .deletesItself,
      "\(node) would delete itself: its \"\(edge.name)\" leads to \(destination), which is not there "
        + "or goes with this change (\(rules)); \"mayDeleteItself\": true allows that",
      node: node, edge: edge)
  }

  /// Rejects a transaction in which some are not allowed.
  package static func judge(_ all: [OwnDeletion]) throws {
    let reasons = all.filter { !$0.isAllowed }.map(\.reason)
    if !reasons.isEmpty { throw Rejection(reasons) }
  }
}
