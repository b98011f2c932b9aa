import CascadeModel
import CascadeSystem

/// A time zone, read from the files of zic(8) by themselves: what local time is does not depend on
/// the machine, nor on libc.
struct ZoneFile {
  private let times: [Int64]
  private let offsets: [Int64]
  private let first: Int64

  init(_ name: String) throws {
    let file = try FileDescriptor.open("/usr/share/zoneinfo/\(name)")
    let bytes = try file.readWhole(limit: 1 << 20)!
    let counts = ZoneFile.counts(bytes, at: 0)
    // Behind what is there for old programs, everything comes again with longer numbers.
    let second = 44 + ZoneFile.size(counts, time: 4)
    let (timeCount, typeCount) = (
      ZoneFile.counts(bytes, at: second)[3], ZoneFile.counts(bytes, at: second)[4]
    )
    let start = second + 44
    let types = start + timeCount * 9
    let known = (0..<typeCount).map { ZoneFile.number(bytes, at: types + $0 * 6, 4) }
    times = (0..<timeCount).map { ZoneFile.number(bytes, at: start + $0 * 8, 8) }
    offsets = (0..<timeCount).map { known[Int(bytes[start + timeCount * 8 + $0])] }
    first = known[0]
  }

  func offset(at time: Int64) -> Int64 {
    var (low, high) = (0, times.count)
    while low < high {
      let middle = (low + high) / 2
      if times[middle] <= time { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? first : offsets[low - 1]
  }

  var zone: Zone { Zone { offset(at: $0) } }

  /// Of UTC flags, standard flags, leap seconds, times, types and letters.
  private static func counts(_ bytes: [UInt8], at start: Int) -> [Int] {
    (0..<6).map { Int(number(bytes, at: start + 20 + $0 * 4, 4)) }
  }

  private static func size(_ counts: [Int], time: Int) -> Int {
    counts[0] + counts[1] + counts[2] * (time + 4) + counts[3] * (time + 1) + counts[4] * 6
      + counts[5]
  }

  private static func number(_ bytes: [UInt8], at start: Int, _ size: Int) -> Int64 {
    let value = bytes[start..<start + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let unused = 64 - 8 * UInt64(size)
    return Int64(bitPattern: value << unused) >> Int64(unused)
  }
}
