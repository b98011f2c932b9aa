/// The content of a string. Its UTF-8 and its escapes are valid.
struct StringToken {
  let start: Int
  let end: Int
  let escaped: Bool
  /// Where the token begins, including the quote: the position for messages.
  let offset: Int

  var range: Range<Int> { start..<end }
}

extension Scanner {
  /// Scans a string. Nearly every string is plain and is found in one run to its closing quote.
  @inline(__always)
  mutating func string(_ bytes: Bytes) throws(Fault) -> StringToken {
    let offset = at
    guard peek(bytes) == UInt8(ascii: "\"") else { return try anyString(bytes) }
    at += 1
    skipPlain(bytes)
    guard peek(bytes) == UInt8(ascii: "\"") else { return try stringEnd(from: offset, bytes) }
    at += 1
    return StringToken(start: offset + 1, end: at - 1, escaped: false, offset: offset)
  }

  private mutating func anyString(_ bytes: Bytes) throws(Fault) -> StringToken {
    guard dialect == .json5, peek(bytes) == UInt8(ascii: "'") else {
      throw unexpected(bytes, "a string")
    }
    at += 1
    return try stringEnd(from: at - 1, bytes)
  }

  /// Scans the rest of a string that is not plain.
  private mutating func stringEnd(from offset: Int, _ bytes: Bytes) throws(Fault) -> StringToken {
    let quote = bytes[offset]
    var escaped = false
    while true {
      skipPlain(bytes)
      guard at < bytes.count else { throw Fault(offset, "a string without its closing quote") }
      let byte = bytes[at]
      if byte == quote { break }
      if byte == UInt8(ascii: "\\") { escaped = true }
      try skipSpecial(byte, bytes)
    }
    at += 1
    return StringToken(start: offset + 1, end: at - 1, escaped: escaped, offset: offset)
  }

  /// Skips plain bytes, eight at a time. This is the hot loop: most bytes of most files pass here.
  @inline(__always)
  private mutating func skipPlain(_ bytes: Bytes) {
    var position = at
    while bytes.count &- position >= 8 {
      let special = specialBytes(bytes.eightBytes(at: position))
      if special != 0 {
        at = position &+ special.trailingZeroBitCount / 8
        return
      }
      position &+= 8
    }
    while position < bytes.count, !isSpecial(bytes[position]) { position &+= 1 }
    at = position
  }

  /// Sets the high bit of the lowest byte that is a control character, a quote, a backslash or not
  /// ASCII. Higher bytes may have their bits set too. The subtractions set it where a byte is
  /// smaller; `word` itself has it where a byte is not ASCII. JSON5 takes the slow path, because it
  /// has single quotes.
  @inline(__always)
  private func specialBytes(_ word: UInt64) -> UInt64 {
    if dialect == .json5 { return isSpecial(UInt8(truncatingIfNeeded: word)) ? 1 : 1 << 8 }
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quotes = (word ^ ones &* 0x22) &- ones
    let backslashes = (word ^ ones &* 0x5C) &- ones
    return (word | (word &- ones &* 0x20) | quotes | backslashes) & (ones &* 0x80)
  }

  private func isSpecial(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte >= 0x80 || byte == 0x22 || byte == 0x5C || byte == 0x27
  }

  private mutating func skipSpecial(_ byte: UInt8, _ bytes: Bytes) throws(Fault) {
    switch byte {
    case UInt8(ascii: "\\"): _ = try dialect.escape(&at, bytes)
    case 0x80...:
      guard let length = utf8Length(bytes, at) else { throw Fault(at, "invalid UTF-8") }
      at += length
    case ..<0x20 where dialect == .json || byte == 0x0A || byte == 0x0D:
      throw Fault(at, "a control character (\(byte)) in a string; write it as an escape")
    default: at += 1
    }
  }
}

// MARK: - The value of a token

extension Scanner {
  @inline(__always)
  func text(_ token: StringToken, _ bytes: Bytes) -> String {
    if token.escaped { return String(decoding: dialect.unescaped(token, bytes), as: UTF8.self) }
    return Scanner.text(token.range, bytes)
  }

  /// The text of bytes that were already scanned, and so are valid.
  static func text(_ range: Range<Int>, _ bytes: Bytes) -> String {
    guard let valid = try? UTF8Span(validating: bytes.extracting(range)) else {
      preconditionFailure("scanned text is valid UTF-8")
    }
    return String(copying: valid)
  }
}

/// The length of the character at `start`; nil when it is not valid UTF-8. Overlong forms,
/// surrogates and values above U+10FFFF are invalid (Unicode, table 3-7).
func utf8Length(_ bytes: Bytes, _ start: Int) -> Int? {
  func follows(_ distance: Int, _ allowed: ClosedRange<UInt8> = 0x80...0xBF) -> Bool {
    start + distance < bytes.count && allowed.contains(bytes[start + distance])
  }
  switch bytes[start] {
  case 0...0x7F: return 1
  case 0xC2...0xDF: return follows(1) ? 2 : nil
  case 0xE0: return follows(1, 0xA0...0xBF) && follows(2) ? 3 : nil
  case 0xED: return follows(1, 0x80...0x9F) && follows(2) ? 3 : nil
  case 0xE1...0xEF: return follows(1) && follows(2) ? 3 : nil
  case 0xF0: return follows(1, 0x90...0xBF) && follows(2) && follows(3) ? 4 : nil
  case 0xF1...0xF3: return follows(1) && follows(2) && follows(3) ? 4 : nil
  case 0xF4: return follows(1, 0x80...0x8F) && follows(2) && follows(3) ? 4 : nil
  default: return nil
  }
}
