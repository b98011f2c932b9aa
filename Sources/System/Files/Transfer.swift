internal import CSystemd
internal import Glibc

extension FileDescriptor {
  /// Appends at most `count` bytes to `bytes`. Returns how many, 0 at the end of the file, and nil
  /// when there are none yet.
  package func read(
    into bytes: inout [UInt8], upTo count: Int
  ) throws(SystemError) -> Int? {
    let start = bytes.count
    bytes.append(contentsOf: repeatElement(0, count: count))
    var got: Int?
    defer { bytes.removeLast(count - (got ?? 0)) }
    got = try checkedUnlessBlocking("read") {
      unsafe bytes.withUnsafeMutableBytes { bytes in
        unsafe Glibc.read(raw, bytes.baseAddress! + start, count)
      }
    }
    return got
  }

  /// From here to the end of a regular file; nil if that is more than `limit` bytes.
  package func readWhole(limit: Int) throws(SystemError) -> [UInt8]? {
    let expected = Int(clamping: try status().size)
    if expected > limit { return nil }
    var bytes: [UInt8] = []
    // One byte more shows the end without another growth; a file that grows is read on.
    var step = expected + 1
    while let got = try read(into: &bytes, upTo: step), got > 0 {
      if bytes.count > limit { return nil }
      step = max(4096, expected + 1 - bytes.count)
    }
    return bytes
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

  /// How many bytes were taken; nil when none can be now.
  private func write(_ bytes: [UInt8], from start: Int) throws(SystemError) -> Int? {
    try checkedUnlessBlocking("write") {
      unsafe bytes.withUnsafeBytes { bytes in
        unsafe Glibc.write(raw, bytes.baseAddress! + start, bytes.count - start)
      }
    }
  }

  /// Returns once the content is on the disk.
  package func sync() throws(SystemError) {
    _ = try checked("fsync") { fsync(raw) }
  }

  /// Blocks this thread, for programs without a loop. False when the time was over before.
  @discardableResult
  package func waitBlocking(
    for readiness: Readiness.Kind, milliseconds: Int
  ) throws(SystemError) -> Bool {
    let events = readiness == .writable ? POLLOUT : readiness == .readable ? POLLIN : 0
    var item = pollfd(fd: raw, events: Int16(events), revents: 0)
    return try checked("poll") { unsafe poll(&item, 1, CInt(clamping: milliseconds)) } > 0
  }
}
