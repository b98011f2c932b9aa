internal import Model
package import System

/// The directories of a spool (DESIGN 6). A file's place says what became of it.
package struct SpoolDirectory: ~Copyable {
  package let path: String
  let incoming: Directory
  let temporary: Directory
  let held: Directory
  let rejected: Directory

  package init(_ path: String) throws {
    _ = try Directory.openOrMake(path)
    let temporary = try Directory.openOrMake("\(path)/tmp")
    let incoming = try Directory.openOrMake("\(path)/new")
    let held = try Directory.openOrMake("\(path)/held")
    let rejected = try Directory.openOrMake("\(path)/rejected")
    self.path = path
    self.temporary = temporary
    self.incoming = incoming
    self.held = held
    self.rejected = rejected
  }

  /// One daemon holds a spool: the lock dies with it.
  package static func lock(_ path: String) throws -> FileLock {
    let root = try Directory.openOrMake(path)
    guard let lock = try FileLock.take(".lock", in: root) else {
      throw SpoolError("another cascaded holds the spool \(path)")
    }
    return lock
  }

  /// The directory to watch.
  package var incomingPath: String { incoming.path }

  /// The queue: in the byte order of the names, without those that begin with a dot.
  package borrowing func queue() throws -> [FileName] {
    try incoming.names().filter { !$0.isHidden }.sorted()
  }

  package borrowing func heldNames() throws -> [FileName] { try visible(held) }

  package borrowing func rejectedNames() throws -> [FileName] {
    try visible(rejected).filter { !$0.hasSuffix(SpoolDirectory.reasonSuffix) }
  }

  private borrowing func visible(_ directory: borrowing Directory) throws -> [FileName] {
    try directory.names().filter { !$0.isHidden }.sorted()
  }

  static let reasonSuffix = ".reason.json"

  package struct Counts: Sendable {
    package let waiting: Int
    package let held: Int
    package let rejected: Int
  }

  /// How many files are where, without the work of an ordered listing.
  package borrowing func counts() throws -> Counts {
    Counts(
      waiting: try incoming.names().count { !$0.isHidden },
      held: try held.names().count { !$0.isHidden },
      rejected: try rejected.names().count {
        !$0.isHidden && !$0.hasSuffix(SpoolDirectory.reasonSuffix)
      })
  }
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
    let free = try freeName(name)
    // What is left of a crash goes; nobody else writes here.
    try rejected.remove(".reason")
    let file = try rejected.file(".reason", .createNew)
    try file.writeAll(Array(reasons.utf8))
    try file.sync()
    try rejected.rename(".reason", to: rejected, as: SpoolDirectory.reasonName(of: free))
    try incoming.rename(name, to: rejected, as: free)
  }

  borrowing func hold(_ name: FileName) throws {
    try incoming.rename(name, to: held, as: name)
  }

  /// Back into the queue. False if it is not there.
  package borrowing func release(_ name: FileName) throws -> Bool {
    guard try isHeld(name) else { return false }
    try requireRoom(name)
    try held.rename(name, to: incoming, as: name)
    return true
  }

  package borrowing func retry(_ name: FileName) throws -> Bool {
    guard try rejected.status(of: name) != nil else { return false }
    try requireRoom(name)
    try rejected.rename(name, to: incoming, as: name)
    try rejected.remove(SpoolDirectory.reasonName(of: name))
    return true
  }

  borrowing func isHeld(_ name: FileName) throws -> Bool { try held.status(of: name) != nil }

  /// What waits is never replaced.
  private borrowing func requireRoom(_ name: FileName) throws {
    if try incoming.status(of: name) != nil {
      throw SpoolError("a file \(name) waits in the queue already")
    }
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

  /// What was rejected before under the same name is kept, and nothing looks like reasons that is
  /// none.
  private borrowing func freeName(_ name: FileName) throws -> FileName {
    var free = name
    var number = 1
    while try free.hasSuffix(SpoolDirectory.reasonSuffix) || rejected.status(of: free) != nil {
      free = SpoolDirectory.numbered(name, number)
      number += 1
    }
    return free
  }

  /// The end stays, by which a change file is known.
  private static func numbered(_ name: FileName, _ number: Int) -> FileName {
    let form = [".json", ".ndjson"].first { name.hasSuffix($0) } ?? ""
    let end = ".\(number)\(form)"
    let stem = name.bytes.dropLast(form.utf8.count).prefix(longestName - end.utf8.count)
    return FileName(bytes: Array(stem)) + end
  }

  private static let longestName = 255

  /// A name that has no room for the suffix is cut, and told from others by its fingerprint.
  static func reasonName(of name: FileName) -> FileName {
    if name.bytes.count + reasonSuffix.utf8.count <= longestName { return name + reasonSuffix }
    let end = "-\(String(Fingerprint(name.bytes).value, radix: 16))\(reasonSuffix)"
    return FileName(bytes: Array(name.bytes.prefix(longestName - end.utf8.count))) + end
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
    try incoming.status(of: name) != nil || isHeld(name)
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
