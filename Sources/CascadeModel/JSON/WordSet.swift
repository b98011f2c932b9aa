/// A fixed set of words that are allowed in one position. They are compared as bytes, so a name
/// costs no `String`. There are at most 32, so that a bit mask can record which were seen.
struct WordSet<Value: Sendable>: Sendable {
  private struct Entry: Sendable {
    let head: UInt64
    let count: Int
    let bytes: [UInt8]
    let value: Value
  }

  let names: [String]
  private let entries: [Entry]

  init(_ words: [(String, Value)]) {
    names = words.map(\.0)
    entries = words.map { word in
      let bytes = Array(word.0.utf8)
      return Entry(
        head: bytes.span.firstEightBytes(bytes.indices), count: bytes.count, bytes: bytes,
        value: word.1)
    }
  }

  subscript(index: Int) -> Value { entries[index].value }

  /// The index of the word at `range`.
  func find(_ range: Range<Int>, _ bytes: Bytes) -> Int? {
    let head = bytes.firstEightBytes(range)
    for index in entries.indices
    where entries[index].head == head && entries[index].count == range.count {
      if range.count <= 8 || bytes.same(range, as: entries[index].bytes, from: 8) { return index }
    }
    return nil
  }

  /// For messages: ", did you mean …", or the list of the words.
  func hint(_ typed: String) -> String {
    if let near = nearest(typed, in: names) { return ", did you mean \"\(near)\"?" }
    return "; known: " + names.joined(separator: ", ")
  }
}
