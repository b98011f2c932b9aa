internal import CascadeModel
internal import CascadeSQLite
internal import Glibc
internal import SQLiteBinding

/// What the values of a column say: whether they are in the key of a table, and whether that may be
/// by accident.
struct ValueEvidence {
  /// Distinct values that were looked for, without those that look like "none".
  let count: Int
  let hits: Int
  /// The decimal logarithm of the chance that this many values of this kind are there by accident.
  let chance: Double
  /// Whether the values are identifiers that were drawn at random: one of them is enough.
  let isRandom: Bool
  /// Whether the values are only the lowest of many keys, as numbers that count something are.
  let isNarrow: Bool

  static let none = ValueEvidence(
    count: 0, hits: 0, chance: 0, isRandom: false, isNarrow: false)

  var share: Double { count == 0 ? 0 : Double(hits) / Double(count) }
  /// It would be a strange accident.
  var isTelling: Bool { chance <= -6 && share >= 0.9 }
  var isGood: Bool { count > 0 && share >= 0.9 }

  var text: String {
    if count == 0 { return "no values yet" }
    return "\(hits) of \(count) sampled values are there"
      + (isTelling ? ", and not by accident" : "")
  }
}

extension Value {
  var text: String? { if case .text(let text) = self { text } else { nil } }
  var isText: Bool { text != nil }

  var length: Int {
    switch self {
    case .text(let text): text.utf8.count
    case .blob(let bytes): bytes.count * 2
    default: 0
    }
  }

  var integer: Int64? { if case .integer(let number) = self { number } else { nil } }

  /// Whether applications write it where SQL has NULL.
  var looksLikeNone: Bool {
    switch self {
    case .null: true
    case .integer(let number): "\(number)".looksLikeNone
    case .real(let number): number == 0
    case .text(let text): text.looksLikeNone
    case .blob(let bytes): bytes.allSatisfy { $0 == 0 }
    }
  }
}

extension [Value] {
  /// Whether all are hexadecimal, of 80 bits or more, with digits and letters.
  var areRandom: Bool {
    !isEmpty
      && allSatisfy { value in
        guard case .text(let text) = value, text.utf8.count >= 20 else { return false }
        return text.allSatisfy { $0.isHexDigit || "-{}".contains($0) }
          && text.contains(where: \.isNumber) && text.contains(where: \.isLetter)
      }
  }
}

extension Database {
  private static let mostLookups = 200

  /// Looks for sampled values in the key of a table.
  func evidence(
    _ sample: [Value], in parent: SampledTable, key: Table.Column
  ) throws -> ValueEvidence {
    // Some applications have a row 0.
    var distinct = try Set(sample).filter {
      try !$0.looksLikeNone || has($0, in: parent, key: key)
    }.map(\.self)
    if distinct.isEmpty { return .none }
    if distinct.count > Database.mostLookups {
      // Any choice would do, but the same each time.
      distinct.sort { $0.sql < $1.sql }
      let step = distinct.count / Database.mostLookups
      distinct = distinct.enumerated().filter { $0.offset % step == 0 }.map(\.element)
    }
    let hits = try distinct.count { try has($0, in: parent, key: key) }
    let range = try keyRange(of: parent, key)
    let chance = Double(hits) * log10(range.chance(of: distinct, rows: parent.rows))
    return ValueEvidence(
      count: distinct.count, hits: hits, chance: chance, isRandom: distinct.areRandom,
      isNarrow: range.isNarrow(sample.compactMap(\.integer)))
  }

  func has(_ value: Value, in parent: SampledTable, key: Table.Column) throws -> Bool {
    let sql = """
      SELECT EXISTS (SELECT 1 FROM main.\(quoted(parent.name)) AS p
        WHERE p.\(quoted(key.name)) = ?1)
      """
    return try rows(sql, [value])[0][0] == .integer(1)
  }

  private func keyRange(of parent: SampledTable, _ key: Table.Column) throws -> KeyRange {
    let name = quoted(key.name)
    let from = "FROM main.\(quoted(parent.name))"
    let row = try rows("SELECT (SELECT min(\(name)) \(from)), (SELECT max(\(name)) \(from))")[0]
    return KeyRange(first: row[0].integer ?? 1, last: row[1].integer ?? 1)
  }
}

/// The numbers from the first key of a table to its last.
private struct KeyRange {
  let first: Int64
  let last: Int64

  /// The chance that one such value is a key by accident.
  func chance(of values: [Value], rows: Int) -> Double {
    let numbers = values.compactMap(\.integer)
    if numbers.count * 2 < values.count {
      let length = Double(values.reduce(0) { $0 + $1.length }) / Double(values.count)
      return pow(10, -min(length, 24) / 4)
    }
    let high = Double(max(last, numbers.max() ?? 1))
    let low = Double(min(first, numbers.min() ?? 1, 1))
    // Large numbers are times, or random: their neighbours could have been as likely.
    let universe = high > 1e9 ? high / 100 : high - low + 1
    return min(1, max(Double(rows), 1) / max(universe, 1))
  }

  func isNarrow(_ numbers: [Int64]) -> Bool {
    guard let largest = numbers.max(), numbers.count >= 30, last - first >= 40 else { return false }
    return largest - first < (last - first) / 8
  }
}
