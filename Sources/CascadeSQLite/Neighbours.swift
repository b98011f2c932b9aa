internal import CascadeCSQLite
internal import Glibc
internal import Synchronization

/// Other processes that have a database open, as the index of its log tells of them
/// (https://sqlite.org/walformat.html).
package enum Neighbours {
  /// A process that closes a descriptor of a file loses all its locks on it, SQLite's too: so these
  /// stay open, one for each index.
  private static let indexes = Mutex<[Index: Open]>([:])

  private struct Index: Hashable {
    let device: dev_t
    let inode: ino_t
  }

  private struct Open {
    let descriptor: Int32
    /// When it was found removed.
    var removed: ContinuousClock.Instant?
  }

  /// The first two of the eight bytes that SQLite locks for its work.
  private static let writeLock: off_t = 120
  private static let checkpointLock: off_t = 121

  /// The "dead man's switch", behind all of them.
  private static let lockedByAll: off_t = 128

  /// Whether there are any, so that one of them may wait for the write lock: each holds a lock on one
  /// byte. Also where nobody can tell.
  package static func mayBe(at path: String) -> Bool {
    guard let index = open("\(path)-shm") else { return true }
    var lock = flock(F_WRLCK, lockedByAll)
    return unsafe fcntl(index, F_GETLK, &lock) != 0 || lock.l_type != Int16(F_UNLCK)
  }

  /// Runs `body` while no other process takes a checkpoint; nil where one does. One of this process is
  /// not kept from it, and ends the lock: also one that could not read the index, because of a commit at
  /// this very moment. Then it runs again, before who committed takes a checkpoint himself.
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

  /// Keeps all other processes from writing until a connection of this one gives the lock back, or this
  /// is `undo`ne. False where one of them has it for longer than a tenth of a second. In this process
  /// nobody may have it.
  static func takeWriteLock(at path: String) -> (isTaken: Bool, undo: () -> Void) {
    guard let index = open("\(path)-shm") else { return (true, {}) }
    let isTaken = take(writeLock, of: index, looks: 800)
    return (isTaken, { if isTaken { release(writeLock, of: index) } })
  }

  /// Looks again at once for a while: where somebody commits all the time, the lock is free for some
  /// microseconds. Then every fifth of a millisecond.
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

  /// A number that grows by one with each transaction, whoever commits it; nil where nobody can tell.
  package static func commits(at path: String) -> UInt32? {
    guard let index = open("\(path)-shm") else { return nil }
    var changes: UInt32 = 0
    let size = MemoryLayout<UInt32>.size
    let count = unsafe withUnsafeMutableBytes(of: &changes) {
      unsafe pread(index, $0.baseAddress, size, 8)
    }
    return count == size ? changes : nil
  }

  private static func open(_ path: String) -> Int32? {
    var status = stat()
    if unsafe stat(path, &status) != 0 { return nil }
    let index = Index(device: status.st_dev, inode: status.st_ino)
    return indexes.withLock { indexes in
      if let known = indexes[index] { return known.descriptor }
      closeRemoved(&indexes)
      let new = unsafe Glibc.open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
      if new < 0 { return nil }
      indexes[index] = Open(descriptor: new)
      return new
    }
  }

  /// Of databases that were replaced. A minute later: nobody asks one of them for as long as that.
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
  /// The same as `begin`, beside somebody who commits all the time. SQLite looks at what is committed
  /// before it asks for the lock, and begins anew where more was committed by then.
  ///
  /// Where another process has the lock for long, `letGo` runs before it is asked for once more.
  package func begin(
    besideOthersAt path: String, orElse letGo: () -> Void = {}
  ) throws(SQLiteError) {
    let lock = Neighbours.takeWriteLock(at: path)
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
  fileprivate init(_ type: Int32, _ byte: off_t) {
    self.init()
    l_type = Int16(type)
    l_whence = Int16(SEEK_SET)
    l_start = byte
    l_len = 1
  }
}
