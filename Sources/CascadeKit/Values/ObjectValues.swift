internal import CascadeModel

/// The properties of one object at a time, in the order of its model's columns. The text of each
/// object is read once, whatever the number of properties.
@usableFromInline
final class ObjectValues {
  /// The names, one behind the other, and where each begins: of an array of arrays, Swift would count
  /// the references at each comparison.
  private let names: [UInt8]
  private let starts: [Int]
  private let key: Int?
  @usableFromInline private(set) var values: [SQLValue]

  /// `key` is the index of the property that has the key, which is not in the value.
  init(_ names: [String], key: Int?) {
    self.names = names.flatMap { Array($0.utf8) }
    starts = names.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.utf8.count) }
    self.key = key
    values = Array(repeating: .null, count: names.count)
  }

  /// Begins an object, of which no property is known yet.
  func begin(key text: String) {
    for index in values.indices { values[index] = .null }
    if let key { values[key] = .text(text) }
  }

  /// Reads the value of the object, which does not have the key.
  func read(_ value: Span<UInt8>) throws(ReadError) {
    var scanner = ObjectScanner()
    // In a variable of its own, because Swift checks each access to one of a class.
    var found = values
    values = []
    defer { values = found }
    do {
      try scanner.members(of: value) { name, member in
        let index = property(named: name, in: value)
        if let index, index != key { found[index] = ObjectScanner.value(member, of: value) }
      }
    } catch {
      throw .unexpected(.text(String(decoding: value)), wanted: "an object in JSON")
    }
  }

  private func property(named name: Range<Int>, in value: Span<UInt8>) -> Int? {
    let names = names
    for index in 0..<(starts.count - 1) {
      let place = starts[index]..<starts[index + 1]
      if ObjectScanner.isName(name, of: value, names.span.extracting(place)) { return index }
    }
    return nil
  }

  /// The keys of objects are text, also those that the model has as numbers.
  @inlinable
  func value<V: ColumnValue>(_ index: Int) throws(ReadError) -> V {
    if index == keyIndex { return try V(lenient: values[index]) }
    return try V(sqlValue: values[index])
  }

  @usableFromInline var keyIndex: Int { key ?? -1 }
}

/// Reads the members of an object that the daemon stored, which is valid JSON.
struct ObjectScanner {
  struct Malformed: Error, CustomStringConvertible {
    var description: String { "it is no object in JSON" }
  }
  private var offset = 0

  /// Calls `body` with the places of each name, quotes included, and of its value.
  mutating func members(
    of bytes: Span<UInt8>, _ body: (Range<Int>, Range<Int>) -> Void
  ) throws(Malformed) {
    skipSpace(bytes)
    try expect("{", bytes)
    skipSpace(bytes)
    if peek(bytes) == UInt8(ascii: "}") { return }
    while true {
      skipSpace(bytes)
      let name = try string(bytes)
      skipSpace(bytes)
      try expect(":", bytes)
      skipSpace(bytes)
      let value = try skipValue(bytes)
      body(name, value)
      skipSpace(bytes)
      if peek(bytes) == UInt8(ascii: ",") { offset += 1 } else { break }
    }
    try expect("}", bytes)
  }

  // MARK: - Scanning

  private func peek(_ bytes: Span<UInt8>) -> UInt8 { offset < bytes.count ? bytes[offset] : 0 }

  private mutating func skipSpace(_ bytes: Span<UInt8>) {
    while offset < bytes.count, bytes[offset] <= 0x20 { offset += 1 }
  }

  private mutating func expect(
    _ character: Unicode.Scalar, _ bytes: Span<UInt8>
  ) throws(Malformed) {
    if peek(bytes) != UInt8(ascii: character) { throw Malformed() }
    offset += 1
  }

  /// The range of a string, with its quotes.
  private mutating func string(_ bytes: Span<UInt8>) throws(Malformed) -> Range<Int> {
    let start = offset
    try expect("\"", bytes)
    while offset < bytes.count {
      let byte = bytes[offset]
      offset += byte == UInt8(ascii: "\\") ? 2 : 1
      if byte == UInt8(ascii: "\"") { return start..<offset }
    }
    throw Malformed()
  }

  private mutating func skipValue(_ bytes: Span<UInt8>) throws(Malformed) -> Range<Int> {
    let start = offset
    var depth = 0
    repeat {
      switch peek(bytes) {
      case 0: throw Malformed()
      case UInt8(ascii: "\""): _ = try string(bytes)
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        offset += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        offset += 1
      default: skipWord(bytes, isInside: depth > 0)
      }
    } while depth > 0
    return start..<offset
  }

  /// A number or a word; inside of a list or an object also what separates values.
  private mutating func skipWord(_ bytes: Span<UInt8>, isInside: Bool) {
    repeat { offset += 1 } while offset < bytes.count && !ends(bytes[offset], isInside)
  }

  private func ends(_ byte: UInt8, _ isInside: Bool) -> Bool {
    switch byte {
    case UInt8(ascii: "}"), UInt8(ascii: "]"): true
    case UInt8(ascii: "\""), UInt8(ascii: "{"), UInt8(ascii: "["): isInside
    case UInt8(ascii: ","), 0x09, 0x0A, 0x0D, 0x20: !isInside
    default: false
    }
  }

  // MARK: - Values

  static func isName(_ place: Range<Int>, of bytes: Span<UInt8>, _ name: Span<UInt8>) -> Bool {
    let text = bytes.extracting(place)
    if text.contains(UInt8(ascii: "\\")) {
      let wanted = String(decoding: name).utf8
      return (try? JSON.parse(text))?.string.map { $0.utf8.elementsEqual(wanted) } ?? false
    }
    if text.count != name.count + 2 { return false }
    for index in name.indices where text[index + 1] != name[index] { return false }
    return true
  }

  static func value(_ place: Range<Int>, of bytes: Span<UInt8>) -> SQLValue {
    let bytes = bytes.extracting(place)
    if bytes[0] == UInt8(ascii: "\""), !bytes.contains(UInt8(ascii: "\\")) {
      return .text(String(decoding: bytes.extracting(1..<(bytes.count - 1))))
    }
    if let number = integer(bytes) { return .integer(number) }
    return (try? JSON.parse(bytes)).map(SQLValue.init) ?? .null
  }

  private static func integer(_ bytes: Span<UInt8>) -> Int64? {
    if bytes.count > 18 { return nil }
    let isNegative = bytes[0] == UInt8(ascii: "-")
    var number: Int64 = 0
    for index in (isNegative ? 1 : 0)..<bytes.count {
      guard 48...57 ~= bytes[index] else { return nil }
      number = number * 10 + Int64(bytes[index] - 48)
    }
    return isNegative ? -number : number
  }
}

extension Span<UInt8> {
  fileprivate func contains(_ byte: UInt8) -> Bool {
    for index in indices where self[index] == byte { return true }
    return false
  }
}

extension String {
  init(decoding bytes: Span<UInt8>) {
    self = unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
  }
}
