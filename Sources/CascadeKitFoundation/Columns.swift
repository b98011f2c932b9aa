public import CascadeKit
public import Foundation

/// Seconds since 1970, with their fraction.
extension Date: ColumnValue {
  /// Reads a number of seconds since 1970.
  public init(sqlValue: SQLValue) throws(ReadError) {
    self.init(timeIntervalSince1970: try Double(sqlValue: sqlValue))
  }

  /// A number of seconds since 1970.
  public var sqlValue: SQLValue { .real(timeIntervalSince1970) }
}

/// Text in capital letters, as Foundation writes it.
extension UUID: ColumnValue {
  /// Reads the usual form, in small or capital letters.
  public init(sqlValue: SQLValue) throws(ReadError) {
    guard case .text(let text) = sqlValue, let value = UUID(uuidString: text) else {
      throw .unexpected(sqlValue, wanted: "a UUID")
    }
    self = value
  }

  /// Text in the usual form.
  public var sqlValue: SQLValue { .text(uuidString) }
}

/// Bytes: a blob in a column, and text in base64 in an object. Both are read.
extension Data: ColumnValue {
  /// Reads bytes, or text in base64.
  public init(sqlValue: SQLValue) throws(ReadError) {
    switch sqlValue {
    case .blob(let bytes): self.init(bytes)
    case .text(let text):
      guard let data = Data(base64Encoded: text) else {
        throw .unexpected(sqlValue, wanted: "base64")
      }
      self = data
    default: throw .unexpected(sqlValue, wanted: "bytes")
    }
  }

  /// Bytes.
  public var sqlValue: SQLValue { .blob(Array(self)) }
}

/// Text, so that no digit is lost. Numbers are read too.
extension Decimal: ColumnValue {
  /// Reads a number, or text with one.
  public init(sqlValue: SQLValue) throws(ReadError) {
    switch sqlValue {
    case .integer(let value): self.init(value)
    case .real(let value): self.init(value)
    case .text(let text):
      guard let value = Decimal(string: text) else {
        throw .unexpected(sqlValue, wanted: "a number")
      }
      self = value
    default: throw .unexpected(sqlValue, wanted: "a number")
    }
  }

  /// Text with all digits.
  public var sqlValue: SQLValue { .text(description) }
}

extension UUID: @retroactive LosslessStringConvertible {
  /// Reads the usual form.
  public init?(_ description: String) { self.init(uuidString: description) }
}

extension UUID: Key {}
