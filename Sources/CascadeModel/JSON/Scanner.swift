/// The UTF-8 bytes of one JSON document. A span cannot be stored in a struct that outlives a call,
/// so it is passed to the scanner at every step.
typealias Bytes = Span<UInt8>

/// What is wrong, and at which offset. Line, column and path are computed only when they are
/// needed.
struct Fault: Error, CustomStringConvertible {
  let offset: Int
  let message: String
  var description: String { message }

  init(_ offset: Int, _ message: String) {
    self.offset = offset
    self.message = message
  }
}

/// Reads JSON token by token. All reading of JSON uses this scanner, so all of it is equally
/// strict: RFC 8259 (or JSON5 on request), valid UTF-8, no duplicate names, bounded depth.
struct Scanner {
  static let maximumDepth = 64

  let dialect: JSON.Dialect
  var at = 0
  var depth = 0
  var names = OpenNames()

  init(_ dialect: JSON.Dialect = .json) { self.dialect = dialect }

  /// Begins a new document. Scratch memory is kept, so that a million lines allocate it once.
  mutating func restart(at offset: Int = 0, depth: Int = 0) {
    at = offset
    self.depth = depth
    names.removeAll()
  }

  /// The next byte; 0 at the end. A zero byte is not valid anywhere in JSON, so 0 is unambiguous.
  func peek(_ bytes: Bytes) -> UInt8 { at < bytes.count ? bytes[at] : 0 }

  mutating func begin(_ bytes: Bytes) throws(Fault) {
    if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF {
      throw Fault(0, "a byte order mark; write UTF-8 without it")
    }
    try skipSpace(bytes)
  }

  mutating func end(_ bytes: Bytes) throws(Fault) {
    try skipSpace(bytes)
    if at < bytes.count { throw unexpected(bytes, "nothing more") }
  }

  /// Machine-written JSON has no spaces, so the common case is decided without a call.
  @inline(__always)
  mutating func skipSpace(_ bytes: Bytes) throws(Fault) {
    guard at < bytes.count else { return }
    let byte = bytes[at]
    if byte <= 0x20 || byte >= 0x7F || byte == UInt8(ascii: "/") { try skipSomeSpace(bytes) }
  }

  private mutating func skipSomeSpace(_ bytes: Bytes) throws(Fault) {
    while at < bytes.count {
      switch bytes[at] {
      case 0x20, 0x0A, 0x0D, 0x09: at += 1
      default:
        guard dialect == .json5, try skipJSON5Space(bytes) else { return }
      }
    }
  }

  func unexpected(_ bytes: Bytes, _ wanted: String) -> Fault {
    guard at < bytes.count else { return Fault(at, "expected \(wanted), found the end") }
    return Fault(at, "expected \(wanted), found \(describe(bytes))")
  }

  private func describe(_ bytes: Bytes) -> String {
    switch bytes[at] {
    case 0x21...0x7E: "'\(Unicode.Scalar(bytes[at]))'"
    case 0x20: "a space"
    case 0x80...: utf8Length(bytes, at) == nil ? "invalid UTF-8" : "a letter outside of quotes"
    default: "a control character (\(bytes[at]))"
    }
  }
}

// MARK: - Objects and arrays

extension Scanner {
  mutating func open(_ bracket: Unicode.Scalar, _ bytes: Bytes) throws(Fault) {
    guard peek(bytes) == UInt8(ascii: bracket) else {
      throw unexpected(bytes, bracket == "{" ? "an object" : "a list")
    }
    depth += 1
    if depth > Scanner.maximumDepth {
      throw Fault(at, "nested deeper than \(Scanner.maximumDepth) levels")
    }
    at += 1
  }

  /// Reads the next name of an open object and stops before its value; nil when the object has
  /// ended.
  mutating func nextName(_ first: inout Bool, _ bytes: Bytes) throws(Fault) -> StringToken? {
    guard try nextItem(&first, UInt8(ascii: "}"), bytes) else { return nil }
    let name = try self.name(bytes)
    try skipSpace(bytes)
    guard peek(bytes) == UInt8(ascii: ":") else { throw unexpected(bytes, "':' after a name") }
    at += 1
    try skipSpace(bytes)
    return name
  }

  /// Whether an open list has another element. If so, stops before it.
  mutating func nextElement(_ first: inout Bool, _ bytes: Bytes) throws(Fault) -> Bool {
    try nextItem(&first, UInt8(ascii: "]"), bytes)
  }

  /// The common case, a comma and the next item, is decided without a call.
  @inline(__always)
  private mutating func nextItem(
    _ first: inout Bool, _ closing: UInt8, _ bytes: Bytes
  ) throws(Fault) -> Bool {
    try skipSpace(bytes)
    let byte = peek(bytes)
    if byte == closing { return close() }
    if first {
      first = false
      return true
    }
    guard byte == UInt8(ascii: ",") else {
      throw unexpected(bytes, closing == UInt8(ascii: "}") ? "',' or '}'" : "',' or ']'")
    }
    at += 1
    try skipSpace(bytes)
    let next = peek(bytes)
    return next == closing || next == 0 ? try afterComma(closing, bytes) : true
  }

  private mutating func afterComma(_ closing: UInt8, _ bytes: Bytes) throws(Fault) -> Bool {
    guard peek(bytes) == closing else { throw unexpected(bytes, "more after a comma") }
    guard dialect == .json5 else { throw Fault(at, "a trailing comma") }
    return close()
  }

  private mutating func close() -> Bool {
    at += 1
    depth -= 1
    return false
  }

  private mutating func name(_ bytes: Bytes) throws(Fault) -> StringToken {
    if peek(bytes) == UInt8(ascii: "\"") { return try string(bytes) }
    if dialect == .json5 { return try name5(bytes) }
    throw unexpected(bytes, "a name in double quotes")
  }
}
