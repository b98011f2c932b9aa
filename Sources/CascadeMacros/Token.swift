/// A word, a string, or one character of punctuation, with its place in bytes. Comments and spaces
/// are none; the end of a line is one, because it may end a declaration.
struct Token: Equatable {
  let text: Substring
  let offset: Int
}

/// Splits Swift source into tokens. A string is one token, with everything that is interpolated.
struct Tokenizer {
  private let bytes: [UInt8]
  private var offset = 0

  static func tokens(of source: String) -> [Token] {
    var tokenizer = Tokenizer(bytes: Array(source.utf8))
    var tokens: [Token] = []
    while let token = tokenizer.next() { tokens.append(token) }
    return tokens
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private func peek(_ distance: Int = 0) -> UInt8 {
    offset + distance < bytes.count ? bytes[offset + distance] : 0
  }

  private mutating func next() -> Token? {
    skipBlanks()
    if offset >= bytes.count { return nil }
    let start = offset
    if isStartOfString {
      skipString()
    } else if isWord(bytes[offset]) {
      while isWord(peek()) { offset += 1 }
    } else {
      offset += peek() == UInt8(ascii: "-") && peek(1) == UInt8(ascii: ">") ? 2 : 1
    }
    return Token(text: Substring(decoding: bytes[start..<offset], as: UTF8.self), offset: start)
  }

  private func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"): true
    case UInt8(ascii: "_"), UInt8(ascii: "$"), UInt8(ascii: "`"), 0x80...: true
    default: false
    }
  }

  // MARK: - Between tokens

  private mutating func skipBlanks() {
    while offset < bytes.count {
      switch peek() {
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): offset += 1
      case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "/"):
        while offset < bytes.count, peek() != UInt8(ascii: "\n") { offset += 1 }
      case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "*"): skipComment()
      default: return
      }
    }
  }

  /// Comments may be nested.
  private mutating func skipComment() {
    var depth = 0
    repeat {
      if peek() == UInt8(ascii: "/"), peek(1) == UInt8(ascii: "*") {
        depth += 1
        offset += 2
      } else if peek() == UInt8(ascii: "*"), peek(1) == UInt8(ascii: "/") {
        depth -= 1
        offset += 2
      } else {
        offset += 1
      }
    } while depth > 0 && offset < bytes.count
    offset = min(offset, bytes.count)
  }

  // MARK: - Strings

  private var isStartOfString: Bool {
    var distance = 0
    while peek(distance) == UInt8(ascii: "#") { distance += 1 }
    return peek(distance) == UInt8(ascii: "\"")
  }

  private mutating func skipString() {
    var hashes = 0
    while peek() == UInt8(ascii: "#") {
      hashes += 1
      offset += 1
    }
    let quotes = peek(1) == UInt8(ascii: "\"") && peek(2) == UInt8(ascii: "\"") ? 3 : 1
    offset += quotes
    while offset < bytes.count {
      if isEnd(quotes, hashes) {
        offset = min(offset + quotes + hashes, bytes.count)
        return
      }
      if isEscape(hashes) { skipEscape(hashes) } else { offset += 1 }
    }
  }

  private func isEnd(_ quotes: Int, _ hashes: Int) -> Bool {
    (0..<quotes).allSatisfy { peek($0) == UInt8(ascii: "\"") }
      && (quotes..<(quotes + hashes)).allSatisfy { peek($0) == UInt8(ascii: "#") }
  }

  private func isEscape(_ hashes: Int) -> Bool {
    peek() == UInt8(ascii: "\\") && (1..<(1 + hashes)).allSatisfy { peek($0) == UInt8(ascii: "#") }
  }

  /// An escaped character, or an interpolation up to its closing parenthesis.
  private mutating func skipEscape(_ hashes: Int) {
    offset += 1 + hashes
    guard peek() == UInt8(ascii: "(") else {
      offset = min(offset + 1, bytes.count)
      return
    }
    var depth = 0
    repeat {
      if isStartOfString {
        skipString()
        continue
      }
      if peek() == UInt8(ascii: "(") { depth += 1 }
      if peek() == UInt8(ascii: ")") { depth -= 1 }
      offset += 1
    } while depth > 0 && offset < bytes.count
    offset = min(offset, bytes.count)
  }
}
