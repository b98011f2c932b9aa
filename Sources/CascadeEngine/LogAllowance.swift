/// How much a sweep may add to the write-ahead log before the log begins anew. In bytes.
///
/// Applications write to the same log and the same disk. What a sweep adds must leave them room,
/// also while a reader keeps the log from beginning anew.
package struct LogAllowance {
  package let database: Int64
  package let log: Int64
  /// Nil if it is not known.
  package let free: Int64?

  package init(database: Int64, log: Int64, free: Int64?) {
    self.database = database
    self.log = log
    self.free = free
  }

  /// A step of this size is always allowed.
  package static let step: Int64 = 1 << 20
  /// A log of this size hurts no application, however small its database is.
  private static let small: Int64 = 64 << 20
  /// With less space, nothing is swept.
  private static let reserve: Int64 = 4 << 20

  package var bytes: Int64 {
    let most = max(LogAllowance.small, 2 * database)
    guard let free else { return most }
    return max(LogAllowance.step, min(most, (free + log) / 4))
  }

  package var isDiskFull: Bool { free.map { $0 < LogAllowance.reserve } ?? false }
}
