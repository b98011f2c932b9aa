internal import CascadeModel

/// A type whose values can be a column of a row, or a member of an object.
///
/// An enumeration with raw values needs nothing but the conformance. Another type says how it is
/// stored and read:
///
///     extension Money: ColumnValue {
///       init(sqlValue: SQLValue) throws(ReadError) { cents = try Int(sqlValue: sqlValue) }
///       var sqlValue: SQLValue { .integer(Int64(cents)) }
///     }
public protocol ColumnValue: Sendable {
  /// Reads what is stored. Throws ``ReadError/unexpected(_:wanted:)`` if it is of another type.
  init(sqlValue: SQLValue) throws(ReadError)

  /// Reads a column of a result. Only a type that is read very often needs its own.
  init(_ column: borrowing ResultColumn) throws(ReadError)

  /// What is stored.
  var sqlValue: SQLValue { get }

  /// Whether the stored text is JSON, so that an object has it as a list and not as a string.
  static var isJSON: Bool { get }

  /// Whether each value that can be read is written as it was stored. A type that reads 1 and "1" as
  /// the same value is not exact.
  static var isExact: Bool { get }
}

extension ColumnValue {
  /// Reads a column by way of its ``SQLValue``.
  @inlinable
  public init(_ column: borrowing ResultColumn) throws(ReadError) {
    try self.init(sqlValue: column.value)
  }

  /// False, unless the type says otherwise.
  public static var isJSON: Bool { false }

  /// False, unless the type says otherwise.
  public static var isExact: Bool { false }
}

// MARK: - Numbers

extension Int64: ColumnValue {
  /// True.
  public static var isExact: Bool { true }

  /// Reads an integer.
  public init(sqlValue: SQLValue) throws(ReadError) {
    guard case .integer(let value) = sqlValue else {
      throw .unexpected(sqlValue, wanted: "an integer")
    }
    self = value
  }

  /// Reads an integer.
  @inlinable
  public init(_ column: borrowing ResultColumn) throws(ReadError) { self = try column.integer() }

  /// An integer.
  public var sqlValue: SQLValue { .integer(self) }
}

extension Int: ColumnValue {
  /// True.
  public static var isExact: Bool { true }

  /// Reads an integer.
  public init(sqlValue: SQLValue) throws(ReadError) { self = Int(try Int64(sqlValue: sqlValue)) }

  /// Reads an integer.
  @inlinable
  public init(_ column: borrowing ResultColumn) throws(ReadError) {
    self = Int(try column.integer())
  }

  /// An integer.
  public var sqlValue: SQLValue { .integer(Int64(self)) }
}

extension Double: ColumnValue {
  /// Reads a number of either kind.
  public init(sqlValue: SQLValue) throws(ReadError) {
    switch sqlValue {
    case .real(let value): self = value
    case .integer(let value): self = Double(value)
    default: throw .unexpected(sqlValue, wanted: "a number")
    }
  }

  /// A real number.
  public var sqlValue: SQLValue { .real(self) }
}

extension Bool: ColumnValue {
  /// Reads an integer, of which 0 is false.
  public init(sqlValue: SQLValue) throws(ReadError) { self = try Int64(sqlValue: sqlValue) != 0 }

  /// 1 or 0.
  public var sqlValue: SQLValue { .integer(self ? 1 : 0) }
}

// MARK: - Text and bytes

extension String: ColumnValue {
  /// True.
  public static var isExact: Bool { true }

  /// Reads text.
  public init(sqlValue: SQLValue) throws(ReadError) {
    guard case .text(let value) = sqlValue else { throw .unexpected(sqlValue, wanted: "text") }
    self = value
  }

  /// Reads text.
  @inlinable
  public init(_ column: borrowing ResultColumn) throws(ReadError) { self = try column.text() }

  /// Text.
  public var sqlValue: SQLValue { .text(self) }
}

extension UUIDv7: ColumnValue {
  /// Reads the usual form of a UUID, of any version.
  public init(sqlValue: SQLValue) throws(ReadError) {
    guard case .text(let text) = sqlValue, let value = UUIDv7(text) else {
      throw .unexpected(sqlValue, wanted: "a UUID")
    }
    self = value
  }

  /// Reads the usual form of a UUID, of any version.
  @inlinable
  public init(_ column: borrowing ResultColumn) throws(ReadError) {
    guard let value = column.uuid else { throw .unexpected(column.value, wanted: "a UUID") }
    self = value
  }

  /// Text in the usual form.
  public var sqlValue: SQLValue { .text(description) }
}

extension ID: ColumnValue {
  /// As the key.
  public static var isExact: Bool { Node.Key.isExact }

  /// Reads a key.
  public init(sqlValue: SQLValue) throws(ReadError) {
    self.init(try Node.Key(sqlValue: sqlValue))
  }

  /// Reads a key.
  @inlinable
  public init(_ column: borrowing ResultColumn) throws(ReadError) {
    self.init(try Node.Key(column))
  }

  /// The key as it is stored.
  public var sqlValue: SQLValue { key.sqlValue }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
  /// NULL is nil.
  public init(sqlValue: SQLValue) throws(ReadError) {
    self = sqlValue == .null ? nil : try Wrapped(sqlValue: sqlValue)
  }

  /// NULL is nil.
  @inlinable
  public init(_ column: borrowing ResultColumn) throws(ReadError) {
    self = column.isNull ? nil : try Wrapped(column)
  }

  /// nil is NULL.
  public var sqlValue: SQLValue { self?.sqlValue ?? .null }

  /// As the wrapped type.
  public static var isJSON: Bool { Wrapped.isJSON }

  /// As the wrapped type.
  public static var isExact: Bool { Wrapped.isExact }
}

// MARK: - Lists and enumerations

/// A list is stored as JSON, as the daemon reads it.
extension Array: ColumnValue where Element: ColumnValue {
  /// Reads a list in JSON. NULL is an empty list.
  public init(sqlValue: SQLValue) throws(ReadError) {
    self = []
    if sqlValue == .null { return }
    guard case .text(let text) = sqlValue, let list = (try? JSON.parse(text))?.array else {
      throw .unexpected(sqlValue, wanted: "a list in JSON")
    }
    for element in list { append(try Element(lenient: SQLValue(element))) }
  }

  /// JSON.
  public var sqlValue: SQLValue { .text(JSON.array(map(\.sqlValue.json)).text) }

  /// True.
  public static var isJSON: Bool { true }
}

extension ColumnValue {
  /// The keys of objects are text, and a list may name them by numbers.
  @usableFromInline
  init(lenient value: SQLValue) throws(ReadError) {
    do throws(ReadError) {
      try self.init(sqlValue: value)
    } catch {
      switch value {
      case .integer(let number): try self.init(sqlValue: .text("\(number)"))
      case .text(let text):
        guard let number = Int64(text) else { throw error }
        try self.init(sqlValue: .integer(number))
      default: throw error
      }
    }
  }
}

extension ColumnValue where Self: RawRepresentable, RawValue: ColumnValue {
  /// As the raw value.
  public static var isExact: Bool { RawValue.isExact }

  /// Reads a raw value. Throws if no case has it.
  public init(sqlValue: SQLValue) throws(ReadError) {
    guard let value = Self(rawValue: try RawValue(sqlValue: sqlValue)) else {
      throw .unexpected(sqlValue, wanted: "a value of \(Self.self)")
    }
    self = value
  }

  /// The raw value.
  public var sqlValue: SQLValue { rawValue.sqlValue }
}
