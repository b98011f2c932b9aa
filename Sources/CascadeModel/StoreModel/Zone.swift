/// A time zone: how far local time is ahead of UTC, as a function of time. Times are in seconds
/// since 1970.
package struct Zone: Sendable {
  package let offset: @Sendable (Int64) -> Int64

  package init(offset: @escaping @Sendable (Int64) -> Int64) { self.offset = offset }

  private static let day: Int64 = 86_400

  /// The first second with another offset than `time`; nil if that is after `limit`. No zone
  /// changes its clocks forth and back within a day.
  func change(after time: Int64, upTo limit: Int64) -> Int64? {
    let offset = offset(time)
    var low = time
    while low < limit {
      let high = min(low + Zone.day, limit)
      if self.offset(high) != offset { return first(otherThan: offset, after: low, upTo: high) }
      low = high
    }
    return nil
  }

  private func first(otherThan offset: Int64, after low: Int64, upTo high: Int64) -> Int64 {
    var (low, high) = (low, high)
    while high - low > 1 {
      let middle = low + (high - low) / 2
      if self.offset(middle) == offset { low = middle } else { high = middle }
    }
    return high
  }

  /// Whether local clocks showed this time before, and were set back since then.
  func isRepeated(_ time: Int64) -> Bool {
    let before = offset(time - Zone.day)
    let setBack = before - offset(time)
    return setBack > 0 && offset(time - setBack) == before
  }
}
