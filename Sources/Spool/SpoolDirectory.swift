internal import CascadeModel
internal import Synchronization
package import CascadeSystem

/// The directories of a spool. The directory of a file is its state.
package final class SpoolDirectory: Sendable {
  package let path: String
  private let paths: SafePaths
  /// Of the directories that were opened first.
  private let identity: SpoolParts.Identity
  private let open: Mutex<SpoolParts?>
  /// The users who submitted files over the socket, remembered while the daemon runs. The submitter
  /// is the author of a file that names none.
  private let submitters = Mutex<[FileName: String]>([:])
  /// By their names.
  let failing = Mutex<[FileName: FailingFile]>([:])
  private let known = Mutex((waiting: FileCount(), held: FileCount(), rejected: FileCount()))

  package init(_ path: String, _ paths: SafePaths) throws {
    let parts = try SpoolParts(path, paths, makes: true)
    (self.path, self.paths, identity) = (path, paths, try parts.identity)
    open = Mutex(parts)
  }

  /// Opens the directories if they are closed.
  var parts: SpoolParts {
    get throws {
      try open.withLock { open in
        if let open { return open }
        let parts = try SpoolParts(path, paths)
        if try parts.identity != identity { throw SpoolError("the spool \(path) was replaced") }
        open = parts
        return parts
      }
    }
  }

  /// Closes the directories until they are used again. Of very many spools, most are not used now.
  package func rest() { open.withLock { $0 = nil } }

  /// Takes the lock of a spool, so that one daemon at most serves it. The lock ends with the
  /// process. Without it, the store is not opened either.
  package func lock() throws -> FileLock {
    guard let lock = try FileLock.take(".lock", in: parts.root) else {
      throw SpoolError("another cascaded holds the spool \(path)")
    }
    return lock
  }

  /// Takes the lock of a database, so that one daemon at most serves it, whatever its path and
  /// spool. Nil if `home`, the directory beside the database, is the spool, which is locked
  /// already.
  package func lock(home: String) throws -> FileLock? {
    let directory = try paths.makeDirectory(home)
    if try directory.descriptor.status().isSame(as: parts.root.descriptor.status()) { return nil }
    guard let lock = try FileLock.take(".lock", in: directory) else {
      throw SpoolError("another cascaded serves the same database: it holds \(home)")
    }
    return lock
  }

  /// Removes the directories made for a path that turned out not to be a store. A directory that
  /// has files in it, or is locked by another daemon, stays.
  package static func removeEmpty(_ path: String, _ paths: SafePaths) {
    guard let root = try? paths.directory(path), let lock = try? FileLock.take(".lock", in: root)
    else { return }
    _ = try? root.remove(".lock")
    _ = consume lock
    for name in SpoolParts.names {
      _ = try? root.removeDirectory(name)
    }
    Directory.removeEmpty(path)
  }

  /// Whether one of these directories was moved away or replaced. Throws if others can write one
  /// of them by now.
  package var isReplaced: Bool {
    get throws {
      do {
        return try SpoolParts.identity(at: path, paths) != identity
      } catch let error as SystemError where error.isAbsence {
        return true
      }
    }
  }

  /// The directory to watch.
  package var incomingPath: String { "\(path)/new" }

  /// The queue, in the byte order of the names, without names that begin with a dot.
  package func queue() throws -> [FileName] {
    try parts.incoming.names().filter { !$0.isHidden }.sorted()
  }

  package func heldNames() throws -> [FileName] {
    try parts.held.names().filter { !$0.isHidden }.sorted()
  }

  package func rejectedNames() throws -> [FileName] { try rejectedInNoOrder().sorted() }

  /// The rejected files, without their reason files. A change file may have the name of a reason
  /// file.
  private func rejectedInNoOrder() throws -> [FileName] {
    let names = try parts.rejected.names().filter { !$0.isHidden }
    let reasons = Set(names.filter(\.isOfReasons))
    return names.filter {
      !$0.isOfReasons || reasons.contains(SpoolDirectory.reasonName(of: $0))
    }
  }

  package struct Counts: Sendable {
    package let waiting: Int
    package let held: Int
    package let rejected: Int
    /// Those that are set aside. They are not among those that wait.
    package let stuck: Int

    /// Zero counts stand for a spool that does not exist.
    package init(waiting: Int = 0, held: Int = 0, rejected: Int = 0, stuck: Int = 0) {
      (self.waiting, self.held, self.rejected) = (waiting, held, rejected)
      self.stuck = stuck
    }
  }

  /// When the oldest file of the queue was written, in milliseconds since 1970. Of a very long
  /// queue only a part is examined.
  package func oldest() throws -> Int64? {
    try oldest(in: parts.incoming, \.modifiedMilliseconds)
  }

  /// The same for when the oldest held file was moved to the others.
  package func oldestHeld() throws -> Int64? {
    try oldest(in: parts.held, \.changedMilliseconds)
  }

  private func oldest(
    in directory: borrowing Directory, _ time: (FileStatus) -> Int64
  ) throws -> Int64? {
    var oldest: Int64?
    let entries = try directory.entries()
    for _ in 0..<10_000 {
      guard let (name, _) = try entries.next() else { break }
      guard !name.isHidden, let status = try? directory.status(of: name) else { continue }
      oldest = min(oldest ?? .max, time(status))
    }
    return oldest
  }

  /// How many files each directory has. For a large directory, the count may be some time old.
  package func counts() throws -> Counts {
    let stuck = setAside().count
    let wasOpen = open.withLock { $0 != nil }
    defer { if !wasOpen { rest() } }
    return try known.withLock { known in
      let queued = try known.waiting.count("\(path)/new") {
        try parts.incoming.entries().countVisible()
      }
      return Counts(
        waiting: max(0, queued - stuck),
        held: try known.held.count("\(path)/held") { try parts.held.entries().countVisible() },
        rejected: try known.rejected.count("\(path)/rejected") { try rejectedInNoOrder().count },
        stuck: stuck)
    }
  }
}

