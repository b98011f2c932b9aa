internal import CascadeCSystem
internal import Glibc

extension FileDescriptor {
  /// Appends at most `count` bytes to `bytes`. Returns how many, 0 at the end of the file, and nil
  /// when there are none yet. `bytes` grows by what came, not by what could have.
  package func read(
    into bytes: inout [UInt8], upTo count: Int
  ) throws(SystemError) -> Int? {
    let new = try readChunk(upTo: count)
    if let new { bytes.append(contentsOf: new) }
    return new?.count
  }

  /// From here to the end of a regular file; nil if that is more than `limit` bytes. Its size, where
  /// the caller knows it, need not be asked for.
  package func readWhole(limit: Int, size: Int64? = nil) throws(SystemError) -> [UInt8]? {
    let expected = if let size { Int(clamping: size) } else { Int(clamping: try status().size) }
    if expected > limit { return nil }
    // One byte more than there is: less than that is the end; a file that grew is read on.
    var bytes = try readChunk(upTo: expected + 1) ?? []
    if bytes.count == expected { return bytes }
    while let got = try read(into: &bytes, upTo: 1 << 16), got > 0 {
      if bytes.count > limit { return nil }
    }
    return bytes.count > limit ? nil : bytes
  }

  private func readChunk(upTo count: Int) throws(SystemError) -> [UInt8]? {
    // The initializer of Array rethrows untyped: the failure comes out beside the bytes.
    var outcome: Result<Int?, SystemError> = .success(nil)
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      outcome = Result { () throws(SystemError) in
        try checkedUnlessBlocking("read") { unsafe Glibc.read(raw, buffer.baseAddress!, count) }
      }
      if case .success(let got?) = outcome { filled = got }
    }
    return try outcome.get() == nil ? nil : bytes
  }

  /// Writes everything; for files and pipes that block, or the rare one that does not.
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

  /// As many as are taken without waiting, also where the descriptor blocks: a pipe that can be
  /// written takes so many. Whether a descriptor blocks is not ours to say where others have it too.
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

  /// How many bytes were taken; nil when none can be now.
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

  /// The next read begins at the beginning.
  package func rewind() throws(SystemError) {
    _ = try checked("lseek") { lseek(raw, 0, SEEK_SET) }
  }

  /// Returns once the content is on the disk.
  package func sync() throws(SystemError) {
    _ = try checked("fsync") { fsync(raw) }
  }

  /// But for what only tells when it was written.
  package func syncData() throws(SystemError) {
    _ = try checked("fdatasync") { fdatasync(raw) }
  }

  /// Writes what was changed there to the disk, and waits for that. Whether it would be found there again
  /// is another matter (`syncData`).
  package func writeOut(_ part: Range<Int>) {
    _ = cascade_write_out(raw, part.lowerBound, part.count)
  }

  /// What the kernel has in memory of its rest, and on the disk, need not stay there. Only advice.
  package func forgetPages(behind offset: Int) {
    posix_fadvise(raw, offset, 0, POSIX_FADV_DONTNEED)
  }

  /// Blocks this thread, for programs without a loop. False when the time was over before.
  @discardableResult
  package func waitBlocking(
    for readiness: Readiness, milliseconds: Int
  ) throws(SystemError) -> Bool {
    let events = readiness == .writable ? POLLOUT : readiness == .readable ? POLLIN : 0
    var item = pollfd(fd: raw, events: Int16(events), revents: 0)
    return try checked("poll") { unsafe poll(&item, 1, CInt(clamping: milliseconds)) } > 0
  }
}
