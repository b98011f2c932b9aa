internal import CascadeSystem
/// How many files a directory has. Few are counted whenever somebody asks. To count many takes long,
/// and keeps others waiting: a number of them is told again as long as the directory says that it did
/// not change, and so long afterwards that one asker of a hundred has to wait for another count.
struct FileCount {
  private struct Known {
    let count: Int
    /// Both in milliseconds since 1970.
    let modified: Int64
    let began: Int64
    let end: ContinuousClock.Instant
    let duration: Duration
  }

  private static let few = 2_000
  private static let rest = 100
  /// What changes within the same tick of the kernel's clock looks the same.
  private static let tick: Int64 = 100

  private var known: Known?

  mutating func count(_ directory: borrowing Directory, _ body: () throws -> Int) throws -> Int {
    let modified = try directory.descriptor.status().modifiedMilliseconds
    if let known, FileCount.isGood(known, modified) { return known.count }
    let began = SystemClock.wall()
    let start = ContinuousClock.now
    let count = try body()
    let end = ContinuousClock.now
    known = Known(
      count: count, modified: modified, began: began, end: end, duration: end - start)
    return count
  }

  private static func isGood(_ known: Known, _ modified: Int64) -> Bool {
    if known.count <= few { return false }
    if .now - known.end < known.duration * rest { return true }
    return modified == known.modified && modified < known.began - tick
  }
}
