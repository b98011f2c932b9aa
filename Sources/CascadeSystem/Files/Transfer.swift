internal import CascadeCSystem
internal import Glibc

extension FileDescriptor {
  /// Appends at most `count` bytes to `bytes`. Returns how many were read: 0 at the end of the
  /// file, nil if none are available yet. `bytes` grows only by the bytes that were read.
  package func read(
    into bytes: inout [UInt8], upTo count: Int
  ) throws(SystemError) -> Int? {
    let new = try readChunk(upTo: count)
    if let new { bytes.append(contentsOf: new) }
    return new?.count
  }

  /// Reads from the current position to the end of a file. Returns nil if that is more than `limit`
  /// bytes. A caller that knows the size passes it, which saves a system call.
  package func readWhole(limit: Int, size: Int64? = nil) throws(SystemError) -> [UInt8]? {
    let expected = if let size { Int(clamping: size) } else { Int(clamping: try status().size) }
    if expected > limit { return nil }
    // Asks for one byte more than expected. If it does not come, this is the end of the file. If it
    // comes, the file has grown, and reading continues.
    var bytes = try readChunk(upTo: expected + 1) ?? []
    if bytes.count == expected { return bytes }
    while let got = try read(into: &bytes, upTo: 1 << 16), got > 0 {
      if bytes.count > limit { return nil }
    }
    return bytes.count > limit ? nil : bytes
  }

  private func readChunk(upTo count: Int) throws(SystemError) -> [UInt8]? {
    // The initializer of Array rethrows untyped, so the error is passed out in a variable.
    var outcome: Result<Int?, SystemError> = .success(nil)
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      outcome = Result { () throws(SystemError) in
        try checkedUnlessBlocking("read") { unsafe Glibc.read(raw, buffer.baseAddress!, count) }
      }
      if case .success(let got?) = outcome { filled = got }
    }
    return try outcome.get() == nil ? nil : bytes
  }

  /// Writes all bytes. Waits where the descriptor does not block.
  package func writeAll(_ bytes: [UInt8]) throws(SystemError) {
    var written = 0
    while written < bytes.count {
      guard let count = try write(bytes, from: written) else {
        try waitBlocking(for: .writable, milliseconds: -1)
        continue
      }
      written += count
    }
  }

  /// Writes as much as possible without waiting, and returns the number of bytes. This also works
  /// if the descriptor blocks, because a writable pipe takes PIPE_BUF bytes at once. The descriptor
  /// is not set to non-blocking, because other processes may share it.
  package func writeNow(_ bytes: [UInt8]) -> Int {
    var written = 0
    while written < bytes.count,
      (try? waitBlocking(for: .writable, milliseconds: 0)) == true,
      let count = try? write(bytes, from: written, upTo: Int(PIPE_BUF)), count > 0
    {
      written += count
    }
    return written
  }

  /// Returns the number of bytes written, or nil if none can be written now.
  private func write(
    _ bytes: [UInt8], from start: Int, upTo limit: Int = .max
  ) throws(SystemError) -> Int? {
    try checkedUnlessBlocking("write") {
      unsafe bytes.withUnsafeBytes { bytes in
        let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[start...].prefix(limit))
        return unsafe Glibc.write(raw, rest.baseAddress, rest.count)
      }
    }
  }

  /// Empties a regular file.
  package func truncate() throws(SystemError) {
    if try status().kind != .file { return }
    _ = try checked("ftruncate") { ftruncate(raw, 0) }
  }

  /// Moves the position to the beginning of the file.
  package func rewind() throws(SystemError) {
    _ = try checked("lseek") { lseek(raw, 0, SEEK_SET) }
  }

  package func skip(to offset: Int) throws(SystemError) {
    _ = try checked("lseek") { lseek(raw, offset, SEEK_SET) }
  }

  /// Returns when the content and the metadata are on the disk.
  package func sync() throws(SystemError) {
    _ = try checked("fsync") { fsync(raw) }
  }

  /// Like `sync`, but without metadata such as the modification time, which reading back the
  /// content does not need.
  package func syncData() throws(SystemError) {
    _ = try checked("fdatasync") { fdatasync(raw) }
  }

  /// Writes the changed pages of a part to the disk, and waits for that. This alone does not make
  /// them durable (see `syncData`).
  package func writeOut(_ part: Range<Int>) {
    _ = cascade_write_out(raw, part.lowerBound, part.count)
  }

  /// Advises the kernel that it need not keep in memory what is behind `offset` and already on the
  /// disk.
  package func forgetPages(behind offset: Int) {
    posix_fadvise(raw, offset, 0, POSIX_FADV_DONTNEED)
  }

  /// Blocks the thread, for programs without an event loop. Returns false after a timeout.
  @discardableResult
  package func waitBlocking(
    for readiness: Readiness, milliseconds: Int
  ) throws(SystemError) -> Bool {
    let events = readiness == .writable ? POLLOUT : readiness == .readable ? POLLIN : 0
    var item = pollfd(fd: raw, events: Int16(events), revents: 0)
    return try checked("poll") { unsafe poll(&item, 1, CInt(clamping: milliseconds)) } > 0
  }
}
