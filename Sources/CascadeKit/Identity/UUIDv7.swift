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
  init?(utf8 bytes: Span<UInt8>) {
    if bytes.count != 36 { return nil }
    var halves: (UInt64, UInt64) = (0, 0)
    var digits = 0
    for index in 0..<36 {
      if index == 8 || index == 13 || index == 18 || index == 23 {
        if bytes[index] != UInt8(ascii: "-") { return nil }
        continue
      }
      guard let digit = hexadecimal(bytes[index]) else { return nil }
      if digits < 16 { halves.0 = halves.0 << 4 | digit } else { halves.1 = halves.1 << 4 | digit }
      digits += 1
    }
    self.init(high: halves.0, low: halves.1)
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

private func hexadecimal(_ byte: UInt8) -> UInt64? {
  switch byte {
  case 48...57: UInt64(byte) - 48
  case 97...102: UInt64(byte) - 87
  case 65...70: UInt64(byte) - 55
  default: nil
  }
}
