internal import CascadeStore
package import CascadeSystem
internal import Synchronization

/// Files of the queue at which the store fails, although it takes others.
///
/// 1. What each file would meet (a locked database, a full disk) is no failure of a file.
/// 2. Files that share a commit are tried alone after a failure, so that it is known whose it is.
/// 3. A file that fails three times with the same words is set aside: it stays in the directory of the
///    queue, and those behind it go on.
/// 4. It is tried again after a minute, then after twice that time; at once if an operator says so.
package struct FailingFile: Sendable {
  package let name: FileName
  /// What the last failure said.
  package fileprivate(set) var reason: String
  fileprivate var status: FileStatus
  fileprivate var repeated = 1
  fileprivate var pause = FailingFile.shortestPause
  /// When it is tried again, in milliseconds since 1970; nil if it is not set aside.
  fileprivate var due: Int64?

  fileprivate static let mostRepeated = 3
  private static let shortestPause: Int64 = 60_000
  private static let longestPause: Int64 = 3_600_000

  enum Consequence { case tryAgain, setAside, stillSetAside }

  fileprivate mutating func failAgain(_ reason: String, at now: Int64) -> Consequence {
    let isSame = reason == self.reason
    repeated = isSame ? repeated + 1 : 1
    self.reason = reason
    if due == nil && repeated < FailingFile.mostRepeated { return .tryAgain }
    defer {
      due = now + pause
      pause = min(pause * 2, FailingFile.longestPause)
    }
    return due != nil && isSame ? .stillSetAside : .setAside
  }

  fileprivate func isSetAside(at now: Int64) -> Bool { due.map { now < $0 } ?? false }
}

extension SpoolDirectory {
  func noteFailure(
    of name: FileName, _ reason: String, at now: Int64
  ) throws -> FailingFile.Consequence {
    guard let status = try parts.incoming.status(of: name) else { return .tryAgain }
    return failing.withLock { failing in
      var file = failing[name] ?? FailingFile(name: name, reason: "", status: status)
      defer { failing[name] = file }
      return file.failAgain(reason, at: now)
    }
  }

  /// A changed file of the same name has not failed.
  func isSetAside(_ name: FileName, now: () -> Int64) throws -> Bool {
    guard let file = failing.withLock({ $0[name] }) else { return false }
    if try parts.incoming.status(of: name) == file.status { return file.isSetAside(at: now()) }
    forgetFailure(of: name)
    return false
  }

  func forgetFailure(of name: FileName) { failing.withLock { $0[name] = nil } }

  /// When the first of them is tried again.
  func nextTry() -> Int64? { failing.withLock { $0.values.compactMap(\.due).min() } }

  // MARK: - For operators

  /// In the order of their names. One whose time has come is among them until it has left.
  package func setAside() -> [FailingFile] {
    let files = failing.withLock { $0.values.filter { $0.due != nil } }
    return files.filter { (try? isQueued($0.name)) == true }.sorted { $0.name < $1.name }
  }

  /// Tries a file again as soon as the queue is worked on; all of them if none is named. False if there
  /// is none.
  package func retrySetAside(_ name: FileName? = nil) -> Bool {
    failing.withLock { failing in
      let names = failing.values.filter { $0.due != nil && (name ?? $0.name) == $0.name }
        .map(\.name)
      for name in names { failing[name]?.due = 0 }
      return !names.isEmpty
    }
  }

  /// False if there is none.
  package func dropSetAside(_ name: FileName) throws -> Bool {
    guard failing.withLock({ $0[name]?.due }) != nil else { return false }
    forgetFailure(of: name)
    forgetSubmitter(of: name)
    return try parts.incoming.remove(name)
  }
}
