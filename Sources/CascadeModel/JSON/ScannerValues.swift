extension Scanner {
  /// Scans a value of any kind with all checks, and returns its range.
  mutating func skipValue(_ bytes: Bytes) throws(Fault) -> Range<Int> {
    let start = at
    switch peek(bytes) {
    case UInt8(ascii: "{"): try skipObject(bytes)
    case UInt8(ascii: "["): try skipList(bytes)
    case UInt8(ascii: "\""): _ = try string(bytes)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      try checkRange(try number(bytes), bytes)
    default: _ = try scalar(bytes)
    }
    return start..<at
  }

  private mutating func skipObject(_ bytes: Bytes) throws(Fault) {
    try open("{", bytes)
    var object = names.open()
    var first = true
    while let name = try nextName(&first, bytes) {
      try remember(name, in: &object, bytes)
      _ = try skipValue(bytes)
    }
    names.close(object)
  }

  private mutating func skipList(_ bytes: Bytes) throws(Fault) {
    try open("[", bytes)
    var first = true
    while try nextElement(&first, bytes) { _ = try skipValue(bytes) }
  }

  /// Refuses a duplicate name in an object.
  mutating func remember(
    _ name: StringToken, in object: inout OpenNames.Object, _ bytes: Bytes
  ) throws(Fault) {
    let plain = name.escaped ? dialect.unescaped(name, bytes) : nil
    if !names.insert(name, plain: plain, into: &object, bytes) {
      throw Fault(name.offset, "duplicate key \"\(shown(text(name, bytes)))\"")
    }
  }

  /// Reads a null, boolean or number.
  mutating func scalar(_ bytes: Bytes) throws(Fault) -> JSON {
    switch peek(bytes) {
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      return try json(try number(bytes), bytes)
    case UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "I"), UInt8(ascii: "N"):
      if dialect == .json5 { return try json(try number(bytes), bytes) }
      throw unexpected(bytes, "a value")
    default: return try word(bytes)
    }
  }

  private mutating func word(_ bytes: Bytes) throws(Fault) -> JSON {
    let start = at
    while peek(bytes) | 0x20 >= 0x61, peek(bytes) | 0x20 <= 0x7A { at += 1 }
    let length = at - start
    switch length <= 5 ? Scanner.text(start..<at, bytes) : "" {
    case "null": return .null
    case "true": return .bool(true)
    case "false": return .bool(false)
    default:
      at = start
      if length == 0 { throw unexpected(bytes, "a value") }
      let word = Scanner.text(start..<start + min(length, 40), bytes)
      throw Fault(start, "expected a value, found \(word); strings need double quotes")
    }
  }
}

/// A name as messages show it: shortened, and without characters that would confuse a terminal.
func shown(_ name: String) -> String {
  let short = name.unicodeScalars.count > 60 ? String(name.unicodeScalars.prefix(60)) + "…" : name
  return String(JSON.string(short).text.dropFirst().dropLast())
}
