package import CascadeModel
internal import CascadeSQLite
internal import CascadeSystem
package import CascadeStore
internal import CascadeEngine
package import SQLiteTables
internal import SQLiteJournal
internal import SQLiteEdges
internal import SQLiteDeletion
internal import SQLiteSweeps
internal import SQLiteUndo

/// Stores in SQLite files.
package struct SQLiteEngine: StoreEngine {
  package init() {}

  package func objections(to path: String, _ model: StoreModel) -> [ModelProblem] {
    if !path.isDatabaseURI { return [] }
    return [
      ModelProblem(
        path: "store", message: "is a PostgreSQL database: cascaded-postgres serves it")
    ]
  }

  package func watchCommits(of path: String) -> (any CommitWatching)? { nil }

  package func openForWriting(
    _ path: String, model: StoreModel, creates: Bool, attaches: Bool, lockTimeout: Duration
  ) throws -> any StoreWriting {
    let before = try FileStatus.of(path)
    if model.exclusive { try ExclusiveTurn.wait(for: path) }
    if before != nil { try Ownership(of: path).refuseHarm() }
    let writer = try Writer(
      path: path, model: model, busyMilliseconds: lockTimeout.busyMilliseconds,
      openingMilliseconds: SQLiteEngine.openingMilliseconds, creates: creates,
      attaches: attaches)
    writer.openFile = try OpenFile(path, opened: before)
    return writer
  }

  /// How long the opening waits for a lock. A store that is locked for longer is tried again, and
  /// until then its state says so.
  private static let openingMilliseconds: Int32 = 200

  package func openForReading(
    _ path: String, model: StoreModel, lockTimeout: Duration
  ) throws -> any StoreReading {
    // SQLite creates files beside the database for a reader too.
    if model.exclusive { try ExclusiveTurn.wait(for: path) }
    try Ownership(of: path).refuseHarm()
    return try Reader(path: path, model: model, busyMilliseconds: lockTimeout.busyMilliseconds)
  }

  package func refuseHarm(at path: String) throws {
    if try FileStatus.of(path) != nil { try Ownership(of: path).refuseHarm() }
  }

  package func ownershipProblems(at path: String) throws -> [String] {
    try Ownership(of: path).problems
  }

  package func filesOfCommits(at path: String) -> [String] { [path, OpenFile.log(of: path)] }

  package func isLocked(at path: String) -> Bool { OtherConnections.holdWriteLock(of: path) }

  package func openTransactions(at path: String) -> [OpenTransaction] {
    OtherConnections.transactions(at: path).map {
      OpenTransaction(process: $0.process, mark: Int64($0.mark))
    }
  }

  /// SQLite treats a write-ahead log that it cannot write as read-only, and does so for as long as
  /// the connection is open. A new connection can write as soon as the cause is gone. And it makes the
  /// program's own tables again, if a backup from before them was restored just now.
  package func endsByReopening(_ error: any Error) -> Bool {
    (error as? SQLiteError).map { $0.isReadOnly || $0.lacksTable("cascade_") } ?? false
  }

  package func isLocked(_ error: any Error) -> Bool { (error as? SQLiteError)?.isBusy ?? false }

  package func userOfFile(at path: String) -> String? { ExclusiveTurn.user(of: path) }

  package func isAsLeft(at path: String) -> Bool { OwnConnections.isAsLeft(path) }

  package func willChangeJournal(at path: String, _ model: StoreModel) -> Bool {
    !model.exclusive && JournalMode.isRollback(at: path)
  }

  package func isOutOfDescriptors(_ error: any Error) -> Bool {
    (error as? SQLiteError)?.isOutOfDescriptors ?? false
  }

  package func isFull(_ error: any Error) -> Bool { (error as? SQLiteError)?.isFull ?? false }

  package func isDamage(_ error: any Error) -> Bool { (error as? SQLiteError)?.isDamage ?? false }
}

extension Duration {
  fileprivate var busyMilliseconds: Int32 { Int32(clamping: Int64(self / .milliseconds(1))) }
}

