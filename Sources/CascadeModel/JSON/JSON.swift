/// A JSON value. Objects keep the order of their members; `raw` is written as it is.
package enum JSON: Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([Field])
  case raw(JSONText)

  package struct Field: Hashable, Sendable {
    package var name: String
    package var value: JSON

    package init(_ name: String, _ value: JSON) {
      self.name = name
      self.value = value
    }
  }

  package enum Dialect: Sendable {
    /// RFC 8259.
    case json
    /// The form of model files: comments, unquoted names, trailing commas.
    case json5
  }

  /// The member of an object; nil if there is none, or if the value is not an object.
  package subscript(name: String) -> JSON? {
    object?.first { $0.name == name }?.value
  }
}

// MARK: - Kinds and values

extension JSON {
  package var isNull: Bool { self == .null }

  package var bool: Bool? {
    if case .bool(let value) = self { value } else { nil }
  }

  package var integer: Int64? {
    if case .integer(let value) = self { value } else { nil }
  }

  /// Integers count as numbers too.
  package var number: Double? {
    switch self {
    case .number(let value): value
    case .integer(let value): Double(value)
    default: nil
    }
  }

  package var string: String? {
    if case .string(let value) = self { value } else { nil }
  }

  package var array: [JSON]? {
    if case .array(let value) = self { value } else { nil }
  }

  package var object: [Field]? {
    if case .object(let value) = self { value } else { nil }
  }

  /// For messages: "expected a string, found a list".
  package var kind: String {
    switch self {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .integer, .number: "a number"
    case .string: "a string"
    case .array: "a list"
    case .object: "an object"
    case .raw: "JSON"
    }
  }
}

// MARK: - Literals

extension JSON: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  package init(nilLiteral: ()) { self = .null }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(floatLiteral value: Double) { self = .number(value) }
  package init(stringLiteral value: String) { self = .string(value) }
  package init(arrayLiteral elements: JSON...) { self = .array(elements) }
  package init(dictionaryLiteral elements: (String, JSON)...) {
    self = .object(elements.map { Field($0.0, $0.1) })
  }
}
