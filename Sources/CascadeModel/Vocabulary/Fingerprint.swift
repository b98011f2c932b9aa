/// A 64-bit hash of a content. It is no protection against collisions made on purpose: a user who
/// may write to the spool may change the data anyway.
///
/// Bytes are taken eight at a time. How the input is split into parts does not change the result.
package struct Fingerprint: Hashable, Sendable {
  private var state: UInt64 = 0xcbf2_9ce4_8422_2325
  private var count: UInt64 = 0
  /// The bytes of a word that is not yet complete.
  private var pending: UInt64 = 0

  package init() {}

  package init(_ text: String) { add(text.utf8Span.span) }

  package init(_ bytes: [UInt8]) { add(bytes.span) }

  package mutating func add(_ bytes: Span<UInt8>) {
    var index = 0
    while index < bytes.count && count % 8 != 0 {
      addByte(bytes[index])
      index += 1
    }
    let words = (bytes.count - index) / 8
    for word in 0..<words { mix(bytes.eightBytes(at: index + 8 * word)) }
    index += 8 * words
    count += 8 * UInt64(words)
    while index < bytes.count {
      addByte(bytes[index])
      index += 1
    }
  }

  private mutating func addByte(_ byte: UInt8) {
    pending |= UInt64(byte) << (8 * (count % 8))
    count += 1
    if count % 8 == 0 {
      mix(pending)
      pending = 0
    }
  }

  private mutating func mix(_ word: UInt64) { state = state.mixed(with: word) }

  /// Mixed once more, so that sums of fingerprints distinguish sets.
  package var value: UInt64 {
    var last = self
    last.mix(pending)
    last.mix(count)
    return last.state
  }

  package var signed: Int64 { Int64(bitPattern: value) }
}

extension UInt64 {
  /// The two halves of a product, combined: each bit of the result depends on all input so far.
  @inline(__always)
  fileprivate func mixed(with word: UInt64) -> UInt64 {
    let product = (self ^ word).multipliedFullWidth(by: 0x9e37_79b9_7f4a_7c15)
    return product.high ^ product.low
  }
}

extension Span<UInt8> {
  /// A hash for tables in memory: takes a short text at once, without the state for parts.
  package func tableHash(seed: UInt64) -> UInt64 {
    var state = seed ^ UInt64(count)
    var index = 0
    while index &+ 8 <= count {
      state = state.mixed(with: eightBytes(at: index))
      index &+= 8
    }
    return index < count ? state.mixed(with: firstEightBytes(index..<count)) : state.mixed(with: 0)
  }
}
