internal import CSQLite
internal import Glibc
internal import Synchronization

/// Other processes that have a database open, as the index of its log tells of them
/// (https://sqlite.org/walformat.html).
package enum Neighbours {
  /// A process that closes a descriptor of a file loses all its locks on it, SQLite's too: so these
  /// stay open, one for each index.
  private static let indexes = Mutex<[Index: Int32]>([:])

  private struct Index: Hashable {
    let device: dev_t
    let inode: ino_t
  }

  /// The "dead man's switch", behind the eight bytes that SQLite locks for its work.
  private static let lockedByAll: off_t = 128

  /// Whether there are any, so that one of them may wait for the write lock: each holds a lock on one
  /// byte. Also where nobody can tell.
  package static func mayBe(at path: String) -> Bool {
    guard let index = open("\(path)-shm") else { return true }
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = lockedByAll
    lock.l_len = 1
    return unsafe fcntl(index, F_GETLK, &lock) != 0 || lock.l_type != Int16(F_UNLCK)
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
      if let known = indexes[index] { return known }
      let new = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
      if new < 0 { return nil }
      indexes[index] = new
      return new
    }
  }
}
