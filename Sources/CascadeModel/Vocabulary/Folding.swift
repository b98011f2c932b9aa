extension String {
  /// The name as SQLite compares names of tables and columns: only ASCII letters are folded.
  package var folded: String {
    let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
    return String(decoding: utf8.map { capitals.contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
  }
}
