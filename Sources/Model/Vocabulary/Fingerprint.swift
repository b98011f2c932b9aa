/// 64 bits that tell contents apart (FNV-1a). Not a protection against somebody who wants two
/// contents to look alike: whoever may write into the spool may change the data anyway.
package struct Fingerprint: Hashable, Sendable {
  private var state: UInt64 = 0xcbf2_9ce4_8422_2325

  package init() {}

  package init(_ text: String) {
    for byte in text.utf8 { add(byte) }
  }

  package init(_ bytes: [UInt8]) { add(bytes) }

  package mutating func add(_ bytes: [UInt8]) {
    for byte in bytes { add(byte) }
  }

  private mutating func add(_ byte: UInt8) {
    state = (state ^ UInt64(byte)) &* 0x100_0000_01b3
  }

  /// Mixed once more, so that sums of fingerprints tell sets apart.
  package var value: UInt64 {
    let mixed = (state ^ (state >> 31)) &* 0x9e37_79b9_7f4a_7c15
    return mixed ^ (mixed >> 29)
  }

  package var signed: Int64 { Int64(bitPattern: value) }
}
