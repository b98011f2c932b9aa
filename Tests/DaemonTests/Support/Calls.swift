import Glibc
import CascadeSystem

/// What only tests make.
enum Make {
  static func fifo(_ path: String) { _ = unsafe mkfifo(path, 0o600) }

  static func link(_ path: String, to target: String) { _ = unsafe symlink(target, path) }

  /// A file of so many zeroes that take no room.
  static func sparse(_ path: String, bytes: Int) throws {
    let file = try FileDescriptor.open(path, .createNew)
    _ = ftruncate(file.raw, off_t(bytes))
  }

  static func socket(_ path: String) throws { _ = try UnixSocket.listen(path) }
}

/// What the kernel says of a process, in kB.
func memory(of process: pid_t, _ field: String) throws -> Int {
  let lines = try kernelText("\(process)/status").split(separator: "\n")
  let line = lines.first { $0.hasPrefix("\(field):") } ?? ""
  return line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
}

/// Files of /proc say that they are empty.
func kernelText(_ path: String) throws -> String {
  let file = try FileDescriptor.open("/proc/\(path)")
  var bytes: [UInt8] = []
  while let count = try file.read(into: &bytes, upTo: 1 << 16), count > 0 {}
  return String(decoding: bytes, as: UTF8.self)
}
