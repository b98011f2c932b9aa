package import CascadeModel
package import CascadeStore

/// Files below a root count as a collection of their own.

extension Destination {
  package static let fileCollection = "cascade_file/"

  /// The root whose files the collection stands for; nil for a collection of nodes.
  package static func root(of collection: String) -> String? {
    if !collection.hasPrefix(fileCollection) { return nil }
    return String(collection.dropFirst(fileCollection.count))
  }

  /// From a node, which may stand for a file in Cascade's own tables.
  package init(_ node: Node) {
    guard let root = Destination.root(of: node.collection) else {
      self = .node(node)
      return
    }
    self = .file(root: root, path: node.key.managedText ?? "")
  }

  package var node: Node? {
    if case .node(let node) = self { node } else { nil }
  }
}

extension Plan.Step {
  /// In a chain, this may be a file.
  package var subject: Destination { Destination(node) }
}