package struct SpoolError: Error, CustomStringConvertible {
  package let description: String
  init(_ description: String) { self.description = description }
}

// MARK: - Moving files

extension SpoolDirectory {
  func remove(_ name: FileName) throws {
    forgetSubmitter(of: name)
    try parts.incoming.remove(name)
  }

  /// Moves a file to the rejected ones, and returns its name there; nil if it is no longer in the
  /// queue. The reasons are synced first, so that a rejected file always has them.
  func reject(_ name: FileName, reasons: String) throws -> FileName? {
    try reject(name, reasons: reasons) { try moveFromQueue(name, to: parts.rejected, as: $0) }
  }

  /// The same for a held file, which is no longer wanted.
  package func rejectHeld(_ name: FileName, reasons: String) throws -> FileName? {
    if try !isHeld(name) { return nil }
    return try reject(name, reasons: reasons) { free in
      try parts.held.rename(name, to: parts.rejected, as: free)
      return true
    }
  }

  private func reject(
    _ name: FileName, reasons: String, moving move: (FileName) throws -> Bool
  ) throws -> FileName? {
    forgetSubmitter(of: name)
    let free = try freeName(name)
    let reasonName = SpoolDirectory.reasonName(of: free)
    // A crash may have left a file here.
    try parts.temporary.remove(".reasons")
    let file = try parts.temporary.file(".reasons", .createNew)
    try file.writeAll(Array(reasons.utf8))
    try file.sync()
    try parts.temporary.rename(".reasons", to: parts.rejected, as: reasonName)
    // The file may not be there without its reasons, also after a power cut. A move is only safe
    // once both directories are.
    try parts.rejected.sync()
    try parts.temporary.sync()
    if try move(free) { return free }
    try parts.rejected.remove(reasonName)
    return nil
  }

  func hold(_ name: FileName) throws { _ = try moveFromQueue(name, to: parts.held, as: name) }

  /// Moves a file out of the queue. False if it is no longer there.
  private func moveFromQueue(
    _ name: FileName, to directory: borrowing Directory, as newName: FileName
  ) throws -> Bool {
    let parts = try parts
    do {
      try parts.incoming.rename(name, to: directory, as: newName)
      return true
    } catch {
      // The missing one may be the target directory.
      if try error.isMissing && parts.incoming.status(of: name) == nil { return false }
      throw error
    }
  }

  /// The held or rejected file that is listed as this text. A name that is not UTF-8 is listed
  /// otherwise than it is.
  package func listed(_ text: String) throws -> FileName {
    let name = FileName(text)
    if !text.contains("\\") { return name }
    if try parts.rejected.status(of: name) != nil || isHeld(name) { return name }
    return try (rejectedNames() + heldNames()).first { $0.description == text } ?? name
  }

  package func isHeld(_ name: FileName) throws -> Bool { try parts.held.status(of: name) != nil }

  /// Moves a held file back into the queue. False if there is none.
  package func release(_ name: FileName) throws -> Bool {
    guard try parts.held.status(of: name) != nil else { return false }
    try refuseQueued(name)
    try parts.held.rename(name, to: parts.incoming, as: name)
    return true
  }

  /// Moves a rejected file back into the queue under its original name, which is its id if it has
  /// no other. False if there is none.
  package func retry(_ name: FileName) throws -> Bool {
    guard try parts.rejected.status(of: name) != nil else { return false }
    let origin = originalName(of: name)
    try refuseQueued(origin)
    try parts.rejected.rename(name, to: parts.incoming, as: origin)
    try parts.rejected.remove(SpoolDirectory.reasonName(of: name))
    return true
  }

