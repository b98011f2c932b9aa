internal import CascadeModel
internal import Synchronization
package import CascadeSystem
/// The directories of a spool (DESIGN 6). A file's place says what became of it.
package final class SpoolDirectory: Sendable {
  package let path: String
  let incoming: Directory
  let temporary: Directory
  let held: Directory
  let rejected: Directory
  /// Who handed in what came over the socket, as long as the daemon runs: a file that names no author
  /// has them for one.
  private let submitters = Mutex<[FileName: String]>([:])
  private let known = Mutex((waiting: FileCount(), held: FileCount(), rejected: FileCount()))

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

  /// One daemon holds a spool: the lock dies with it. Who has none leaves the store alone, too.
  package static func lock(_ path: String) throws -> FileLock {
    let root = try Directory.openOrMake(path)
    guard let lock = try FileLock.take(".lock", in: root) else {
      throw SpoolError("another cascaded holds the spool \(path)")
    }
    return lock
  }

  /// One daemon serves a database, by whatever name, and with whatever spool: as SQLite does, this
  /// follows symbolic links. Nil where `home`, beside the database itself, is the spool: that has a
  /// lock already.
  package static func lock(home: String, besides spool: String) throws -> FileLock? {
    let root = try Directory.openOrMake(home)
    if try FileStatus.areSame(home, spool) { return nil }
    guard let lock = try FileLock.take(".lock", in: root) else {
      throw SpoolError("another cascaded serves the same database: it holds \(home)")
    }
    return lock
  }

  /// Takes away what was made for a store that turned out to be none. What somebody put something into
  /// stays, and what another daemon has locked.
  package static func removeEmpty(_ path: String) {
    guard let root = try? Directory.open(path), let lock = try? SpoolDirectory.lock(path) else {
      return
    }
    _ = try? root.remove(".lock")
    _ = consume lock
    for name in ["tmp", "new", "held", "rejected"] as [FileName] {
      _ = try? root.removeDirectory(name)
    }
    Directory.removeEmpty(path)
  }

  /// Whether another directory, or none, is where one of these was.
  package var isReplaced: Bool {
    get throws {
      try SpoolDirectory.isReplaced(incoming) || SpoolDirectory.isReplaced(temporary)
        || SpoolDirectory.isReplaced(held) || SpoolDirectory.isReplaced(rejected)
    }
  }

  private static func isReplaced(_ directory: borrowing Directory) throws -> Bool {
    try FileStatus.of(directory.path)?.isSame(as: directory.descriptor.status()) != true
  }

  /// The directory to watch.
  package var incomingPath: String { incoming.path }

  /// The queue: in the byte order of the names, without those that begin with a dot.
  package func queue() throws -> [FileName] {
    try incoming.names().filter { !$0.isHidden }.sorted()
  }

  package func heldNames() throws -> [FileName] {
    try held.names().filter { !$0.isHidden }.sorted()
  }

  package func rejectedNames() throws -> [FileName] { try rejectedInNoOrder().sorted() }

  /// Without the reasons beside them; but a change file may be called like one.
  private func rejectedInNoOrder() throws -> [FileName] {
    let names = try rejected.names().filter { !$0.isHidden }
    let reasons = Set(names.filter(\.isOfReasons))
    return names.filter {
      !$0.isOfReasons || reasons.contains(SpoolDirectory.reasonName(of: $0))
    }
  }

  package struct Counts: Sendable {
    package let waiting: Int
    package let held: Int
    package let rejected: Int

    /// None, as of a spool that is not there.
    package init(waiting: Int = 0, held: Int = 0, rejected: Int = 0) {
      (self.waiting, self.held, self.rejected) = (waiting, held, rejected)
    }
  }

  /// When the oldest file of the queue was written, in milliseconds since 1970. Of a very long
  /// queue a part tells as much.
  package func oldest() throws -> Int64? {
    var oldest: Int64?
    let entries = try incoming.entries()
    for _ in 0..<10_000 {
      guard let (name, _) = try entries.next() else { break }
      guard !name.isHidden, let status = try? incoming.status(of: name) else { continue }
      oldest = min(oldest ?? .max, status.modifiedMilliseconds)
    }
    return oldest
  }

  /// How many files are where. Of very many it may be what it was a while ago.
  package func counts() throws -> Counts {
    try known.withLock { known in
      Counts(
        waiting: try known.waiting.count(incoming) { try incoming.entries().countVisible() },
        held: try known.held.count(held) { try held.entries().countVisible() },
        rejected: try known.rejected.count(rejected) { try rejectedInNoOrder().count })
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
    try incoming.remove(name)
  }

  /// The reasons are safe before the file moves: a rejected file always has them.
  func reject(_ name: FileName, reasons: String) throws {
    forgetSubmitter(of: name)
    let free = try freeName(name)
    let reasonName = SpoolDirectory.reasonName(of: free)
    // What a crash left there is of no use.
    try temporary.remove(".reasons")
    let file = try temporary.file(".reasons", .createNew)
    try file.writeAll(Array(reasons.utf8))
    try file.sync()
    try temporary.rename(".reasons", to: rejected, as: reasonName)
    if try !leave(name, to: rejected, as: free) { try rejected.remove(reasonName) }
  }

  func hold(_ name: FileName) throws { _ = try leave(name, to: held, as: name) }

  /// False if somebody took the file out of the queue meanwhile.
  private func leave(
    _ name: FileName, to directory: borrowing Directory, as newName: FileName
  ) throws -> Bool {
    do {
      try incoming.rename(name, to: directory, as: newName)
      return true
    } catch {
      // The directory may be missing instead.
      if try error.isMissing && incoming.status(of: name) == nil { return false }
      throw error
    }
  }

  package func isHeld(_ name: FileName) throws -> Bool { try held.status(of: name) != nil }

  /// Back into the queue. False if it is not there.
  package func release(_ name: FileName) throws -> Bool {
    guard try held.status(of: name) != nil else { return false }
    try refuseQueued(name)
    try held.rename(name, to: incoming, as: name)
    return true
  }

  /// Back under the name that it came by: that is its id, where it gives no other.
  package func retry(_ name: FileName) throws -> Bool {
    guard try rejected.status(of: name) != nil else { return false }
    let origin = originalName(of: name)
    try refuseQueued(origin)
    try rejected.rename(name, to: incoming, as: origin)
    try rejected.remove(SpoolDirectory.reasonName(of: name))
    return true
  }

  private func originalName(of name: FileName) -> FileName {
    guard let reasons = reasons(of: name),
      let text = try? JSON.parse(reasons, as: .json)["file"]?.string
    else { return name }
    let origin = FileName(text)
    return origin.isValid && !origin.isHidden && name.isNumbered(from: origin) ? origin : name
  }

  package func isQueued(_ name: FileName) throws -> Bool { try incoming.status(of: name) != nil }

  /// What waits in the queue is not written over.
  private func refuseQueued(_ name: FileName) throws {
    if try !isQueued(name) { return }
    throw SpoolError("another file named \(name) is in the queue; try again when it is settled")
  }

  package func dropHeld(_ name: FileName) throws -> Bool {
    forgetSubmitter(of: name)
    return try held.remove(name)
  }

  package func dropRejected(_ name: FileName) throws -> Bool {
    guard try rejected.status(of: name) != nil else { return false }
    if try rejected.status(of: name)?.kind == .directory {
      try rejected.removeDirectory(name)
    } else {
      try rejected.remove(name)
    }
    try rejected.remove(SpoolDirectory.reasonName(of: name))
    return true
  }

  /// What was rejected before is kept: a file of the same name, and one that is called as this
  /// one's reasons would be (it has reasons itself; those that a crash left behind have none).
  private func freeName(_ name: FileName) throws -> FileName {
    var free = name
    var number = 1
    while try rejected.status(of: free) != nil || isFile(SpoolDirectory.reasonName(of: free)) {
      free = name.numbered(number)
      number += 1
    }
    return free
  }

  private func isFile(_ name: FileName) throws -> Bool {
    try rejected.status(of: SpoolDirectory.reasonName(of: name)) != nil
  }

  static func reasonName(of name: FileName) -> FileName { name.withReasonsSuffix }

  /// Reads a file's reasons, where it was rejected.
  package func reasons(of name: FileName) -> [UInt8]? {
    guard let file = try? rejected.file(SpoolDirectory.reasonName(of: name)) else { return nil }
    return try? file.readWhole(limit: 16 << 20)
  }
}

// MARK: - Submitting

extension SpoolDirectory {
  /// A file that grows outside of the queue, until `submit` moves it there.
  package func makeUpload(_ name: FileName) throws -> FileDescriptor {
    try temporary.file(name, .createNew, mode: 0o600)
  }

  package func dropUpload(_ name: FileName) throws { try temporary.remove(name) }

  package func submit(
    _ upload: FileName, as name: FileName, by submitter: String
  ) throws {
    // Before it can be taken.
    submitters.withLock { $0[name] = submitter }
    try temporary.rename(upload, to: incoming, as: name)
  }

  func submitter(of name: FileName) -> String? { submitters.withLock { $0[name] } }

  private func forgetSubmitter(of name: FileName) { submitters.withLock { $0[name] = nil } }

  /// Of the content that waits under a name, in the queue or to be approved. Nil if nothing does.
  package func waiting(_ name: FileName) throws -> Waiting? {
    try queued(name) ?? content(of: name, in: held)
  }

  func queued(_ name: FileName) throws -> Waiting? { try content(of: name, in: incoming) }

  func holdsAnother(than file: PreparedFile) throws -> Bool {
    guard let waiting = try content(of: file.name, in: held) else { return false }
    return try waiting != .content(file.fingerprint())
  }

  package enum Waiting: Equatable, Sendable {
    case content(Int64)
    /// Nothing that would ever be read.
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

  /// What a producer or an upload left behind when it died, long ago.
  package func removeStaleUploads(olderThan limit: Int64) throws {
    for name in try temporary.names() where name.bytes.starts(with: "upload-".utf8) {
      if let status = try temporary.status(of: name), status.modifiedMilliseconds < limit {
        try temporary.remove(name)
      }
    }
  }
}
