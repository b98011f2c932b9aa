/// Splits a description into words and signs, without space and comments.
struct DescriptionScanner {
  private let bytes: [UInt8]
  private var at = 0
  private(set) var line = 1
  /// The current word or sign. Empty at the end of the text.
  private(set) var token = ""

  init(_ text: String) throws(DescriptionError) {
    bytes = Array(text.utf8)
    try advance()
  }

  func failure(_ reason: String) -> DescriptionError {
    DescriptionError(line: line, reason: reason)
  }

  mutating func take() throws(DescriptionError) -> String {
    let taken = token
    try advance()
    return taken
  }

  mutating func takeIf(_ expected: String) throws(DescriptionError) -> Bool {
    guard token == expected else { return false }
    try advance()
    return true
  }

  mutating func expect(_ expected: String) throws(DescriptionError) {
    if try !takeIf(expected) {
      throw failure("expected '\(expected)', found \(token.isEmpty ? "the end" : "'\(token)'")")
    }
  }

  private mutating func advance() throws(DescriptionError) {
    skipSpaceAndComments()
    let start = at
    while at < bytes.count, Self.isWord(bytes[at], first: at == start) { at += 1 }
    if at == start, at < bytes.count { try skipSign() }
    token = String(decoding: bytes[start..<at], as: UTF8.self)
  }

  private mutating func skipSign() throws(DescriptionError) {
    switch bytes[at] {
    case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "["), UInt8(ascii: "]"),
      UInt8(ascii: "?"), UInt8(ascii: ":"), UInt8(ascii: ","):
      at += 1
    case UInt8(ascii: "-") where at + 1 < bytes.count && bytes[at + 1] == UInt8(ascii: ">"):
      at += 2
    default: throw failure("unexpected character")
    }
  }

  private mutating func skipSpaceAndComments() {
    var isComment = false
    while at < bytes.count {
      switch bytes[at] {
      case UInt8(ascii: "\n"):
        line += 1
        isComment = false
      case UInt8(ascii: "#"): isComment = true
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): break
      default: if !isComment { return }
      }
      at += 1
    }
  }

  private static func isWord(_ byte: UInt8, first: Bool) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    case UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"): !first
    default: false
    }
  }
}
