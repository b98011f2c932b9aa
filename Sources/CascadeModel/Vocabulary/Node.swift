/// The identity of a row or an object: its collection and its key, never a rowid.
package struct Node: Hashable, Sendable {
  package var collection: String
  package var key: Key

  package init(_ collection: String, _ key: Key) {
    self.collection = collection
    self.key = key
  }
}

/// A key as it was written. A managed collection has text keys only, see `managedText`.
package enum Key: Hashable, Sendable {
  case text(String)
  case integer(Int64)
  case composite([Key])

  /// In a managed collection keys are text, and an integer stands for its digits.
  package var managedText: String? {
    switch self {
    case .text(let text): text
    case .integer(let number): String(number)
    case .composite: nil
    }
  }
}

/// Names are the same when their bytes are, as for SQLite. For Swift two strings are equal where their
/// letters are, however those are composed; so what has the same bytes has the same hash.
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

/// What an edge points at.
package enum Destination: Hashable, Sendable {
  case node(Node)
  /// A path below one of the model's file roots.
  case file(root: String, path: String)
}

/// Who says that an edge is there. All but the first belong to their source.
package enum Origin: Int64, Hashable, Sendable {
  case manual = 0
  case declared = 1
  /// The source's value refers to the destination: by a property…
  case property = 2
  /// …or by two, of which one says the destination's collection.
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
