package import System

/// The directories of a spool (DESIGN 6). A file's place says what became of it.
///
/// One daemon holds a spool: the lock dies with it.
package struct SpoolDirectory: ~Copyable {
  package let path: String
  let incoming: Directory
  let temporary: Directory
  let held: Directory
  let rejected: Directory
  private let lock: FileLock

  package init(_ path: String) throws {
    let root = try Directory.openOrMake(path)
    guard let lock = try FileLock.take(".lock", in: root) else {
      throw SpoolError("another cascaded holds the spool \(path)")
    }
    let temporary = try Directory.openOrMake("\(path)/tmp")
    let incoming = try Directory.openOrMake("\(path)/new")
    let held = try Directory.openOrMake("\(path)/held")
    let rejected = try Directory.openOrMake("\(path)/rejected")
    self.path = path
    self.temporary = temporary
    self.incoming = incoming
    self.held = held
    self.rejected = rejected
    self.lock = lock
  }

  /// The directory to watch.
  package var incomingPath: String { incoming.path }

  /// The queue: in the byte order of the names, without those that begin with a dot.
  package borrowing func queue() throws -> [FileName] {
    try incoming.names().filter { !$0.isHidden }.sorted()
  }

  package borrowing func heldNames() throws -> [FileName] { try visible(held) }

  package borrowing func rejectedNames() throws -> [FileName] {
    let suffix = SpoolDirectory.reasonSuffix.utf8
    return try visible(rejected).filter {
      !$0.bytes.suffix(suffix.count).elementsEqual(suffix)
    }
  }

  private borrowing func visible(_ directory: borrowing Directory) throws -> [FileName] {
    try directory.names().filter { !$0.isHidden }.sorted()
  }

  static let reasonSuffix = ".reason.json"
}

package struct SpoolError: Error, CustomStringConvertible {
  package let description: String
  init(_ description: String) { self.description = description }
}

// MARK: - Moving files

extension SpoolDirectory {
  borrowing func remove(_ name: FileName) throws { try incoming.remove(name) }

  /// The reasons are safe before the file moves: a rejected file always has them.
  borrowing func reject(_ name: FileName, reasons: String) throws {
    let free = try freeName(name, in: rejected)
    let reasonName = SpoolDirectory.reasonName(of: free)
    let file = try temporary.file(reasonName, .readWrite(create: true))
    try file.writeAll(Array(reasons.utf8))
    try file.sync()
    try temporary.rename(reasonName, to: rejected, as: reasonName)
    try incoming.rename(name, to: rejected, as: free)
  }

  borrowing func hold(_ name: FileName) throws {
    try incoming.rename(name, to: held, as: name)
  }

  /// Back into the queue. False if it is not there.
  package borrowing func release(_ name: FileName) throws -> Bool {
    guard try held.status(of: name) != nil else { return false }
    try held.rename(name, to: incoming, as: name)
    return true
  }

  package borrowing func retry(_ name: FileName) throws -> Bool {
    guard try rejected.status(of: name) != nil else { return false }
    try rejected.rename(name, to: incoming, as: name)
    try rejected.remove(SpoolDirectory.reasonName(of: name))
    return true
  }

  package borrowing func drop(_ name: FileName) throws -> Bool {
    guard try rejected.status(of: name) != nil else { return try held.remove(name) }
    if try rejected.status(of: name)?.kind == .directory {
      try rejected.removeDirectory(name)
    } else {
      try rejected.remove(name)
    }
    try rejected.remove(SpoolDirectory.reasonName(of: name))
    return true
  }

  /// What was rejected before under the same name is kept.
  private borrowing func freeName(
    _ name: FileName, in directory: borrowing Directory
  ) throws -> FileName {
    var free = name
    var number = 1
    while try directory.status(of: free) != nil {
      free = name + ".\(number)"
      number += 1
    }
    return free
  }

  /// A name of 255 bytes has no room for a suffix.
  static func reasonName(of name: FileName) -> FileName {
    FileName(bytes: Array(name.bytes.prefix(255 - reasonSuffix.utf8.count))) + reasonSuffix
  }

  /// Reads a file's reasons, where it was rejected.
  package borrowing func reasons(of name: FileName) -> [UInt8]? {
    guard let file = try? rejected.file(SpoolDirectory.reasonName(of: name)) else { return nil }
    return try? file.readWhole(limit: 16 << 20)
  }
}

// MARK: - Submitting

extension SpoolDirectory {
  /// A file that grows outside of the queue, until `submit` moves it there.
  package borrowing func makeUpload(_ name: FileName) throws -> FileDescriptor {
    try temporary.file(name, .createNew, mode: 0o600)
  }

  package borrowing func dropUpload(_ name: FileName) throws { try temporary.remove(name) }

  package borrowing func submit(_ upload: FileName, as name: FileName) throws {
    try temporary.rename(upload, to: incoming, as: name)
  }

  package borrowing func isQueued(_ name: FileName) throws -> Bool {
    try incoming.status(of: name) != nil || held.status(of: name) != nil
  }

  /// What a producer or an upload left behind when it died, long ago.
  package borrowing func removeStaleUploads(olderThan limit: Int64) throws {
    for name in try temporary.names() where name.bytes.starts(with: "upload-".utf8) {
      if let status = try temporary.status(of: name), status.modifiedMilliseconds < limit {
        try temporary.remove(name)
      }
    }
  }
}
