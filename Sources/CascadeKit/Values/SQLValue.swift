package import CascadeModel

/// A value as SQLite stores it.
public enum SQLValue: Hashable, Sendable {
  /// No value.
  case null
  /// A whole number of 64 bits.
  case integer(Int64)
  /// A floating-point number.
  case real(Double)
  /// Text in UTF-8.
  case text(String)
  /// Bytes. A column has them as they are, and an object as text in base64.
  case blob([UInt8])
}

extension SQLValue {
  /// The value as a column of a table, in a change file.
  package var columnJSON: JSON {
    switch self {
    case .blob(let bytes): GivenValue.blob(bytes).json
    case .real(let value): GivenValue.real(value).json
    case .text(let text) where text.needsBytes: GivenValue.text(Array(text.utf8)).json
    default: json
    }
  }

  /// The value within an object or a list. Bytes become text in base64.
  package var json: JSON {
    switch self {
    case .null: .null
    case .integer(let value): .integer(value)
    case .real(let value): .number(value)
    case .text(let value): .string(value)
    case .blob(let value): .string(Base64.encode(value[...]))
    }
  }

  /// What a member of an object means as a column. Lists and objects stay JSON.
  package init(_ json: JSON) {
    switch json {
    case .null: self = .null
    case .bool(let value): self = .integer(value ? 1 : 0)
    case .integer(let value): self = .integer(value)
    case .number(let value): self = .real(value)
    case .string(let value): self = .text(value)
    default: self = .text(json.text)
    }
  }

  /// The kind of value, for messages.
  var kind: String {
    switch self {
    case .null: "NULL"
    case .integer: "an integer"
    case .real: "a real number"
    case .text: "text"
    case .blob: "a blob"
    }
  }
}

extension String {
  /// Whether it would be taken for something else as a string in a change file: PostgreSQL has no NUL,
  /// and a text like a blob of SQL may be one.
  fileprivate var needsBytes: Bool {
    utf8.contains(0)
      || utf8.first.map { $0 | 0x20 } == UInt8(ascii: "x")
        && utf8.dropFirst().first == UInt8(ascii: "'")
  }
}

extension SQLValue: ExpressibleByNilLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByStringLiteral
{
  /// `nil` is ``null``.
  public init(nilLiteral: ()) { self = .null }
  /// A number without a point is ``integer(_:)``.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// A number with a point is ``real(_:)``.
  public init(floatLiteral value: Double) { self = .real(value) }
  /// A string is ``text(_:)``.
  public init(stringLiteral value: String) { self = .text(value) }
}
