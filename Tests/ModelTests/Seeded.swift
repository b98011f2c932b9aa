import CascadeModel

/// SplitMix64: the same numbers for the same seed, everywhere. A test takes its seed as an
/// argument, so that a failure prints it.
struct Seeded: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }
}

extension Seeded {
  /// Text with everything that a writer must escape or a reader may stumble on.
  mutating func text(upTo length: Int = 12) -> String {
    let pool = Array("abcxyz019 _-./'\"\\\u{0}\u{1}\n\r\t\u{7F}\u{85}é€😀\u{2028}\u{FEFF}").shuffled(
      using: &self)
    return String((0..<below(length + 1)).map { _ in pool[below(pool.count)] })
  }

  mutating func json(depth: Int) -> JSON {
    switch below(depth > 0 ? 8 : 6) {
    case 0: return .null
    case 1: return .bool(.random(using: &self))
    case 2: return .integer(Int64(bitPattern: next()))
    case 3: return .integer(Int64(below(100)) - 50)
    case 4: return .number(number())
    case 5: return .string(text())
    case 6: return .array((0..<below(5)).map { _ in json(depth: depth - 1) })
    default:
      return .object(
        (0..<below(40)).map { JSON.Field("\($0)#" + text(), json(depth: depth - 1)) })
    }
  }

  private mutating func number() -> Double {
    let any = Double(bitPattern: next())
    return any.isFinite ? any : 0.5
  }
}
