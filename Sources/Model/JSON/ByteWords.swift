extension Span<UInt8> {
  /// Eight bytes at once, the first one lowest; the compiler makes one load of it.
  @inline(__always)
  func word(at start: Int) -> UInt64 {
    let part = extracting(start..<start &+ 8)
    var word: UInt64 = 0
    for index in 0..<8 { word |= UInt64(part[index]) << UInt64(8 &* index) }
    return word
  }

  /// The first eight bytes of `range` or all of them, the first one lowest: enough to tell most
  /// names apart by one comparison.
  @inline(__always)
  func head(_ range: Range<Int>) -> UInt64 {
    if range.count >= 8 { return word(at: range.lowerBound) }
    if count &- range.lowerBound >= 8 {
      return word(at: range.lowerBound) & (1 << UInt64(8 &* range.count) &- 1)
    }
    var word: UInt64 = 0
    for index in range { word |= UInt64(self[index]) << UInt64(8 &* (index &- range.lowerBound)) }
    return word
  }

  @inline(__always)
  func same(_ range: Range<Int>, as other: [UInt8], from first: Int = 0) -> Bool {
    guard range.count == other.count else { return false }
    var index = first
    while index < other.count {
      if self[range.lowerBound &+ index] != other[index] { return false }
      index &+= 1
    }
    return true
  }
}
