package import CascadeModel

/// What a kind of database gives to the daemon. The program chooses the engine; nothing else names
/// a kind of database.
package protocol StoreEngine: Sendable {
  /// Why this engine cannot serve a store with this model; empty if it can. Nothing is opened.
  func objections(to path: String, _ model: StoreModel) -> [ModelProblem]

  /// Waits for commits by a connection of its own. Nil if the files of the store are watched.
  func watchCommits(of path: String) throws -> (any CommitWatching)?

  /// Asks the server of a store whether it is there. Nil if there is no server.
  func watchServer(of path: String, _ model: StoreModel) throws -> (any ServerWatching)?

  /// Opens a store for writing. Waits up to `lockTimeout` for another writer. A missing store is
  /// created if `creates` is set. Without `attaches` it is detached if it was. Throws `StoreAway` if
  /// its application wants it for itself, and has it now.
  func openForWriting(
    _ path: String, model: StoreModel, creates: Bool, attaches: Bool, lockTimeout: Duration
  ) throws -> any StoreWriting

  /// Opens a store for reading. It must have been opened for writing before.
  func openForReading(
    _ path: String, model: StoreModel, lockTimeout: Duration
  ) throws -> any StoreReading

  /// Throws `HarmfulOwnership` if what the daemon creates beside an existing store would lock out
  /// the application, or the daemon itself. Opening a store checks this too.
  func refuseHarm(at path: String) throws

  /// What is wrong with the ownership of a store's files, for `check`.
  func ownershipProblems(at path: String) throws -> [String]

  /// The files that every commit writes to.
  func filesOfCommits(at path: String) -> [String]

  /// Whether another program has locked the store, so that it has to be waited for.
  func isLocked(_ error: any Error) -> Bool

  /// Whether another process keeps this one from writing now.
  func isLocked(at path: String) -> Bool

  /// Which other program has the store open, in words; nil also while it is open here.
  func userOfFile(at path: String) -> String?

  /// Whether no program has written to the store since it was closed here.
  func isAsLeft(at path: String) -> Bool

  /// Whether opening the store would put it into WAL mode, because it is in another mode now.
  func willChangeJournal(at path: String, _ model: StoreModel) -> Bool

  /// Removes everything of Cascade's from a store that no daemon serves.
  func detach(_ path: String) throws -> DetachReport

  /// The transactions that other processes have open now. While one is open, the store may keep
  /// what others wrote since its beginning.
  func openTransactions(at path: String) -> [OpenTransaction]

  /// Whether the error may end when the store is opened again.
  func endsByReopening(_ error: any Error) -> Bool

  /// Whether the disk has no room for what was to be written.
  func isFull(_ error: any Error) -> Bool

  /// Whether the process may have no more descriptors.
  func isOutOfDescriptors(_ error: any Error) -> Bool

  /// Whether the content of the store is damaged, so that waiting does not help.
  func isDamage(_ error: any Error) -> Bool
}

extension StoreEngine {
  package func isOutOfDescriptors(_ error: any Error) -> Bool { false }

  package func watchServer(of path: String, _ model: StoreModel) -> (any ServerWatching)? { nil }

  package func openForWriting(
    _ path: String, model: StoreModel, creates: Bool, lockTimeout: Duration
  ) throws -> any StoreWriting {
    try openForWriting(
      path, model: model, creates: creates, attaches: true, lockTimeout: lockTimeout)
  }
}

/// A refusal: the files that the daemon would create beside the database would lock out the
/// application, or the daemon itself.
package struct HarmfulOwnership: Error, CustomStringConvertible {
  package let description: String

  package init(description: String) { self.description = description }
}

/// Waits for what others commit, on one thread.
package protocol CommitWatching: AnyObject {
  /// Blocks for about a second at most. Whether there is something new to examine.
  func next() throws -> Bool
}

/// Whether the store that was opened is still the one at its path.
package enum StoreStanding: Sendable {
  /// The open file is still the one at the path.
  case sameFile
  case replaced
  /// The same file with the content of another database. The log does not belong to it.
  case overwritten
  /// The log was removed, and no other one was made yet. Commits that only the log had are lost
  /// unless they are saved.
  case logRemoved
  /// The log was removed and another one was made. Other connections may have written to it, so the
  /// old log is of no use.
  case logReplaced
}

/// Tells what happened to a store that was opened. It outlives the connection.
package protocol OpenedStore: Sendable {
  var standing: StoreStanding { get throws }

  /// The same, once the connection is closed: the log belongs to the next connection.
  var closed: any OpenedStore { get }

  /// Waits until whatever replaces the store is complete.
  func waitForQuiet()

  /// Throws if what is left of the old store would damage the one that replaced it.
  func refuseLeftovers() throws
}
