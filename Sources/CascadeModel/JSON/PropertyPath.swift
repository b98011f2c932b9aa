/// The path to a value within nested objects. In a model, dots separate the names: `meta.cover`.
package struct PropertyPath: Hashable, Sendable, CustomStringConvertible {
  /// Outermost first; at least one name.
  fileprivate let names: [String]

  package init(_ text: String) {
    names = text.split(separator: "." as Character, omittingEmptySubsequences: false)
      .map(String.init)
  }

  package var description: String { names.joined(separator: ".") }

  /// The name of the member in the outermost object.
  package var first: String { names[0] }
}

/// A value on the path is not an object, so it has no members.
package struct NoObject: Error, CustomStringConvertible {
  package let path: String
  /// The kind of the value found instead.
  package let kind: String

  package var description: String { "\(path) is \(kind), and no object" }
}

extension [Member] {
  /// The value at a path; null if there is none.
  package func value(at path: PropertyPath) throws(NoObject) -> JSONText {
    var members = self
    for (index, name) in path.names.enumerated() {
      guard let value = members[name] else { break }
      if index == path.names.count - 1 { return value }
      if value.isNull { break }
      guard let inner = value.members() else {
        let way = path.names[...index].joined(separator: ".")
        throw NoObject(path: way, kind: value.json.kind)
      }
      members = inner
    }
    return .null
  }

  /// Sets the value at a path. What is not there, or null, on the way becomes an object.
  package mutating func set(_ value: JSONText, at path: PropertyPath) throws(NoObject) {
    try set(value, at: path.names[...], of: path)
  }

  private mutating func set(
    _ value: JSONText, at names: ArraySlice<String>, of path: PropertyPath
  ) throws(NoObject) {
    guard let name = names.first else { return }
    var value = value
    if names.count > 1 {
      let old = self[name] ?? .null
      guard var inner = old.isNull ? [] : old.members() else {
        let way = path.names[..<names.endIndex.advanced(by: 1 - names.count)]
        throw NoObject(path: way.joined(separator: "."), kind: old.json.kind)
      }
      try inner.set(value, at: names.dropFirst(), of: path)
      value = JSONText(object: inner)
    }
    apply(set: [Member(name: name, value: value)], unset: [])
  }

  /// Replaces the value at a path. All other members keep their text.
  package mutating func replace(at path: PropertyPath, with value: JSONText) {
    replace(at: path.names[...], with: value)
  }

  private mutating func replace(at names: ArraySlice<String>, with value: JSONText) {
    guard let name = names.first, let index = firstIndex(where: { $0.isNamed(name) })
    else { return }
    var value = value
    if names.count > 1 {
      guard var inner = self[index].value.members() else { return }
      inner.replace(at: names.dropFirst(), with: value)
      value = JSONText(object: inner)
    }
    self[index] = Member(name: self[index].name, value: value)
  }

  private subscript(name: String) -> JSONText? { first { $0.isNamed(name) }?.value }
}

extension Member {
  /// Whether the names have the same bytes. Swift's equality would accept other encodings of a
  /// letter.
  package func isNamed(_ other: String) -> Bool {
    name.utf8Span.span.same(as: other.utf8Span.span)
  }
}
