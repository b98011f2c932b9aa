internal import CascadeCSQLite
internal import Glibc
internal import Synchronization

/// Other processes that have a database open, as seen in the locks and the header of its WAL-index
/// (https://sqlite.org/walformat.html).
package enum OtherConnections {
  /// If a process closes a descriptor of a file, it loses all its locks on that file, including
  /// SQLite's. So these descriptors, one for each WAL-index, stay open as long as this process has a
  /// connection.
  private static let indexes = Mutex<[Index: Open]>([:])

  private struct Index: Hashable {
    let device: dev_t
    let inode: ino_t
  }

  private struct Open {
    let descriptor: Int32
    /// The database.
    let place: String
    /// When the file was found to be removed.
    var removed: ContinuousClock.Instant?
  }

  /// The first two of the eight bytes that SQLite locks.
  private static let writeLock: off_t = 120
  private static let checkpointLock: off_t = 121

  /// A transaction locks one of these five for as long as it lasts.
  private static let readLocks: ClosedRange<off_t> = 123...127

  /// SQLite's "dead man's switch", the byte after these.
  private static let lockedByAll: off_t = 128

  /// Where the index has the five read marks.
  private static let readMarks: off_t = 100

  /// A lock that another process has on a read mark: one of its transactions, or several that read
  /// the same state.
  package struct ReadLock: Hashable, Sendable {
    package let process: Int32
    let byte: off_t
    /// Whether the log cannot begin anew while they read.
    package var keepsLog: Bool { byte > readLocks.lowerBound }
    /// Up to which frame of the log they read. It changes only while no process has the lock.
    package let mark: UInt32
  }

  /// The read marks that other processes have locked now. If several have the same mark, one of
  /// them is found.
  package static func transactions(at path: String) -> Set<ReadLock> {
    guard let index = open("\(path)-shm") else { return [] }
    // Mostly there is none, and one call says so. A sweep looks often, while it has the lock.
    if holder(of: readLocks, in: index) == nil { return [] }
    return Set(
      readLocks.compactMap { byte in
        guard let process = holder(of: byte...byte, in: index) else { return nil }
        let mark = number(in: index, at: readMarks + 4 * (byte - readLocks.lowerBound))
        return ReadLock(process: process, byte: byte, mark: mark ?? 0)
      })
  }

  /// Another process that has one of these bytes locked; nil if none has.
  private static func holder(of bytes: ClosedRange<off_t>, in index: Int32) -> Int32? {
    var lock = flock(F_WRLCK, bytes.lowerBound, count: off_t(bytes.count))
    if unsafe fcntl(index, F_GETLK, &lock) != 0 || lock.l_type == Int16(F_UNLCK) { return nil }
    return lock.l_pid
  }

  /// Whether another process has the database open and so may wait for the write lock: each of them
  /// holds a lock on one byte. True also if that cannot be found out.
  package static func mayExist(at path: String) -> Bool {
    guard let index = open("\(path)-shm") else { return true }
    var lock = flock(F_WRLCK, lockedByAll)
    return unsafe fcntl(index, F_GETLK, &lock) != 0 || lock.l_type != Int16(F_UNLCK)
  }

  /// Whether another process has the write lock now.
  package static func holdWriteLock(of path: String) -> Bool {
    guard let index = open("\(path)-shm") else { return false }
    var lock = flock(F_WRLCK, writeLock)
    return unsafe fcntl(index, F_GETLK, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
  }

  /// Runs `body` while no other process can checkpoint; nil if one does so now. A checkpoint in
  /// this process is not prevented, and releases the lock. So does one in `body` that could not
  /// read the WAL-index because of a commit at that moment. Then `body` runs again, before the
  /// process that committed can checkpoint.
  package static func withoutCheckpoints<T>(
    at path: String, _ body: () throws -> T?
  ) rethrows -> T? {
    guard let index = open("\(path)-shm") else { return nil }
    defer { release(checkpointLock, of: index) }
    for _ in 0..<3 {
      if !take(checkpointLock, of: index, looks: 100) { break }
      if let result = try body() { return result }
    }
    return nil
  }

  /// Keeps all other processes from writing, until a connection of this process releases the lock
  /// or `undo` is called. `isTaken` is false if another process has the lock for longer than a
  /// tenth of a second. No connection of this process may have it.
  static func takeWriteLock(at path: String) -> (isTaken: Bool, undo: () -> Void) {
    guard let index = open("\(path)-shm") else { return (true, {}) }
    let isTaken = take(writeLock, of: index, looks: 800)
    return (isTaken, { if isTaken { release(writeLock, of: index) } })
  }

  /// First tries again without a pause: beside a process that commits all the time, the lock is
  /// free for some microseconds only. Then tries every fifth of a millisecond.
  private static func take(_ byte: off_t, of index: Int32, looks: Int) -> Bool {
    var lock = flock(F_WRLCK, byte)
    for look in 0..<looks {
      if unsafe fcntl(index, F_SETLK, &lock) == 0 { return true }
      if look < 300 { sched_yield() } else { usleep(200) }
    }
    return false
  }

  private static func release(_ byte: off_t, of index: Int32) {
    var unlock = flock(F_UNLCK, byte)
    _ = unsafe fcntl(index, F_SETLK, &unlock)
  }

  /// A number that grows by one with each transaction of any process; nil if it cannot be read.
  package static func commits(at path: String) -> UInt32? {
    open("\(path)-shm").flatMap { number(in: $0, at: 8) }
  }

  /// The log, as its index describes it.
  package struct LogState: Hashable {
    /// Another number when the log begins anew.
    package let generation: UInt32
    package let frames: Int64
    /// Of them, in the database.
    package let copiedFrames: Int64
    package let frameSize: Int64
  }

  package static func log(at path: String) -> LogState? {
    guard let index = open("\(path)-shm"), let generation = number(in: index, at: 32),
      let frames = number(in: index, at: 16), let copied = number(in: index, at: 96),
      let sizes = number(in: index, at: 12)
    else { return nil }
    // The size of a page is the upper half, where 1 means 65,536.
    let page = Int64(sizes >> 16)
    return LogState(
      generation: generation, frames: Int64(frames), copiedFrames: Int64(copied),
      frameSize: (page == 1 ? 65_536 : page) + 24)
  }

  private static func number(in index: Int32, at offset: off_t) -> UInt32? {
    var number: UInt32 = 0
    let size = MemoryLayout<UInt32>.size
    let count = unsafe withUnsafeMutableBytes(of: &number) {
      unsafe pread(index, $0.baseAddress, size, offset)
    }
    return count == size ? number : nil
  }

  /// Nil also if this process has no connection to the database.
  private static func open(_ path: String) -> Int32? {
    var status = stat()
    if unsafe stat(path, &status) != 0 { return nil }
    let index = Index(device: status.st_dev, inode: status.st_ino)
    if let known = indexes.withLock({ $0[index]?.descriptor }) { return known }
    let place = OwnConnections.name(of: String(path.dropLast("-shm".count)))
    if !OwnConnections.isOpen(place) { return nil }
    return indexes.withLock { indexes in
      if let known = indexes[index] { return known.descriptor }
      closeRemoved(&indexes)
      let new = unsafe Glibc.open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
      if new < 0 { return nil }
      indexes[index] = Open(descriptor: new, place: place)
      return new
    }
  }

  /// The last connection of this process to the database is closed.
  static func closeIndex(of place: String) {
    indexes.withLock { indexes in
      for (index, open) in indexes where open.place == place {
        close(open.descriptor)
        indexes[index] = nil
      }
    }
  }

  /// Closes the descriptors of databases that were replaced, a minute after they were found
  /// removed: by then no call uses them.
  private static func closeRemoved(_ indexes: inout [Index: Open]) {
    for (index, open) in indexes {
      var status = stat()
      if unsafe fstat(open.descriptor, &status) != 0 || status.st_nlink > 0 { continue }
      let removed = open.removed ?? .now
      if removed.duration(to: .now) > .seconds(60) {
        close(open.descriptor)
        indexes[index] = nil
      } else {
        indexes[index]?.removed = removed
      }
    }
  }
}

extension Connection {
  /// The same as `begin`, beside a process that commits all the time. SQLite reads what is
  /// committed before it asks for the lock, and starts again if more was committed by then.
  ///
  /// If another process has the lock for long, `letGo` runs before one more attempt.
  package func begin(
    besideOthersAt path: String, orElse letGo: () -> Void = {}
  ) throws(SQLiteError) {
    let lock = OtherConnections.takeWriteLock(at: path)
    if !lock.isTaken { letGo() }
    do {
      try begin()
    } catch {
      lock.undo()
      throw error
    }
  }
}

extension flock {
  fileprivate init(_ type: Int32, _ byte: off_t, count: off_t = 1) {
    self.init()
    l_type = Int16(type)
    l_whence = Int16(SEEK_SET)
    l_start = byte
    l_len = count
  }
}
