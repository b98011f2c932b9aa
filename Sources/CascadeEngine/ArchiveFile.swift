package import CascadeModel
internal import CascadeSystem
internal import Zstandard

/// A compressed file of lines, and copies of files.
enum ArchiveFile {
  fileprivate static let partSize = 1 << 20

  /// Writes a new file. Returns the digest of its lines.
  static func write(
    _ name: FileName, in directory: borrowing Directory, _ body: (ArchiveLines) throws -> Void
  ) throws -> [UInt8] {
    let lines = try ArchiveLines(directory.file(name, .createNew, mode: 0o600))
    try body(lines)
    return try lines.end()
  }

  /// Of the lines, as they are read. Nil if the file is not whole.
  static func digest(
    _ name: FileName, in directory: borrowing Directory
  ) throws -> [UInt8]? {
    let file = try directory.file(name)
    var hash = SHA256()
    let decompressor = try ZstdDecompressor()
    do {
      while let part = try read(file) { hash.update(try decompressor.decompress(part)) }
    } catch is ZstdError {
      return nil
    }
    return decompressor.isAtEnd ? hash.digest() : nil
  }

  private static func read(_ file: borrowing FileDescriptor) throws -> [UInt8]? {
    var bytes: [UInt8] = []
    while bytes.count < partSize, try file.read(into: &bytes, upTo: partSize) != 0 {}
    return bytes.isEmpty ? nil : bytes
  }

  /// A copy that is there already is complete: it has got its name last.
  static func copy(
    _ source: borrowing FileDescriptor, as name: FileName, in directory: borrowing Directory
  ) throws {
    if try directory.status(of: name) != nil { return }
    let part = FileName(".part-\(name)")
    try directory.remove(part)
    let file = try directory.file(part, .createNew, mode: 0o600)
    try file.setMode(try source.status().mode & 0o777)
    while let bytes = try read(source) { try file.writeAll(bytes) }
    try file.sync()
    try directory.rename(part, to: directory, asNew: name)
    try directory.sync()
  }
}

/// Takes the lines of a file that is being written.
package final class ArchiveLines {
  private let file: FileDescriptor
  private let compressor: ZstdCompressor
  private var hash = SHA256()
  private var part: [UInt8] = []
  /// How many lines there are.
  package private(set) var count = 0

  fileprivate init(_ file: consuming FileDescriptor) throws {
    self.file = file
    compressor = try ZstdCompressor()
  }

  package func write(_ line: JSON) throws {
    part += Array("\(line.text)\n".utf8)
    count += 1
    if part.count >= ArchiveFile.partSize { try flush(isLast: false) }
  }

  /// A file that is kept beside them (`BatchArchive.keep`).
  package func write(file path: String, root: String, batch: Int64) throws {
    try write([
      "restore": ["file": .string(path), "root": .string(root)], "kept": ["batch": .integer(batch)],
    ])
  }

  /// Returns the digest of all.
  fileprivate func end() throws -> [UInt8] {
    try flush(isLast: true)
    try file.sync()
    return hash.digest()
  }

  private func flush(isLast: Bool) throws {
    hash.update(part)
    try file.writeAll(compressor.compress(part, isLast: isLast))
    part.removeAll(keepingCapacity: true)
  }
}
