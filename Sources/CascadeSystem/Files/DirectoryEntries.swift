internal import Glibc

/// The entries of a directory except "." and "..", in no particular order.
@safe
package struct DirectoryEntries: ~Copyable {
  private let stream: OpaquePointer
  private let path: String

  init(_ stream: OpaquePointer, _ path: String) {
    unsafe self.stream = stream
    self.path = path
  }

  deinit { unsafe closedir(stream) }

  /// The number of remaining entries whose names do not begin with a dot.
  package func countVisible() throws(SystemError) -> Int {
    var count = 0
    while let entry = unsafe try nextEntry() {
      if unsafe entry.pointee.d_name.0 != CChar(UInt8(ascii: ".")) { count += 1 }
    }
    return count
  }

  /// The next entry. Its kind is nil on file systems that do not report it here.
  package func next() throws(SystemError) -> (name: FileName, kind: FileStatus.Kind?)? {
    while let entry = unsafe try nextEntry() {
      let start = unsafe UnsafeRawPointer(entry) + MemoryLayout<dirent>.offset(of: \.d_name)!
      let length = unsafe strlen(start.assumingMemoryBound(to: CChar.self))
      let name = FileName(bytes: unsafe Array(UnsafeRawBufferPointer(start: start, count: length)))
      if name == "." || name == ".." { continue }
      return (name, FileStatus.Kind(entryType: unsafe entry.pointee.d_type))
    }
    return nil
  }

  /// The result is valid until the next call.
  private func nextEntry() throws(SystemError) -> UnsafeMutablePointer<dirent>? {
    errno = 0
    if let entry = unsafe readdir(stream) { return unsafe entry }
    if errno != 0 { throw SystemError(code: errno, call: "readdir", path: path) }
    return nil
  }
}
