/// A number that was scanned. Converting it to a `Double` is expensive, so it is done on request.
struct NumberToken {
  /// Nil if there is a fraction or an exponent, or if the value does not fit an Int64.
  let integer: Int64?
  let range: Range<Int>
}

extension Scanner {
  /// Scans a number by RFC 8259.
  mutating func number(_ bytes: Bytes) throws(Fault) -> NumberToken {
    if dialect == .json5 { return try json5Number(bytes) }
    let start = at
    let negative = peek(bytes) == UInt8(ascii: "-")
    if negative { at += 1 }
    let integer = try wholeDigits(negative: negative, bytes)
    let whole = try !fraction(bytes)
    return NumberToken(integer: whole ? integer : nil, range: start..<at)
  }

  func json(_ number: NumberToken, _ bytes: Bytes) throws(Fault) -> JSON {
    if let integer = number.integer { return .integer(integer) }
    if dialect == .json5 { return .number(try json5Double(number.range, bytes)) }
    return .number(try double(number.range, bytes))
  }

  /// Refuses a number that is too large for a double. Up to 300 characters without an exponent
  /// always fit.
  func checkRange(_ number: NumberToken, _ bytes: Bytes) throws(Fault) {
    let isSmall = number.range.count <= 300 && !bytes.extracting(number.range).hasExponent
    if number.integer == nil, !isSmall { _ = try json(number, bytes) }
  }

  /// The digits before the point; nil when they exceed Int64.
  private mutating func wholeDigits(negative: Bool, _ bytes: Bytes) throws(Fault) -> Int64? {
    let first = at
    var value: Int64? = 0
    while let digit = decimalDigit(peek(bytes)) {
      value = value.flatMap { shift($0, negative ? -digit : digit) }
      at += 1
    }
    if at == first { throw unexpected(bytes, "a digit") }
    if bytes[first] == UInt8(ascii: "0"), at > first + 1 {
      throw Fault(first, "a number with a leading zero")
    }
    return value
  }

  /// Scans the fraction and the exponent; false when there is neither.
  private mutating func fraction(_ bytes: Bytes) throws(Fault) -> Bool {
    let start = at
    if peek(bytes) == UInt8(ascii: ".") {
      at += 1
      try digits(bytes)
    }
    try exponent(bytes)
    return at > start
  }

  mutating func exponent(_ bytes: Bytes) throws(Fault) {
    guard peek(bytes) | 0x20 == UInt8(ascii: "e") else { return }
    at += 1
    if peek(bytes) == UInt8(ascii: "+") || peek(bytes) == UInt8(ascii: "-") { at += 1 }
    try digits(bytes)
  }

  private mutating func digits(_ bytes: Bytes) throws(Fault) {
    guard decimalDigit(peek(bytes)) != nil else { throw unexpected(bytes, "a digit") }
    while decimalDigit(peek(bytes)) != nil { at += 1 }
  }

  func double(_ range: Range<Int>, _ bytes: Bytes) throws(Fault) -> Double {
    guard let value = Double(Scanner.text(range, bytes)), value.isFinite else {
      throw Fault(range.lowerBound, "a number too large for a double")
    }
    return value
  }

  func shift(_ value: Int64, _ digit: Int64, radix: Int64 = 10) -> Int64? {
    let (product, tooLarge) = value.multipliedReportingOverflow(by: radix)
    let (sum, overflow) = product.addingReportingOverflow(digit)
    return tooLarge || overflow ? nil : sum
  }
}

extension Span<UInt8> {
  fileprivate var hasExponent: Bool {
    for index in indices where self[index] | 0x20 == UInt8(ascii: "e") { return true }
    return false
  }
}
