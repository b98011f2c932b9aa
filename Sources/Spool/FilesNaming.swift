package import CascadeModel
internal import CascadeSystem

/// Files of the spool that name a node.
extension SpoolDirectory {
  /// Those that wait, are held, or were rejected. A file that cannot be read as one of changes names whatever
  /// its text has.
  package func filesNaming(_ nodes: Set<Node>) throws -> [String] {
    let texts = nodes.compactMap(\.key.managedText).filter { $0.utf8.count > 3 }
    func naming(_ state: String, _ directory: borrowing Directory) throws -> [String] {
      try directory.names().filter { !$0.isHidden && !$0.isOfReasons }.compactMap { name in
        try names(nodes, texts, name, in: directory) ? "\(state)/\(name)" : nil
      }
    }
    return try
      (naming("new", parts.incoming) + naming("held", parts.held)
      + naming("rejected", parts.rejected))
      .sorted()
  }

  private func names(
    _ nodes: Set<Node>, _ texts: [String], _ name: FileName, in directory: borrowing Directory
  ) throws -> Bool {
    do {
      let next = try PreparedFile(name, in: directory).changes()
      while let change = try next() {
        if change.nodes.contains(where: { nodes.contains($0) || nodes.contains($0.asText) }) {
          return true
        }
      }
      return false
    } catch SpoolFault.vanished {
      return false
    } catch is SystemError {
      return false
    } catch {
      let bytes = try directory.file(name).readWhole(limit: 64 << 20) ?? []
      return texts.contains { text in
        bytes.indices.contains { bytes[$0...].starts(with: text.utf8) }
      }
    }
  }
}

extension Node {
  /// In a managed collection an integer stands for its digits.
  fileprivate var asText: Node { Node(collection, key.managedText.map(Key.text) ?? key) }
}

extension Change {
  /// Every node that it names.
  fileprivate var nodes: [Node] {
    switch self {
    case .put(let node, _, _, let edges, _, _):
      [node] + (edges ?? []).compactMap { Change.node($0.destination) }
    case .patch(let node, _, _, _, _), .delete(let node, _): [node]
    case .link(_, let from, let to, _, _), .unlink(_, let from, let to, _):
      [from] + [to].compactMap(Change.node)
    case .relink(_, let from, let to, _, _): [from] + to.compactMap(Change.node)
    case .restore(let thing): if case .node(let node) = thing.subject { [node] } else { [] }
    case .deleteAll, .flush: []
    }
  }

  private static func node(_ end: Destination) -> Node? {
    if case .node(let node) = end { node } else { nil }
  }
}
