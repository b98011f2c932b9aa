/// The hash function of FIPS 180-4, for bytes that come in parts.
package struct SHA256: Sendable {
  private var state: [UInt32] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab,
    0x5be0_cd19,
  ]
  private var rest: [UInt8] = []
  private var count: UInt64 = 0
  private var words = [UInt32](repeating: 0, count: 64)

  package init() { rest.reserveCapacity(64) }

  package static func digest(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    var hash = SHA256()
    hash.update(bytes)
    return hash.digest()
  }

  /// The digest in hexadecimal digits.
  package static func hex(_ bytes: some Sequence<UInt8>) -> String {
    digest(bytes).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  package mutating func update(_ bytes: some Sequence<UInt8>) {
    for byte in bytes {
      rest.append(byte)
      count += 1
      if rest.count == 64 { mixBlock() }
    }
  }

  package func digest() -> [UInt8] {
    var last = self
    let bits = count * 8
    let padding = [0x80] + [UInt8](repeating: 0, count: Int((119 - count % 64) % 64))
    last.update(padding)
    last.update((0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) })
    return last.state.flatMap { word in
      (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) }
    }
  }

  private mutating func mixBlock() {
    for i in 0..<16 {
      words[i] = (0..<4).reduce(0) { $0 << 8 | UInt32(rest[4 * i + $1]) }
    }
    for i in 16..<64 {
      let (a, b) = (words[i - 15], words[i - 2])
      let first = a.rotated(7) ^ a.rotated(18) ^ a >> 3
      let second = b.rotated(17) ^ b.rotated(19) ^ b >> 10
      words[i] = words[i - 16] &+ first &+ words[i - 7] &+ second
    }
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    for i in 0..<64 {
      let choice = (e & f) ^ (~e & g)
      let first =
        h &+ (e.rotated(6) ^ e.rotated(11) ^ e.rotated(25)) &+ choice &+ SHA256.constants[i]
        &+ words[i]
      let majority = (a & b) ^ (a & c) ^ (b & c)
      let second = (a.rotated(2) ^ a.rotated(13) ^ a.rotated(22)) &+ majority
      (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
    }
    for (i, word) in [a, b, c, d, e, f, g, h].enumerated() { state[i] &+= word }
    rest.removeAll(keepingCapacity: true)
  }

  /// The first 32 bits of the fractions of the cube roots of the first 64 primes.
  private static let constants: [UInt32] = {
    var primes: [Int] = []
    var number = 2
    while primes.count < 64 {
      if primes.allSatisfy({ number % $0 != 0 }) { primes.append(number) }
      number += 1
    }
    return primes.map(fractionOfCubeRoot)
  }()

  /// By halving, in whole numbers: the root of the number times 2^96 has the 32 bits behind the point.
  private static func fractionOfCubeRoot(_ number: Int) -> UInt32 {
    let target = UInt128(number) << 96
    var (low, high): (UInt128, UInt128) = (0, 1 << 36)
    while high - low > 1 {
      let middle = (low + high) / 2
      if middle * middle * middle <= target { low = middle } else { high = middle }
    }
    return UInt32(truncatingIfNeeded: low)
  }
}

extension UInt32 {
  fileprivate func rotated(_ bits: UInt32) -> UInt32 { self >> bits | self << (32 - bits) }
}
