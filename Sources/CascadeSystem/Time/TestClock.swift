internal import CascadeCSystem
internal import Glibc

/// Clocks that tests control. The environment variable CASCADE_CLOCK names a file with the time in
/// milliseconds since 1970. A second number is the time that has really passed; without it, the first
/// is that too. A test sets the clock by renaming a new file over it. The file
/// should be in a quiet directory, because each event in that directory makes the waiting tasks
/// read it again.
package enum TestClock {
  package static let file = Process.environment("CASCADE_CLOCK")

  static func read(_ file: String) -> (wall: Int64, elapsed: Int64) {
    let bytes = (try? FileDescriptor.open(file).readWhole(limit: 64)) ?? []
    let words = String(decoding: bytes, as: UTF8.self).split { !$0.isNumber }
    guard let wall = words.first.flatMap({ Int64($0) }) else {
      fatalError("CASCADE_CLOCK: \(file) contains no time")
    }
    return (wall, words.dropFirst().first.flatMap { Int64($0) } ?? wall)
  }
}
