internal import CascadeCSQLite

/// Writes a commit to the log in large pieces. SQLite writes each page by two system calls, and
/// these take most of the time of a large commit.
///
/// A file of SQLite's has a table of functions (https://sqlite.org/vfs.html). During the commit,
/// the log's file has a copy of that table. Its functions gather consecutive writes, and write them
/// before anything else is done with the file. Meanwhile this connection has the write lock: no
/// other connection reads beyond the end of the log, or writes there. The last frame of a commit is
/// marked as such (https://sqlite.org/walformat.html), and everything is written with it, so SQLite
/// is told of a full disk.
@safe
final class BatchedLogWriter {
  /// The functions of a file, followed by the object that they belong to.
  @unsafe
  private struct Methods {
    let table: sqlite3_io_methods
    let owner: Unmanaged<BatchedLogWriter>
  }

  private static let mostBytes = 128 << 10
  private static let frameHeader = 24

  private let methods = UnsafeMutablePointer<Methods>.allocate(capacity: 1)
  private var originalMethods = sqlite3_io_methods()
  private var gathered = unsafe UnsafeMutableRawPointer?.none
  private var count = 0
  /// Where the last write ended, whether it was written to the file or gathered.
  private var end: Int64 = -1
  private var isLastFrame = false

  deinit {
    unsafe methods.deallocate()
    forget()
  }

  /// Releases the memory.
  func forget() {
    unsafe gathered?.deallocate()
    unsafe gathered = nil
  }

  func during<Failure: Error>(
    _ log: UnsafeMutablePointer<sqlite3_file>?, _ commit: () throws(Failure) -> Void
  ) throws(Failure) {
    guard let log = unsafe log, let originalMethods = unsafe log.pointee.pMethods else {
      return try commit()
    }
    let ours = unsafe begin(originalMethods.pointee)
    unsafe log.pointee.pMethods = ours
    defer {
      // A file that was closed has none.
      if unsafe log.pointee.pMethods == ours { unsafe log.pointee.pMethods = originalMethods }
    }
    try commit()
  }

  private func begin(_ originalMethods: sqlite3_io_methods) -> UnsafePointer<sqlite3_io_methods> {
    self.originalMethods = originalMethods
    (count, end, isLastFrame) = (0, -1, false)
    let owner = unsafe Unmanaged.passUnretained(self)
    unsafe methods.initialize(to: Methods(table: originalMethods.gathering, owner: owner))
    return unsafe UnsafeRawPointer(methods).assumingMemoryBound(to: sqlite3_io_methods.self)
  }
}

// MARK: - Called by SQLite

private typealias File = UnsafeMutablePointer<sqlite3_file>

extension BatchedLogWriter {
  fileprivate static func of(_ file: File?) -> BatchedLogWriter {
    let methods = unsafe UnsafeRawPointer(file!.pointee.pMethods!)
    return unsafe methods.assumingMemoryBound(to: Methods.self).pointee.owner.takeUnretainedValue()
  }

  fileprivate func write(
    _ file: File?, _ bytes: UnsafeRawPointer, _ size: Int, at offset: Int64
  ) -> Int32 {
    // The size of the database after a commit; zero in all frames but the last.
    if size == BatchedLogWriter.frameHeader {
      isLastFrame = unsafe bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self) != 0
    }
    if offset != end || count + size > BatchedLogWriter.mostBytes {
      let result = unsafe flush(file)
      if result != SQLITE_OK { return result }
    }
    let follows = offset == end
    end = offset + Int64(size)
    if !follows { return unsafe originalMethods.xWrite(file, bytes, Int32(size), offset) }
    unsafe gather(bytes, size)
    return unsafe isLastFrame && size != BatchedLogWriter.frameHeader ? flush(file) : SQLITE_OK
  }

  private func gather(_ bytes: UnsafeRawPointer, _ size: Int) {
    let place = unsafe gathered ?? .allocate(byteCount: BatchedLogWriter.mostBytes, alignment: 8)
    unsafe (place + count).copyMemory(from: bytes, byteCount: size)
    unsafe gathered = place
    count += size
  }

  fileprivate func flush(_ file: File?) -> Int32 {
    if count == 0 { return SQLITE_OK }
    defer { count = 0 }
    return unsafe originalMethods.xWrite(file, gathered, Int32(count), end - Int64(count))
  }

  /// Writes what was gathered before anything else is done with the file.
  fileprivate static func afterFlush(
    _ file: File?, _ body: (sqlite3_io_methods) -> Int32
  ) -> Int32 {
    let log = unsafe of(file)
    let result = unsafe log.flush(file)
    return result == SQLITE_OK ? body(log.originalMethods) : result
  }
}

extension sqlite3_io_methods {
  fileprivate var gathering: sqlite3_io_methods {
    var table = self
    unsafe table.xWrite = { unsafe BatchedLogWriter.of($0).write($0, $1!, Int($2), at: $3) }
    unsafe table.xRead = { file, bytes, size, offset in
      unsafe BatchedLogWriter.afterFlush(file) { unsafe $0.xRead(file, bytes, size, offset) }
    }
    unsafe table.xTruncate = { file, size in
      unsafe BatchedLogWriter.afterFlush(file) { unsafe $0.xTruncate(file, size) }
    }
    unsafe table.xSync = { file, how in
      unsafe BatchedLogWriter.afterFlush(file) { unsafe $0.xSync(file, how) }
    }
    unsafe table.xFileSize = { file, size in
      unsafe BatchedLogWriter.afterFlush(file) { unsafe $0.xFileSize(file, size) }
    }
    return table
  }
}
