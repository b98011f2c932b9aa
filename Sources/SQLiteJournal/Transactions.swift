internal import CascadeModel
internal import CascadeSQLite
package import CascadeStore
internal import CascadeEngine
internal import SQLiteBinding
package import SQLiteTables

/// Groups of transactions that share a commit.
extension Writer {
  /// Runs `body` between BEGIN and COMMIT. What it returns is durable. With `isStep`, it is one of
  /// very many steps, none of which deletes a row before those that refer to it.
  ///
  /// With `readsFirst`, it begins without the write lock: `body` reads what it needs, and calls
  /// `takeLock` before it writes. If others have committed meanwhile, it throws `OutdatedReading`,
  /// and nothing has happened.
  package func group<T>(
    isStep: Bool = false, readsFirst: Bool = false, _ body: () throws -> T
  ) throws -> T {
    if attachment.isDetached { throw StoreError.detached }
    // A sweep waits for other processes' transactions first. A checkpoint that waits for readers,
    // and so for our fence, may hold the lock that this waits for: then the fence is removed.
    try lock.patience.begin(at: path) {
      if readsFirst { return try db.beginReading() }
      try db.begin(besideOthersAt: path, orElse: removeBarrier)
    } undo: {
      db.rollback()
    }
    lock.noteBegin(withLock: !readsFirst)
    defer { lock.noteEnd() }
    let bindings = attachment.bindingChanges
    let log = logUse.isSweeping ? OtherConnections.log(at: path) : nil
    let counters = identities.counters
    do {
      try bind()
      try detectRestoredBackup()
      try deferForeignKeys(isStep: isStep)
      if !readsFirst { try muteTriggers() }
      let result = try body()
      try takeLock()
      try installRequestedTriggers()
      try identities.counters.save(db)
      if !binding.collections.isEmpty { try db.run("DELETE FROM cascade_muted") }
      try db.commit()
      logUse.note(from: log, at: path)
      return result
    } catch {
      let isOutdated = lock.heldSince == nil && (error as? SQLiteError)?.isBusy == true
      let error = isOutdated ? OutdatedReading() : error
      db.rollback()
      identities.clearCaches()
      // Nothing has the numbers that were given in the transaction.
      identities.counters.serial = counters.serial
      identities.counters.forgetSaved()
      // An attempt at a sweep that was given up changed nothing.
      if error.isGivenUpAttempt && attachment.bindingChanges == bindings {
        identities.counters = counters
        attachment.commitsAtLastCheck = nil
      } else {
        unbind()
      }
      throw error
    }
  }

  /// Takes the write lock for a transaction that has only read so far. Everything that it has read
  /// is then still so.
  package func takeLock() throws {
    if lock.heldSince != nil { return }
    // They would fail if this one committed before they write.
    if lock.patience.shouldYield(at: path, now: true) { throw OutdatedReading() }
    let start = ContinuousClock.now
    try muteTriggers()
    lock.heldSince = start
  }

  package func removeBarrier() { log.barrier = nil }

  /// Returns how long the write lock was held, each time since the last call.
  package func takeLockDurations() -> [Duration] {
    defer { lock.durations = [] }
    return lock.durations
  }

  /// Detects a backup that was restored into the file: its counters are not those that were saved.
  /// What was cached means something else then, whether or not the schema is another.
  private func detectRestoredBackup() throws {
    let commits = try foreignCommits()
    if commits == attachment.commitsAtLastCheck && identities.counters.areSaved { return }
    attachment.commitsAtLastCheck = commits
    if try identities.counters.mergeStored(Counters(db, behind: 0)) { return }
    identities.clearCaches()
    if !facts.references.collections.isEmpty { attachment.areReferencesRead = false }
    if !model.hasTables { return }
    try rebind()
    try db.setMeta(.watchGap, 1)
  }

  /// Foreign keys of the application are checked at the end, since a row may refer to one that is
  /// inserted later. The pragma makes SQLite prepare every statement again.
  private func deferForeignKeys(isStep: Bool) throws {
    if binding.hasForeignKeys && !isStep { try db.run("PRAGMA defer_foreign_keys = ON") }
  }

  /// Mutes our triggers: our own changes need no journal.
  private func muteTriggers() throws {
    // Takes the write lock, if the transaction does not have it.
    try db.run("DELETE FROM cascade_muted WHERE true")
    if binding.collections.isEmpty { return }
    try db.run(
      "INSERT INTO cascade_muted VALUES(?)",
      .integer(binding.hasTriggers ? Muting.denials : Muting.all))
    try db.run("DELETE FROM cascade_displaced WHERE true")
  }

  /// Journals what `body` deletes, as if an application deleted it.
  package func journaled(_ body: () throws -> Void) throws {
    if binding.hasTriggers { return try body() }
    try db.run("UPDATE cascade_muted SET id = ?", .integer(Muting.denials))
    try body()
    try db.run("UPDATE cascade_muted SET id = ?", .integer(Muting.all))
  }

  /// Applies the changes of one transaction, or none of them.
  package func transaction(_ body: () throws -> Receipt) throws -> Receipt {
    do {
      return try db.savepoint { try transactionWithoutSavepoint(body) }
    } catch {
      identities.clearCaches()
      throw error
    }
  }

  /// Runs without a savepoint: the transaction is alone in its group, and an error rolls back the
  /// group.
  package func transactionWithoutSavepoint<T>(_ body: () throws -> T) throws -> T {
    current = TransactionState()
    current.batch = identities.counters.serial
    current.firstNewId = identities.counters.nextId
    if facts.hasTables { try db.empty(.known) }
    return try body()
  }

  /// Releases memory. Until `wakeUp`, no other call is allowed.
  package func releaseMemoryUntilWakeUp() throws {
    log = CheckpointState()
    identities.nodes.removeAllEntries()
    attachment.isMemoryReleased = true
    try db.releaseMemory()
  }

  package func wakeUp() throws {
    if !attachment.isMemoryReleased { return }
    do {
      try db.makeTemporaryTables(cache: Connection.temporaryCache)
      (attachment.isMemoryReleased, attachment.isSchemaFresh) = (false, true)
    } catch {
      try? db.releaseMemory()
      throw error
    }
  }
}

/// Others have committed since a transaction read, or are about to.
package struct OutdatedReading: Error, CustomStringConvertible {
  package init() {}
  package var description: String { "another connection wrote meanwhile; try again" }
}

extension Error {
  /// Whether an attempt at a small sweep was given up before it changed anything.
  package var isGivenUpAttempt: Bool {
    self is LargeSweep || self is OutdatedReading || (self as? SQLiteError)?.isInterrupted == true
  }
}

/// A sweep that was tried in one transaction deletes too much for that.
package struct LargeSweep: Error, CustomStringConvertible {
  package init() {}
  package var description: String { "the sweep deletes too much for one transaction" }
}
