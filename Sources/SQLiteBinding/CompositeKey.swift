internal import CascadeModel
package import CascadeSQLite

/// A part of a composite key, in the list that stands for the key (`NodeTable.key`). It is encoded
/// so that reading it gives the same value. SQLite's own JSON functions know no blob, write reals
/// with 15 digits, and read a text only up to a NUL. A part that begins with x' is a blob. If a
/// text begins with x', its x is escaped.
package enum CompositeKeyPart {
  /// The part for the value of this column, as SQL. A real has only as many digits as distinguish
  /// it from every other.
  package static func written(_ column: String) -> String {
    """
    CASE typeof(\(column)) WHEN 'blob' THEN 'x''' || hex(\(column)) || ''''
      WHEN 'real' THEN iif(CAST(printf('%!.15g', \(column)) AS REAL) = \(column), \(column),
        json(replace(printf('%!.18g', \(column)), 'Inf', '9e999')))
      WHEN 'text' THEN iif(substr(\(column), 1, 2) = 'x''',
        json('"\\u0078' || substr(json_quote(\(column)), 3)), \(column))
      ELSE \(column) END
    """
  }

  /// The same for a value in memory.
  static func written(_ value: Value) -> String {
    guard case .text(let text) = value else { return value.json.text }
    if !text.utf8.starts(with: "x'".utf8) { return quoted(text) }
    return #""\u0078"# + quoted(String(text.unicodeScalars.dropFirst())).dropFirst()
  }

  /// A string with exactly the escapes that SQLite's functions write: the same key has the same text.
  private static func quoted(_ text: String) -> String {
    "\"\(text.unicodeScalars.map(escaped).joined())\""
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\"": #"\""#
    case "\\": #"\\"#
    case "\u{8}": #"\b"#
    case "\t": #"\t"#
    case "\n": #"\n"#
    case "\u{C}": #"\f"#
    case "\r": #"\r"#
    case "\0"..."\u{1F}":
      #"\u00"# + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
    default: String(scalar)
    }
  }

  /// The value of a part, as SQL. Few keys need special treatment, so the key is checked as a whole
  /// first.
  static func read(_ place: Int, of key: String) -> String {
    let part = "(\(key) -> \(place))"
    return
      "iif(\(needsDecoding(key)) AND \(needsDecoding(part)), cascade_value\(part), \(key) ->> \(place))"
  }

  /// The same list, with every blob as a text.
  package static func asTexts(_ list: String) -> String {
    "replace(\(list), '\"x''', '\"\\u0078''')"
  }

  /// Whether SQLite's own functions may read something other than what was written.
  static func needsDecoding(_ list: String) -> String {
    #"(instr(\#(list), '"x''') OR instr(\#(list), '\u0000'))"#
  }

  /// Implements `cascade_value`: the value that such a part stands for.
  package static func value(_ part: String) -> Value {
    guard let text = try? JSON.parse(part).string else { return .null }
    return [UInt8](sqlBlob: text).map(Value.blob) ?? .text(text)
  }
}
