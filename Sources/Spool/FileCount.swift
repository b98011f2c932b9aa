internal import CascadeSystem

/// The number of files in a directory. It is reused while the directory's modification time is unchanged.
/// Counting a large directory is slow and makes other requests wait, so its count is also reused for a
/// hundred times as long as counting took: about one request in a hundred waits for a new count.
struct FileCount {
  private struct Known {
    let count: Int
    /// Both times are in milliseconds since 1970.
    let modified: Int64?
    let began: Int64
    let end: ContinuousClock.Instant
    let duration: Duration
  }

  private static let few = 2_000
  private static let reuseFactor = 100
  /// Changes within one tick of the kernel's clock leave the same modification time.
  private static let tick: Int64 = 100

  private var known: Known?

  mutating func count(_ path: String, _ body: () throws -> Int) throws -> Int {
    let modified = try FileStatus.of(path)?.modifiedMilliseconds
    if let known, let modified, FileCount.isGood(known, modified) { return known.count }
    let began = SystemClock.wall()
    let start = ContinuousClock.now
    let count = try body()
    let end = ContinuousClock.now
    known = Known(
      count: count, modified: modified, began: began, end: end, duration: end - start)
    return count
  }

  private static func isGood(_ known: Known, _ modified: Int64) -> Bool {
    if known.count > few && .now - known.end < known.duration * reuseFactor { return true }
    return modified == known.modified && modified < known.began - tick
  }
}
