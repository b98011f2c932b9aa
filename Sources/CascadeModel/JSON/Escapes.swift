/// What escapes in strings stand for.
extension JSON.Dialect {
  /// The bytes of a token that was already scanned, with its escapes resolved.
  func unescaped(_ token: StringToken, _ bytes: Bytes) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(token.end - token.start)
    var position = token.start
    while position < token.end {
      if bytes[position] != UInt8(ascii: "\\") {
        result.append(bytes[position])
        position += 1
      } else if let scalar = try? escape(&position, bytes) {
        result.append(contentsOf: UTF8.encode(scalar)!)
      }
    }
    return result
  }

  /// Reads the escape at `position` and steps over it. Nil if it stands for no character (JSON5
  /// only).
  func escape(_ position: inout Int, _ bytes: Bytes) throws(Fault) -> Unicode.Scalar? {
    let start = position
    guard start + 1 < bytes.count else { throw Fault(start, "a string without its closing quote") }
    position += 2
    switch bytes[start + 1] {
    case UInt8(ascii: "\""): return "\""
    case UInt8(ascii: "\\"): return "\\"
    case UInt8(ascii: "/"): return "/"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try unicodeEscape(&position, from: start, bytes)
    default:
      if self == .json5 { return try json5Escape(&position, from: start, bytes) }
      throw Fault(start, "an unknown escape; known: \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX")
    }
  }

  private func unicodeEscape(
    _ position: inout Int, from start: Int, _ bytes: Bytes
  ) throws(Fault) -> Unicode.Scalar {
    let high = try hex(4, &position, bytes)
    if let scalar = Unicode.Scalar(high) { return scalar }
    let lone = Fault(start, "an unpaired surrogate stands for no character")
    guard high < 0xDC00, position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
      bytes[position + 1] == UInt8(ascii: "u")
    else { throw lone }
    position += 2
    let low = try hex(4, &position, bytes)
    guard 0xDC00...0xDFFF ~= low else { throw lone }
    return Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))!
  }

  private func hex(_ digits: Int, _ position: inout Int, _ bytes: Bytes) throws(Fault) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<digits {
      guard position < bytes.count, let digit = hexDigit(bytes[position]) else {
        throw Fault(position, "expected \(digits) hexadecimal digits in an escape")
      }
      value = value << 4 | digit
      position += 1
    }
    return value
  }
}

// MARK: - JSON5

extension JSON.Dialect {
  /// Reads an escape that only JSON5 has. `position` is after its letter.
  private func json5Escape(
    _ position: inout Int, from start: Int, _ bytes: Bytes
  ) throws(Fault) -> Unicode.Scalar? {
    switch bytes[start + 1] {
    case UInt8(ascii: "'"): return "'"
    case UInt8(ascii: "v"): return "\u{B}"
    case UInt8(ascii: "x"): return Unicode.Scalar(UInt8(try hex(2, &position, bytes)))
    case 0x0A: return nil
    case 0x0D:
      if position < bytes.count, bytes[position] == 0x0A { position += 1 }
      return nil
    case UInt8(ascii: "0") where position == bytes.count || decimalDigit(bytes[position]) == nil:
      return "\0"
    case UInt8(ascii: "0")...UInt8(ascii: "9"):
      throw Fault(start, "an escape with digits; write \\xHH or \\uXXXX")
    default: return try escapedCharacter(&position, from: start + 1, bytes)
    }
  }

  /// Any other letter stands for itself; an escaped line separator stands for nothing.
  private func escapedCharacter(
    _ position: inout Int, from start: Int, _ bytes: Bytes
  ) throws(Fault) -> Unicode.Scalar? {
    guard let length = utf8Length(bytes, start) else { throw Fault(start, "invalid UTF-8") }
    position = start + length
    let scalar = Scanner.text(start..<position, bytes).unicodeScalars.first!
    return scalar == "\u{2028}" || scalar == "\u{2029}" ? nil : scalar
  }
}

func hexDigit(_ byte: UInt8) -> UInt32? {
  switch byte {
  case 0x30...0x39: UInt32(byte - 0x30)
  case 0x41...0x46: UInt32(byte - 0x41 + 10)
  case 0x61...0x66: UInt32(byte - 0x61 + 10)
  default: nil
  }
}

func decimalDigit(_ byte: UInt8) -> Int64? {
  byte &- 0x30 < 10 ? Int64(byte &- 0x30) : nil
}
