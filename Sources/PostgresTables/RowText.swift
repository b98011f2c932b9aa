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

  /// The text of a row with these values.
  package static func text(_ values: [String?]) -> String {
    let parts = values.map { value in
      guard let value else { return "" }
      let escaped = value.utf8.flatMap { byte in
        byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? [byte, byte] : [byte]
      }
      return "\"\(String(decoding: escaped, as: UTF8.self))\""
    }
    return "(\(parts.joined(separator: ",")))"
  }

  /// The same of what `json` returns.
  package static func value(_ json: JSON) -> String? {
    switch json {
    case .null: nil
    case .bool(let flag): flag ? "t" : "f"
    case .string(let text): text
    default: json.text
    }
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
