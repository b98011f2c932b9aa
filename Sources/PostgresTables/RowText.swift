package import CascadeModel

/// A row as the server writes it as one text: `(1,"a ""b""",,c)`.
package enum RowText {
  /// What is not quoted and empty is null.
  package static func values(_ text: String) -> [String?] {
    var (values, value): ([String?], [UInt8]) = ([], [])
    var (isQuoted, wasQuoted, isEscaped) = (false, false, false)
    func end() {
      values.append(
        value.isEmpty && !wasQuoted ? nil : String(decoding: value, as: UTF8.self))
      (value, wasQuoted) = ([], false)
    }
    // Two quotes within quotes are one: the second begins a quotation again.
    for byte in text.utf8.dropFirst().dropLast() {
      switch byte {
      case _ where isEscaped:
        value.append(byte)
        isEscaped = false
      case UInt8(ascii: "\\"): isEscaped = true
      case UInt8(ascii: "\""):
        if wasQuoted && !isQuoted { value.append(byte) }
        (isQuoted, wasQuoted) = (!isQuoted, true)
      case UInt8(ascii: ",") where !isQuoted: end()
      default: value.append(byte)
      }
    }
    end()
    return values
  }

  /// Numbers that JSON has exactly, and truth; anything else as the server writes it.
  package static func json(_ text: String?, of type: String) -> JSON {
    guard let text else { return .null }
    switch type {
    case "smallint", "integer", "bigint": return Int64(text).map(JSON.integer) ?? .string(text)
    case "boolean": return .bool(text == "t")
    default: return .string(text)
    }
  }
}
