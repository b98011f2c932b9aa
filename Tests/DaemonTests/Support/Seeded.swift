/// Random numbers that come again with their seed (xorshift64*).
struct Seeded: RandomNumberGenerator {
  let seed: UInt64
  private var state: UInt64

  init(_ seed: UInt64 = .random(in: 1...999_999)) {
    self.seed = seed
    state = seed &* 0x9e37_79b9_7f4a_7c15 | 1
  }

  mutating func next() -> UInt64 {
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return state &* 0x2545_f491_4f6c_dd1d
  }
}
