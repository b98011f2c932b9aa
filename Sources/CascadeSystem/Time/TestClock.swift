internal import CascadeCSystem
internal import Glibc

/// For tests: the environment variable CASCADE_CLOCK names a file, and the time that stands in it, in
/// milliseconds since 1970, is the wall clock's. Who sets it renames another file over it, in a
/// directory where little else happens: every event in there has the waiting look at it again.
package enum TestClock {
  package static let file = Process.environment("CASCADE_CLOCK")

  static func read(_ file: String) -> Int64 {
    let bytes = try? FileDescriptor.open(file).readWhole(limit: 64)
    let digits = bytes.map { String(decoding: $0, as: UTF8.self).prefix { $0.isNumber } }
    guard let time = digits.flatMap({ Int64($0) }) else {
      fatalError("CASCADE_CLOCK: there is no time in \(file)")
    }
    return time
  }
}
