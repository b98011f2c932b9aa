/// The identity of a row or an object: its collection and its key, never a rowid.
package struct Node: Hashable, Sendable {
  package var collection: String
  package var key: Key

  package init(_ collection: String, _ key: Key) {
    self.collection = collection
    self.key = key
  }
}

/// A key as it was written. A managed collection has only text keys, see `managedText`.
package enum Key: Hashable, Sendable {
  case text(String)
  case integer(Int64)
  case composite([Key])

  /// The key as text, as managed collections store it: an integer becomes its digits. Nil if there
  /// is no such form.
  package var managedText: String? {
    switch self {
    case .text(let text): text
    case .integer(let number): String(number)
    case .composite: nil
    }
  }
}

/// Two nodes are equal if their bytes are, as in SQLite. Swift strings are equal also when a letter
/// is composed differently. Equal bytes always have the same hash.
extension Node {
  package static func == (one: Node, other: Node) -> Bool {
    one.collection.hasBytes(of: other.collection) && one.key == other.key
  }
}

extension Key {
  package static func == (one: Key, other: Key) -> Bool {
    switch (one, other) {
    case (.text(let one), .text(let other)): one.hasBytes(of: other)
    case (.integer(let one), .integer(let other)): one == other
    case (.composite(let one), .composite(let other)): one == other
    default: false
    }
  }
}

extension Destination {
  package static func == (one: Destination, other: Destination) -> Bool {
    switch (one, other) {
    case (.node(let one), .node(let other)): one == other
    case (.file(let root, let path), .file(let otherRoot, let otherPath)):
      root.hasBytes(of: otherRoot) && path.hasBytes(of: otherPath)
    default: false
    }
  }
}

extension String {
  package func hasBytes(of other: String) -> Bool {
    utf8Span.span.same(as: other.utf8Span.span)
  }
}

/// The destination of an edge.
package enum Destination: Hashable, Sendable {
  case node(Node)
  /// A path below one of the model's file roots.
  case file(root: String, path: String)
}

/// The source of an edge's existence. All edges but manual ones belong to their source node.
package enum Origin: Int64, Hashable, Sendable {
  case manual = 0
  case declared = 1
  /// The source's value refers to the destination, in one property…
  case property = 2
  /// …or in two properties, one of which gives the destination's collection.
  case polymorphic = 3

  package var name: String { self == .manual ? "manual" : "declared" }
}

package struct Edge: Hashable, Sendable {
  package var name: String
  package var source: Node
  package var destination: Destination
  package var rules: Rules
  package var origin: Origin
  package var kind: EdgeKind

  package init(
    name: String, source: Node, destination: Destination, rules: Rules, origin: Origin,
    kind: EdgeKind = .stored
  ) {
    self.name = name
    self.source = source
    self.destination = destination
    self.rules = rules
    self.origin = origin
    self.kind = kind
  }
}
