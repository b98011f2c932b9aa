/// An interface as its text describes it. The parameters and replies of all methods are checked
/// against this in one place.
package struct Description: Sendable, Hashable {
  package let text: String
  package internal(set) var name = ""
  package internal(set) var types: [String: Shape] = [:]
  package internal(set) var methods: [String: Method] = [:]
  package internal(set) var errors: [String: [Field]] = [:]

  package struct Method: Sendable, Hashable {
    package let parameters: [Field]
    package let reply: [Field]
  }

  package struct Field: Sendable, Hashable {
    package let name: String
    package let shape: Shape

    package init(name: String, shape: Shape) {
      self.name = name
      self.shape = shape
    }
  }

  package indirect enum Shape: Sendable, Hashable {
    case bool, int, float, string
    /// Any JSON value, as clients of other languages read it.
    case object
    /// Any JSON value. systemd 257 does not know this type yet.
    case any
    case named(String)
    case choice([String])
    case structure([Field])
    case list(Shape)
    case map(Shape)
    case optional(Shape)
  }

  init(text: String) { self.text = text }
}

/// The reason why a text does not describe an interface.
package struct DescriptionError: Error, Hashable, CustomStringConvertible {
  package let line: Int
  package let reason: String

  package init(line: Int, reason: String) {
    self.line = line
    self.reason = reason
  }

  package var description: String { "line \(line): \(reason)" }
}
