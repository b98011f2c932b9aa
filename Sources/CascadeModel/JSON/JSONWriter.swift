extension JSON {
  /// The compact form on one line, in valid UTF-8. Only `raw` values may contain line breaks.
  package var text: String { String(decoding: utf8, as: UTF8.self) }

  package var utf8: [UInt8] {
    var bytes: [UInt8] = []
    write(to: &bytes)
    return bytes
  }

  package func write(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes.append(contentsOf: "null".utf8)
    case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
    case .integer(let value): bytes.append(contentsOf: String(value).utf8)
    // JSON has no such number; JavaScript writes null too.
    case .number(let value) where !value.isFinite: bytes.append(contentsOf: "null".utf8)
    case .number(let value): bytes.append(contentsOf: value.description.utf8)
    case .string(let value): JSON.write(value, to: &bytes)
    case .array(let elements): JSON.write(elements, to: &bytes)
    case .object(let fields): JSON.write(fields, to: &bytes)
    case .raw(let json): bytes.append(contentsOf: json.text.utf8)
    }
  }

  private static func write(_ elements: [JSON], to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "["))
    for (index, element) in elements.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      element.write(to: &bytes)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  private static func write(_ fields: [Field], to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "{"))
    for (index, field) in fields.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      write(field.name, to: &bytes)
      bytes.append(UInt8(ascii: ":"))
      field.value.write(to: &bytes)
    }
    bytes.append(UInt8(ascii: "}"))
  }

  /// Escapes what JSON requires, and also what a terminal may obey.
  static func write(_ string: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    if string.utf8.allSatisfy({ $0 &- 0x20 < 0x5F && $0 != 0x22 && $0 != 0x5C }) {
      bytes.append(contentsOf: string.utf8)
    } else {
      for scalar in string.unicodeScalars { write(scalar, to: &bytes) }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func write(_ scalar: Unicode.Scalar, to bytes: inout [UInt8]) {
    switch scalar {
    case "\"": bytes.append(contentsOf: #"\""#.utf8)
    case "\\": bytes.append(contentsOf: #"\\"#.utf8)
    case "\n": bytes.append(contentsOf: #"\n"#.utf8)
    case "\r": bytes.append(contentsOf: #"\r"#.utf8)
    case "\t": bytes.append(contentsOf: #"\t"#.utf8)
    case _ where scalar.isControlling:
      let digits = String(scalar.value, radix: 16)
      bytes.append(contentsOf: #"\u"#.utf8)
      bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: 4 - digits.utf8.count))
      bytes.append(contentsOf: digits.utf8)
    default: bytes.append(contentsOf: UTF8.encode(scalar)!)
    }
  }
}
