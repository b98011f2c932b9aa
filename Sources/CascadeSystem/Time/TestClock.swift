internal import CascadeCSystem
internal import Glibc

/// A wall clock that tests control. The environment variable CASCADE_CLOCK names a file with the
/// time in milliseconds since 1970. A test sets the clock by renaming a new file over it. The file
/// should be in a quiet directory, because each event in that directory makes the waiting tasks
/// read it again.
package enum TestClock {
  package static let file = Process.environment("CASCADE_CLOCK")

  static func read(_ file: String) -> Int64 {
    let bytes = try? FileDescriptor.open(file).readWhole(limit: 64)
    let digits = bytes.map { String(decoding: $0, as: UTF8.self).prefix { $0.isNumber } }
    guard let time = digits.flatMap({ Int64($0) }) else {
      fatalError("CASCADE_CLOCK: \(file) contains no time")
    }
    return time
  }
}
