package import CascadeEngine
package import CascadeSQLite
internal import CascadeSystem

/// What sweeps have added to the write-ahead log since it began anew.
package struct LogUse {
  /// Whether a sweep runs: what it adds is limited.
  package var isSweeping = false
  /// The largest transaction of the current sweep, and the last one, in bytes.
  package private(set) var largest = LogAllowance.step
  package private(set) var last: Int64 = 0
  /// Nil if no sweep has written yet: then what is in the log may be of an earlier daemon's.
  private var generation: UInt32?
  private var added: Int64 = 0
  /// For tests: the free space of the disk.
  package var freeSpace: (String) -> Int64? = DiskSpace.free

  package mutating func beginSweep() { (isSweeping, largest) = (true, LogAllowance.step) }

  /// Counts what a transaction added. `before` is the log when the transaction took the write lock.
  package mutating func note(from before: OtherConnections.LogState?, at path: String) {
    guard isSweeping, let before, let after = OtherConnections.log(at: path) else { return }
    let isSame = before.generation == after.generation
    last = (after.frames - (isSame ? before.frames : 0)) * after.frameSize
    added = (isSame ? added(in: before) : 0) + last
    generation = after.generation
    largest = max(largest, last)
  }

  /// The bytes that sweeps added to this log.
  package func added(in log: OtherConnections.LogState) -> Int64 {
    if generation == nil { return log.frames * log.frameSize }
    return log.generation == generation ? added : 0
  }

  /// How much sweeps may add to the log of the database at `path`.
  package func allowance(at path: String) -> LogAllowance {
    func size(_ path: String) -> Int64 { ((try? FileStatus.of(path)) ?? nil)?.size ?? 0 }
    return LogAllowance(database: size(path), log: size("\(path)-wal"), free: freeSpace(path))
  }
}

/// A sweep cannot go on now, because the log may not become longer.
package struct LogIsFull: Error, CustomStringConvertible {
  package let description: String

  package init(description: String) { self.description = description }
}
