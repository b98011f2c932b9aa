/// A fixed set of words that may stand in one place, compared as bytes: a name costs no `String`.
/// At most 32, so that a mask can remember which were seen.
struct Words<Value: Sendable>: Sendable {
  private struct Entry: Sendable {
    let bytes: [UInt8]
    let value: Value
  }

  let names: [String]
  private let entries: [Entry]

  init(_ words: [(String, Value)]) {
    names = words.map(\.0)
    entries = words.map { Entry(bytes: Array($0.0.utf8), value: $0.1) }
  }

  subscript(index: Int) -> Value { entries[index].value }

  /// The index of the word at `range`.
  func find(_ range: Range<Int>, _ bytes: Bytes) -> Int? {
    for index in entries.indices where same(entries[index].bytes, range, bytes) { return index }
    return nil
  }

  @inline(__always)
  private func same(_ word: [UInt8], _ range: Range<Int>, _ bytes: Bytes) -> Bool {
    guard word.count == range.count else { return false }
    for index in word.indices where word[index] != bytes[range.lowerBound &+ index] {
      return false
    }
    return true
  }

  /// ", did you mean …" or what there is.
  func hint(_ typed: String) -> String {
    if let near = nearest(typed, in: names) { return ", did you mean \"\(near)\"?" }
    return "; there is " + names.joined(separator: ", ")
  }
}