extension Reader: StoreReading {}

extension Writer: StoreWriting {
  package func group<T>(_ body: () throws -> T) throws -> T { try group(isStep: false, body) }

  package var mostFilesPerGroup: Int { 256 }

  package func reason(refusing error: any Error) -> Reason? {
    guard let error = error as? SQLiteError, error.isAboutTheValue else { return nil }
    return Reason(.invalid, error.description)
  }

  package func failure(ofFile error: any Error) -> String? {
    guard let error = error as? SQLiteError, error.isAboutTheValue || error.isAboutTheStatement
    else { return nil }
    return "SQLite error \(error.extendedCode): \(error.message)"
  }

  package var news: StoreNews {
    get throws { StoreNews(commits: try commits, responses: try lastTriggerResponse) }
  }

  /// Also own ones that are not journaled, and after which something may go.
  private var commits: Int64 { get throws { try foreignCommits() &+ heldBack.endings } }

  package func followSchema() throws -> Int64 {
    let commits = try commits
    try adaptToSchema()
    return commits
  }

  package func lookForWriters() throws {
    lock.pace.noteForeignCommits(foreignCommits: try foreignCommits())
  }

  package var budget: Duration { lock.pace.budget }

  package var pause: Duration? { lock.pace.pause }

  package func tidy(_ extent: Tidying) throws {
    switch extent {
    case .urgent: try limitLogLength(atLeisure: false)
    case .atLeisure: try limitLogLength(atLeisure: true)
    case .complete: try copyLogIntoDatabase()
    }
  }

  package var opened: any OpenedStore { openFile! }

  package var standing: StoreStanding {
    get throws {
      let standing = try openFile?.standing ?? .sameFile
      // Without a log, a copy of a database that never had one was written over this one: a process
      // that opens it now needs exclusive access, which an open log prevents. Or the application
      // chose to have none.
      return standing == .sameFile && db.isWithoutLog && !model.exclusive ? .overwritten : standing
    }
  }

  /// If the file was replaced, the log at its path may belong to the new file. Then the log goes
  /// into the old file only if it has no commits that are unknown to us.
  package func close(copiesLog: Bool) {
    if !copiesLog { return db.keepLogOnClose() }
    switch try? standing {
    case .sameFile:
      try? copyLogIntoDatabase()
      if model.exclusive { db.removeLogOnClose() }
    // No other process can write, and what is only in the removed log is copied into the database.
    case .logRemoved: db.truncateLog()
    // Nothing of the old log may get into the database file.
    case .logReplaced, .overwritten: db.keepLogOnClose()
    case .replaced, nil:
      if lock.pace.hasSeen(try? foreignCommits()) { try? copyLogIntoDatabase() }
    }
  }

  /// Opens a store. Waits up to `busyMilliseconds` for another writer, and while it opens up to
  /// `openingMilliseconds`. Creates a missing database if `creates` is set.
  package convenience init(
    path: String, model: StoreModel, busyMilliseconds: Int32 = 5_000,
    openingMilliseconds: Int32? = nil, creates: Bool = true, attaches: Bool = true,
    keepsJournalMode: Bool? = nil
  ) throws {
    let db = try Connection.openForWriting(
      path, busyMilliseconds: openingMilliseconds ?? busyMilliseconds, creates: creates,
      attaches: attaches, keepsJournalMode: keepsJournalMode ?? model.exclusive)
    if let mode = model.secureDelete {
      try db.execute("PRAGMA main.secure_delete = \(mode.rawValue)")
    }
    let counters = try attaches ? Counters(db, behind: model.lastBatchInTrash) : Counters()
    self.init(db, path: path, model: model, counters: counters)
    attachment.isDetached = !attaches
    self.db.setBusyTimeout(milliseconds: busyMilliseconds)
    if !attaches { return }
    try model.hasTables ? bindOnOpen() : dropObsoleteTriggers()
    try rebuildReferences()
  }
}
