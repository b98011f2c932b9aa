/// Why a text is not valid JSON. Lines and columns begin with 1. A column counts Unicode scalars,
/// which editors call characters.
package struct JSONError: Error, Hashable, CustomStringConvertible {
  package let line: Int
  package let column: Int
  package let message: String

  package var description: String { "line \(line), column \(column): \(message)" }
}

extension JSON {
  /// Parses a text. `levels` is how many levels a message adds around its content: the content may
  /// be nested as deeply as a file.
  package static func parse(
    _ bytes: [UInt8], as dialect: Dialect = .json, around levels: Int = 0
  ) throws(JSONError) -> JSON {
    try parse(bytes.span, as: dialect, around: levels)
  }

  package static func parse(
    _ text: String, as dialect: Dialect = .json
  ) throws(JSONError) -> JSON {
    try parse(Array(text.utf8).span, as: dialect)
  }

  package static func parse(
    _ bytes: Span<UInt8>, as dialect: Dialect = .json, around levels: Int = 0
  ) throws(JSONError) -> JSON {
    var scanner = Scanner(dialect)
    scanner.restart(depth: -levels)
    do throws(Fault) {
      try scanner.begin(bytes)
      let value = try scanner.value(bytes)
      try scanner.end(bytes)
      return value
    } catch {
      let place = SourcePosition(of: error.offset, in: bytes)
      throw JSONError(line: place.line, column: place.column, message: error.message)
    }
  }
}

extension Scanner {
  /// Reads a value of any kind into a tree.
  mutating func value(_ bytes: Bytes) throws(Fault) -> JSON {
    switch peek(bytes) {
    case UInt8(ascii: "{"): return .object(try fields(bytes))
    case UInt8(ascii: "["): return .array(try elements(bytes))
    case UInt8(ascii: "\""): return .string(text(try string(bytes), bytes))
    case UInt8(ascii: "'") where dialect == .json5: return .string(text(try string(bytes), bytes))
    default: return try scalar(bytes)
    }
  }

  private mutating func fields(_ bytes: Bytes) throws(Fault) -> [JSON.Field] {
    try open("{", bytes)
    var fields: [JSON.Field] = []
    var object = names.open()
    var first = true
    while let name = try nextName(&first, bytes) {
      try remember(name, in: &object, bytes)
      fields.append(JSON.Field(text(name, bytes), try value(bytes)))
    }
    names.close(object)
    return fields
  }

  private mutating func elements(_ bytes: Bytes) throws(Fault) -> [JSON] {
    try open("[", bytes)
    var elements: [JSON] = []
    var first = true
    while try nextElement(&first, bytes) { elements.append(try value(bytes)) }
    return elements
  }
}
