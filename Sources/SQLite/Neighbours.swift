internal import CSQLite
internal import Glibc
internal import Synchronization

/// Whether other processes have a database open, so that one of them may wait for its write lock.
///
/// In WAL mode each holds a lock on one byte of the log's index (https://sqlite.org/walformat.html).
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

  /// Also where nobody can tell.
  package static func mayBe(at path: String) -> Bool {
    guard let index = open("\(path)-shm") else { return true }
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = lockedByAll
    lock.l_len = 1
    return unsafe fcntl(index, F_GETLK, &lock) != 0 || lock.l_type != Int16(F_UNLCK)
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
