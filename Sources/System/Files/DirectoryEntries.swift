internal import Glibc

/// The entries of a directory, in no order, without "." and "..".
@safe
package struct DirectoryEntries: ~Copyable {
  private let stream: OpaquePointer
  private let path: String

  init(_ stream: OpaquePointer, _ path: String) {
    unsafe self.stream = stream
    self.path = path
  }

  deinit { unsafe closedir(stream) }

  /// Some file systems do not tell what each is.
  package func next() throws(SystemError) -> (name: FileName, kind: FileStatus.Kind?)? {
    while true {
      errno = 0
      guard let entry = unsafe readdir(stream) else {
        if errno != 0 { throw SystemError(code: errno, call: "readdir", path: path) }
        return nil
      }
      let start = unsafe UnsafeRawPointer(entry) + MemoryLayout<dirent>.offset(of: \.d_name)!
      let length = unsafe strlen(start.assumingMemoryBound(to: CChar.self))
      let name = FileName(bytes: unsafe Array(UnsafeRawBufferPointer(start: start, count: length)))
      if name == "." || name == ".." { continue }
      return (name, FileStatus.Kind(entryType: unsafe entry.pointee.d_type))
    }
  }
}
