internal import CascadeModel
internal import CascadeEngine
internal import CascadePostgres
internal import CascadeStore
internal import PostgresBinding
internal import PostgresSweeps
internal import PostgresTables

/// What a change file does to edges in Cascade's own tables.
extension ChangeFile {
  enum Stored {
    case edge(StoredEdges.Edge)
    case file(StoredFiles.Edge)

    var edge: StoredEdges.Edge? { if case .edge(let edge) = self { edge } else { nil } }
    var file: StoredFiles.Edge? { if case .file(let file) = self { file } else { nil } }
  }

  mutating func stored(
    _ name: String, _ from: Node, _ to: Destination
  ) throws -> Stored {
    let source = try table(from.collection)
    let key = try key(of: from, in: source)
    switch to {
    case .file(let root, let path):
      return .file(
        StoredFiles.Edge(name: name, source: source, key: key, root: root, path: path))
    case .node(let to):
      let destination = try table(to.collection)
      return .edge(
        StoredEdges.Edge(
          name: name, source: source, destination: destination,
          ends: [key, try self.key(of: to, in: destination)]))
    }
  }

  mutating func add(_ stored: Stored, _ rules: Rules, isDeclared: Bool) throws {
    switch stored {
    case .edge(let edge): try edges.add(edge, rules, isDeclared: isDeclared)
    case .file(let edge): try files.add(edge, rules, isDeclared: isDeclared)
    }
  }

  /// Whether it was there.
  mutating func unlink(_ stored: Stored, as removal: Removal) throws -> Bool {
    switch stored {
    case .edge(let edge): try edges.unlink(edge, as: removal)
    case .file(let edge): try files.unlink(edge, as: removal)
    }
  }

  /// The rules of an edge, or what the model says of one that is written without.
  func rules(
    _ given: Rules?, _ name: String, _ from: Node, _ to: Destination
  ) throws -> Rules {
    if let rules = given ?? store.model.rules(for: name, from: from.collection, to: to) {
      return rules
    }
    throw Rejection(
      .invalid,
      "the edge \"\(name)\" from \(from) has no rules, and the model declares no relationship "
        + "\"\(name)\" from \"\(from.collection)\" to \(to.json.text)", node: from)
  }

  /// The declared edges of a node become these.
  mutating func declare(_ declared: [DeclaredEdge], of node: Node) throws {
    let table = try table(node.collection)
    let wanted = try declared.map {
      (
        edge: try stored($0.name, node, $0.destination),
        rules: try rules($0.rules, $0.name, node, $0.destination)
      )
    }
    for (edge, rules) in wanted { try add(edge, rules, isDeclared: true) }
    let key = try key(of: node, in: table)
    try edges.removeDeclared(of: key, in: table, but: wanted.compactMap(\.edge.edge))
    try files.removeDeclared(of: key, in: table, but: wanted.compactMap(\.edge.file))
  }
}
