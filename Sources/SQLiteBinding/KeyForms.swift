package import CascadeModel
package import CascadeSQLite

/// Converts keys between the form in a change file and the form in a table. A change file has a
/// blob as SQL writes it, x'0A1B', and a real number as its digits.
extension NodeTable {
  /// The key as stored in `temp.known`; nil for a key with another number of parts.
  package func stored(_ key: Key) -> Value? {
    if !isComposite, case .composite = key { return nil }
    guard let values = columnValues(key) else { return nil }
    return isComposite
      ? .text("[\(values.map(CompositeKeyPart.written).joined(separator: ","))]") : values[0]
  }

  /// The values of the key's columns, to bind.
  package func columnValues(_ key: Key) -> [Value]? {
    guard case .mapped(_, let columns, _) = kind else { return key.managedText.map { [.text($0)] } }
    var parts = [key]
    if case .composite(let its) = key { parts = its }
    if parts.count != columns.count { return nil }
    return zip(parts, columns).map { $0.value(as: $1.affinity) }
  }
}

extension Key {
  /// A part in the form that `CompositeKeyPart` writes, even if a change file could not name it.
  fileprivate init(part: JSON) {
    if let number = part.integer {
      self = .integer(number)
    } else {
      self = .text(part.string ?? part.number.map { "\($0)" } ?? "")
    }
  }

  /// The key in the form of a reference in a row; nil for NULL.
  package init?(_ value: Value) {
    switch value {
    case .null: return nil
    case .integer(let number): self = .integer(number)
    case .real(let number): self = .text("\(number)")
    case .text(let text): self = .text(text)
    case .blob(let bytes): self = .text(bytes.sqlBlob)
    }
  }

  /// The value that a column of this affinity would store.
  package func value(as affinity: Table.Affinity) -> Value {
    switch self {
    case .integer(let number): affinity == .text ? .text(String(number)) : .integer(number)
    case .text(let text):
      if affinity == .blob, let bytes = [UInt8](sqlBlob: text) {
        .blob(bytes)
      } else {
        affinity.number(in: text) ?? .text(text)
      }
    case .composite: .null
    }
  }
}

extension Table.Affinity {
  /// The number that SQLite makes of a text in a numeric column, or in a comparison with one; nil
  /// if it stays a text. Only decimal digits count.
  fileprivate func number(in text: String) -> Value? {
    if !isNumeric { return nil }
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    let digits = text.utf8.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
    let trimmed = String(decoding: digits, as: UTF8.self)
    if let number = Int64(trimmed) { return .integer(number) }
    if !digits.allSatisfy("0123456789+-.eE".utf8.contains) { return nil }
    return Double(trimmed).map { number in
      self == .real ? .real(number) : Int64(exactly: number).map(Value.integer) ?? .real(number)
    }
  }
}

extension Value {
  /// The value as a part of a composite key, or of a row.
  package var json: JSON {
    switch self {
    case .null: .null
    case .integer(let number): .integer(number)
    case .real(let number): .number(number)
    case .text(let text): .string(text)
    case .blob(let bytes): .string(bytes.sqlBlob)
    }
  }
}

extension Row {
  /// The value of a column as a change file gives it, so that writing it changes nothing.
  package func given(_ column: Int32) -> GivenValue {
    switch value(column) {
    case .null: .json(.null)
    case .integer(let number): .json(.integer(number))
    case .real(let number): .real(number)
    case .text(let text) where isWhole(column) && !text.utf8.contains(0): .json(.string(text))
    case .text: .text(bytes(column))
    case .blob(let bytes): .blob(bytes)
    }
  }

  /// The key of a node of this collection.
  package func key(_ column: Int32, in collection: String, _ model: StoreModel) -> Key {
    let value = value(column)
    guard case .text(let text) = value, case .mapped(_, let key, _) = model.collections[collection],
      key.count > 1, let parts = try? JSON.parse(text).array
    else { return Key(value) ?? .text("") }
    return .composite(parts.map(Key.init(part:)))
  }

  /// The node whose collection's name is in `column`, and whose key is in the next.
  package func node(_ column: Int32, _ model: StoreModel) -> Node {
    let collection = text(column)
    return Node(collection, key(column + 1, in: collection, model))
  }
}

extension [UInt8] {
  /// x'0A1B', as SQL writes a blob.
  package var sqlBlob: String {
    let digits = Array<Character>("0123456789ABCDEF")
    return "x'" + String(flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }) + "'"
  }

  package init?(sqlBlob text: String) {
    guard text.hasPrefix("x'") || text.hasPrefix("X'"), text.hasSuffix("'"), text.count > 2
    else { return nil }
    let digits = text.utf8.dropFirst(2).dropLast().compactMap {
      Character(UnicodeScalar($0)).hexDigitValue
    }
    guard digits.count == text.utf8.count - 3, digits.count.isMultiple(of: 2) else { return nil }
    self = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}
