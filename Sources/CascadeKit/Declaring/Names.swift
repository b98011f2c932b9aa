package import CascadeModel

/// The name of a node: its collection and its key.
public struct NodeName: Hashable, Sendable, CustomStringConvertible {
  /// The name of the collection.
  public let collection: String
  /// The parts of the key. Only a composite key has more than one.
  public let key: [SQLValue]

  init(_ collection: String, _ key: SQLValue...) {
    self.collection = collection
    self.key = key
  }

  /// Names the node with an identity.
  public init<M: Model>(_ id: ID<M>) { self = M.node(id) }

  package init?(_ json: JSON?) {
    guard let parts = json?.array, parts.count == 2, let collection = parts[0].string else {
      return nil
    }
    self.collection = collection
    key = (parts[1].array ?? [parts[1]]).map(SQLValue.init)
  }

  package var json: JSON {
    [.string(collection), key.count == 1 ? key[0].json : .array(key.map(\.json))]
  }

  /// `collection/key`, as `cascadectl` takes it.
  public var description: String {
    if key.count == 1, case .text(let text) = key[0] { return "\(collection)/\(text)" }
    return key.count == 1 ? "\(collection)/\(key[0].json.text)" : json.text
  }

  /// Whether this is the node of an identity. Keys of objects are text, whatever the model has.
  public func isNode<M: Model>(_ id: ID<M>) -> Bool {
    if collection != M.collection.name || key.count != 1 { return false }
    return key[0] == id.sqlValue || key[0] == .text(id.description)
  }
}

/// The other end of an edge.
public enum EdgeEnd: Hashable, Sendable, CustomStringConvertible {
  /// A row or an object.
  case node(NodeName)
  /// A file: its path below a root.
  case file(path: String, root: String)

  init?(_ json: JSON?) {
    if let path = json?["file"]?.string, let root = json?["root"]?.string {
      self = .file(path: path, root: root)
    } else if let node = NodeName(json) {
      self = .node(node)
    } else {
      return nil
    }
  }

  var json: JSON {
    switch self {
    case .node(let node): node.json
    case .file(let path, let root): ["file": .string(path), "root": .string(root)]
    }
  }

  /// The node, or the root and the path of the file.
  public var description: String {
    switch self {
    case .node(let node): node.description
    case .file(let path, let root): "\(root):\(path)"
    }
  }
}

/// An edge: its name, its two ends, and what happens to one when the other goes.
public struct EdgeName: Hashable, Sendable, CustomStringConvertible {
  /// The name of the relationship.
  public let name: String
  /// The node that has the reference.
  public let source: NodeName
  /// The node or file that it leads to.
  public let destination: EdgeEnd
  /// The rules, where they are known.
  public let rules: Rules

  init(_ name: String, from source: NodeName, to destination: EdgeEnd, _ rules: Rules) {
    self.name = name
    self.source = source
    self.destination = destination
    self.rules = rules
  }

  init?(_ json: JSON?) {
    guard let json, let name = json["name"]?.string, let source = NodeName(json["from"]),
      let destination = EdgeEnd(json["to"])
    else { return nil }
    self.name = name
    self.source = source
    self.destination = destination
    rules = Rules(names: (json["rules"]?.array ?? []).compactMap(\.string))
  }

  /// `name: source → destination`.
  public var description: String { "\(name): \(source) → \(destination)" }
}

/// An edge that an object declares of itself: see ``Model/edges``.
public struct Edge: Hashable, Sendable {
  /// The name of the relationship.
  public let name: String
  /// The node or file that it leads to.
  public let destination: EdgeEnd
  /// The rules; nil if the model declares them for the name.
  public let rules: Rules?

  /// An edge to a row or an object.
  public init<M: Model>(_ name: String, to id: ID<M>, rules: Rules? = nil) {
    self.init(name, .node(M.node(id)), rules)
  }

  /// An edge to a file below a root.
  public init(_ name: String, toFile path: String, root: String, rules: Rules? = nil) {
    self.init(name, .file(path: path, root: root), rules)
  }

  private init(_ name: String, _ destination: EdgeEnd, _ rules: Rules?) {
    self.name = name
    self.destination = destination
    self.rules = rules
  }

  /// Stands for the edges of a model that declares none. No edge has an empty name.
  static let undeclared = [Edge("", .file(path: "", root: ""), nil)]

  var json: JSON {
    var fields = [JSON.Field("name", .string(name)), JSON.Field("to", destination.json)]
    if let rules { fields.append(JSON.Field("rules", rules.json)) }
    return .object(fields)
  }
}
