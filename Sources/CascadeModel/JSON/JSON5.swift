/// What JSON5 adds to JSON (spec.json5.org). Unquoted names consist of letters, digits, `$` and
/// `_`; names with escapes need quotes. Infinity and NaN are refused, because they have no meaning
/// here.
extension Scanner {
  /// Skips a comment, or a kind of space that only JSON5 has. False when there is neither.
  mutating func skipJSON5Space(_ bytes: Bytes) throws(Fault) -> Bool {
    switch bytes[at] {
    case UInt8(ascii: "/"):
      try skipComment(bytes)
      return true
    case 0x0B, 0x0C:
      at += 1
      return true
    case 0x80...:
      guard let scalar = scalar5(bytes), scalar.properties.isWhitespace else { return false }
      at += UTF8.width(scalar)
      return true
    default: return false
    }
  }

  private mutating func skipComment(_ bytes: Bytes) throws(Fault) {
    let start = at
    at += 1
    switch peek(bytes) {
    case UInt8(ascii: "/"):
      while at < bytes.count, bytes[at] != 0x0A, bytes[at] != 0x0D { try skipCharacter(bytes) }
    case UInt8(ascii: "*"):
      at += 1
      while !(peek(bytes) == UInt8(ascii: "*") && at + 1 < bytes.count
        && bytes[at + 1] == UInt8(ascii: "/"))
      {
        guard at < bytes.count else { throw Fault(start, "a comment without its end, */") }
        try skipCharacter(bytes)
      }
      at += 2
    default: throw Fault(start, "a '/' that does not begin a comment")
    }
  }

  private mutating func skipCharacter(_ bytes: Bytes) throws(Fault) {
    guard let length = utf8Length(bytes, at) else { throw Fault(at, "invalid UTF-8") }
    at += length
  }

  private func scalar5(_ bytes: Bytes) -> Unicode.Scalar? {
    guard let length = utf8Length(bytes, at) else { return nil }
    return Scanner.text(at..<at + length, bytes).unicodeScalars.first
  }

  mutating func name5(_ bytes: Bytes) throws(Fault) -> StringToken {
    if peek(bytes) == UInt8(ascii: "'") { return try string(bytes) }
    let start = at
    while at < bytes.count, let scalar = scalar5(bytes), isNamePart(scalar, first: at == start) {
      at += UTF8.width(scalar)
    }
    guard at > start else { throw unexpected(bytes, "a name") }
    return StringToken(start: start, end: at, escaped: false, offset: start)
  }

  private func isNamePart(_ scalar: Unicode.Scalar, first: Bool) -> Bool {
    if scalar == "$" || scalar == "_" { return true }
    return first ? scalar.properties.isIDStart : scalar.properties.isIDContinue
  }
}

// MARK: - Numbers

extension Scanner {
  mutating func json5Number(_ bytes: Bytes) throws(Fault) -> NumberToken {
    let start = at
    let negative = peek(bytes) == UInt8(ascii: "-")
    if negative || peek(bytes) == UInt8(ascii: "+") { at += 1 }
    switch peek(bytes) {
    case UInt8(ascii: "I"), UInt8(ascii: "N"):
      throw Fault(start, "Infinity and NaN are not allowed; write a number")
    case UInt8(ascii: "0") where at + 1 < bytes.count && bytes[at + 1] | 0x20 == 0x78:
      return try hexadecimal(negative: negative, from: start, bytes)
    default:
      return try decimal5(negative: negative, from: start, bytes)
    }
  }

  private mutating func hexadecimal(
    negative: Bool, from start: Int, _ bytes: Bytes
  ) throws(Fault) -> NumberToken {
    at += 2
    let first = at
    var value: Int64? = 0
    while let digit = hexDigit(peek(bytes)).map(Int64.init) {
      value = value.flatMap { shift($0, negative ? -digit : digit, radix: 16) }
      at += 1
    }
    if at == first { throw unexpected(bytes, "a hexadecimal digit") }
    guard let value else { throw Fault(start, "a hexadecimal number too large for 64 bits") }
    return NumberToken(integer: value, range: start..<at)
  }

  private mutating func decimal5(
    negative: Bool, from start: Int, _ bytes: Bytes
  ) throws(Fault) -> NumberToken {
    let first = at
    var integer: Int64? = 0
    while let digit = decimalDigit(peek(bytes)) {
      integer = integer.flatMap { shift($0, negative ? -digit : digit) }
      at += 1
    }
    let wholeDigits = at - first
    if wholeDigits > 1, bytes[first] == UInt8(ascii: "0") {
      throw Fault(first, "a number with a leading zero")
    }
    let whole = try !fraction5(wholeDigits: wholeDigits, bytes)
    return NumberToken(integer: whole ? integer : nil, range: start..<at)
  }

  private mutating func fraction5(wholeDigits: Int, _ bytes: Bytes) throws(Fault) -> Bool {
    let start = at
    var digits = wholeDigits
    if peek(bytes) == UInt8(ascii: ".") {
      at += 1
      while decimalDigit(peek(bytes)) != nil {
        at += 1
        digits += 1
      }
    }
    if digits == 0 { throw unexpected(bytes, "a digit") }
    try exponent(bytes)
    return at > start
  }

  /// Converts `.5`, `5.` and `+5` to JSON's form first, because `Double` does not read them on
  /// every platform.
  func json5Double(_ range: Range<Int>, _ bytes: Bytes) throws(Fault) -> Double {
    let parts = Scanner.text(range, bytes).split(separator: ".", omittingEmptySubsequences: false)
    var text = String(parts[0])
    if text.first == "+" { text.removeFirst() }
    if parts.count > 1 {
      if text.last?.isNumber != true { text += "0" }
      text += parts[1].first?.isNumber == true ? "." + parts[1] : ".0" + parts[1]
    }
    guard let value = Double(text), value.isFinite else {
      throw Fault(range.lowerBound, "a number too large for a double")
    }
    return value
  }
}
