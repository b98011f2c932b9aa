internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A UUID that begins with the time at which it was made (RFC 9562, version 7).
///
/// It is known before anything is saved, so new values can name each other. Rows that are made
/// together are near each other in an index.
public struct UUIDv7: Hashable, Sendable, Comparable, LosslessStringConvertible {
  @usableFromInline let high: UInt64
  @usableFromInline let low: UInt64

  @usableFromInline
  init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Makes a new one. In one process each is greater than all before, also if the clock is set back.
  public init() { self.init(at: UUIDv7.currentStamp()) }

  /// Makes one at a time of the clock.
  package init(at now: UInt64) {
    let stamp = UUIDv7.nextStamp(now)
    high = (stamp >> 12) << 16 | 0x7000 | stamp & 0xFFF
    low = UInt64.random(in: 0...UInt64.max) & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
  }

  /// 48 bits of milliseconds, then 12 bits of their fraction.
  private static let last = Atomic<UInt64>(0)

  private static func nextStamp(_ now: UInt64) -> UInt64 {
    var before = last.load(ordering: .relaxed)
    while true {
      let next = max(now, before + 1)
      let result = last.compareExchange(expected: before, desired: next, ordering: .relaxed)
      if result.exchanged { return next }
      before = result.original
    }
  }

  /// The time now, in the form of `last`.
  package static func currentStamp() -> UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    let nanoseconds = UInt64(time.tv_nsec)
    let milliseconds = UInt64(time.tv_sec) * 1_000 + nanoseconds / 1_000_000
    return milliseconds << 12 | nanoseconds % 1_000_000 * 4_096 / 1_000_000
  }

  /// Orders by the time at which they were made.
  public static func < (one: UUIDv7, other: UUIDv7) -> Bool {
    (one.high, one.low) < (other.high, other.low)
  }
}

// MARK: - As text

extension UUIDv7 {
  /// Reads the usual form, in small or capital letters; nil if it is not a UUID of any version.
  public init?(_ description: String) {
    self.init(utf8: description.utf8Span.span)
  }

  @usableFromInline
  init?(utf8 text: Span<UInt8>) {
    if text.count != 36 { return nil }
    let dash = UInt8(ascii: "-")
    if text[8] != dash || text[13] != dash || text[18] != dash || text[23] != dash { return nil }
    let bytes = unsafe text.bytes
    guard let first = number(bytes.load(0)), let second = number(bytes.load(9, 14)),
      let third = number(bytes.load(19, 24)), let fourth = number(bytes.load(28))
    else { return nil }
    self.init(high: first << 32 | second, low: third << 32 | fourth)
  }

  /// The usual form, in small letters.
  public var description: String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(36)
    for index in 0..<32 {
      if index == 8 || index == 12 || index == 16 || index == 20 { bytes.append(45) }
      let digit = UInt8((index < 16 ? high : low) >> UInt64(60 - (index & 15) * 4) & 15)
      bytes.append(digit < 10 ? 48 + digit : 87 + digit)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension RawSpan {
  /// Eight bytes, the first of them the lowest.
  fileprivate func load(_ offset: Int) -> UInt64 {
    UInt64(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// Four bytes of one place, then four of another.
  fileprivate func load(_ offset: Int, _ other: Int) -> UInt64 {
    load(offset) & 0xFFFF_FFFF | load(other) << 32
  }
}

/// The number of eight hexadecimal digits, all at once: reading UUIDs is much of the work of a query.
private func number(_ text: UInt64) -> UInt64? {
  let ones: UInt64 = 0x0101_0101_0101_0101
  let areLetters = text >> 6 & ones
  let digits = text & (ones * 0xF) &+ areLetters * 9
  let areAboveNine = (digits &+ ones * 6) >> 4 & ones
  let written = digits &+ ones * 0x30 &+ areAboveNine * 0x27
  if digits & (ones * 0xF0) != 0 || written != text | areLetters << 5 { return nil }
  var number = (digits << 4 | digits >> 8) & 0x00FF_00FF_00FF_00FF
  number = (number | number >> 8) & 0x0000_FFFF_0000_FFFF
  return UInt64(UInt32(truncatingIfNeeded: number | number >> 16).byteSwapped)
}
