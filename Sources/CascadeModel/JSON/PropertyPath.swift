/// The way to a value within objects. In a model a dot is a step: `meta.cover`.
package struct PropertyPath: Hashable, Sendable, CustomStringConvertible {
  /// Outermost first, at least one.
  fileprivate let names: [String]

  package init(_ text: String) {
    names = text.split(separator: "." as Character, omittingEmptySubsequences: false)
      .map(String.init)
  }

  package var description: String { names.joined(separator: ".") }

  /// The member of the whole object that the way begins with.
  package var first: String { names[0] }
}

/// Something on the way has no members.
package struct NoObject: Error {
  package let path: String
  /// What is there instead.
  package let kind: String
}

extension [Member] {
  /// What is at the end of a path: null where nothing is.
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

  /// Puts another value where one is; all others stay as they are written.
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
  /// By bytes: JSON knows no characters that look alike.
  package func isNamed(_ other: String) -> Bool {
    name.utf8Span.span.same(as: other.utf8Span.span)
  }
}