  private func originalName(of name: FileName) -> FileName {
    guard let reasons = reasons(of: name),
      let text = try? JSON.parse(reasons, as: .json)["file"]?.string
    else { return name }
    let origin = FileName(text)
    return origin.isValid && !origin.isHidden && name.isNumbered(from: origin) ? origin : name
  }

  package func isQueued(_ name: FileName) throws -> Bool {
    try parts.incoming.status(of: name) != nil
  }

  /// Refuses to overwrite a file that waits in the queue.
  private func refuseQueued(_ name: FileName) throws {
    if try !isQueued(name) { return }
    throw SpoolError("another file named \(name) is in the queue; try again after it was processed")
  }

  package func dropHeld(_ name: FileName) throws -> Bool {
    forgetSubmitter(of: name)
    return try parts.held.remove(name)
  }

  package func dropRejected(_ name: FileName) throws -> Bool {
    guard try parts.rejected.status(of: name) != nil else { return false }
    if try parts.rejected.status(of: name)?.kind == .directory {
      try parts.rejected.directory(name).removeContents()
      try parts.rejected.removeDirectory(name)
    } else {
      try parts.rejected.remove(name)
    }
    try parts.rejected.remove(SpoolDirectory.reasonName(of: name))
    return true
  }

  /// A free name among the rejected files. Neither an earlier file of the same name nor a change
  /// file that has the name of this one's reason file is overwritten. Such a change file has
  /// reasons itself; reasons that a crash left have none.
  private func freeName(_ name: FileName) throws -> FileName {
    var free = name
    var number = 1
    while try parts.rejected.status(of: free) != nil || isFile(SpoolDirectory.reasonName(of: free))
    {
      free = name.numbered(number)
      number += 1
    }
    return free
  }

  private func isFile(_ name: FileName) throws -> Bool {
    try parts.rejected.status(of: SpoolDirectory.reasonName(of: name)) != nil
  }

  static func reasonName(of name: FileName) -> FileName { name.withReasonsSuffix }

  /// The reasons of a rejected file.
  package func reasons(of name: FileName) -> [UInt8]? {
    guard let file = try? parts.rejected.file(SpoolDirectory.reasonName(of: name)) else {
      return nil
    }
    return try? file.readWhole(limit: 16 << 20)
  }
}

// MARK: - Submitting

extension SpoolDirectory {
  /// Creates a file outside the queue for an upload. `submit` moves it into the queue.
  package func makeUpload(_ name: FileName) throws -> FileDescriptor {
    try parts.temporary.file(name, .createNew, mode: 0o600)
  }

  package func syncUpload(_ name: FileName) throws { try parts.temporary.file(name).sync() }

  package func dropUpload(_ name: FileName) throws { try parts.temporary.remove(name) }

  package func submit(
    _ upload: FileName, as name: FileName, by submitter: String
  ) throws {
    // The daemon may take the file as soon as it is renamed.
    submitters.withLock { $0[name] = submitter }
    try parts.temporary.rename(upload, to: parts.incoming, as: name)
  }

  func submitter(of name: FileName) -> String? { submitters.withLock { $0[name] } }

  func forgetSubmitter(of name: FileName) { submitters.withLock { $0[name] = nil } }

  /// The content of the file with this name that is queued or held; nil if there is none.
  package func waiting(_ name: FileName) throws -> Waiting? {
    try queued(name) ?? content(of: name, in: parts.held)
  }

  func queued(_ name: FileName) throws -> Waiting? { try content(of: name, in: parts.incoming) }

  func holdsAnother(than file: PreparedFile) throws -> Bool {
    guard let waiting = try content(of: file.name, in: parts.held) else { return false }
    return try waiting != .content(file.fingerprint())
  }

  package enum Waiting: Equatable, Sendable {
    case content(Int64)
    /// The file is of a kind that is never read.
    case unreadable
  }

  private func content(of name: FileName, in directory: borrowing Directory) throws -> Waiting? {
    do {
      var lines = LineReader(try SpoolFile(name, in: directory).takeDescriptor())
      try lines.readToEnd()
      return .content(lines.fingerprint!)
    } catch SpoolFault.vanished {
      return nil
    } catch SpoolFault.refused {
      return .unreadable
    }
  }

  /// Removes files that a producer or an upload left behind long ago.
  package func removeStaleUploads(olderThan limit: Int64) throws {
    for name in try parts.temporary.names() where name.bytes.starts(with: "upload-".utf8) {
      if let status = try parts.temporary.status(of: name), status.modifiedMilliseconds < limit {
        try parts.temporary.remove(name)
      }
    }
  }
}
