extension Span<UInt8> {
  /// Eight bytes at once, the first one in the lowest bits. The compiler makes one load of it.
  @inline(__always)
  func eightBytes(at start: Int) -> UInt64 {
    let part = extracting(start..<start &+ 8)
    var word: UInt64 = 0
    for index in 0..<8 { word |= UInt64(part[index]) << UInt64(8 &* index) }
    return word
  }

  /// The first eight bytes of `range`, or all if there are fewer, the first one in the lowest bits.
  /// One comparison is enough to tell most names apart.
  @inline(__always)
  func firstEightBytes(_ range: Range<Int>) -> UInt64 {
    if range.count >= 8 { return eightBytes(at: range.lowerBound) }
    if count &- range.lowerBound >= 8 {
      return eightBytes(at: range.lowerBound) & (1 << UInt64(8 &* range.count) &- 1)
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

extension Span<UInt8> {
  /// The offset of the next newline, found eight bytes at a time. Newlines are XORed to zero bytes;
  /// a subtraction then borrows into the highest bit of each zero byte.
  package func firstNewline(from start: Int) -> Int? {
    let ones: UInt64 = 0x0101_0101_0101_0101
    var index = start
    while index &+ 8 <= count {
      let word = eightBytes(at: index) ^ (ones &* UInt64(UInt8(ascii: "\n")))
      let zeros = (word &- ones) & ~word & (ones << 7)
      if zeros != 0 { return index &+ zeros.trailingZeroBitCount / 8 }
      index &+= 8
    }
    while index < count {
      if self[index] == UInt8(ascii: "\n") { return index }
      index &+= 1
    }
    return nil
  }

  /// Whether the bytes are equal. This is stricter than the equality of Swift strings.
  package func same(as other: Span<UInt8>) -> Bool {
    guard count == other.count else { return false }
    var index = 0
    while index &+ 8 <= count {
      if eightBytes(at: index) != other.eightBytes(at: index) { return false }
      index &+= 8
    }
    while index < count {
      if self[index] != other[index] { return false }
      index &+= 1
    }
    return true
  }
}
