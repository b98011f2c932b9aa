package import CascadeModel
internal import CascadeSQLite

/// The writing side of a store: one connection, used by one thread, which applies the rules.
///
/// Transactions are committed in groups. Each one is a savepoint of its own, so that a bad one
/// affects only itself. A sweep is a group of its own.
package final class Writer {
  let db: Connection
  let path: String
  var log = WALControl()
  private var isMemoryReleased = false
  /// SQLite has read the schema again since the last transaction, and with it the results of
  /// ANALYZE.
  var isSchemaFresh = false
  let model: StoreModel
  let demands: Demands
  let references: PropertyReferences
  let hasTables: Bool
  package var pace: Pace
  /// Deleting fewer nodes than this does not hold the lock long enough to be worth two transactions
  /// of a sweep.
  package var fewNodes: Int64 = 500
  /// The data for this many nodes need little memory, and their pages stay in the cache.
  package var manyNodes = 20_000
  /// How long each transaction of the current sweep held the write lock.
  var lockDurations: [Duration] = []
  var counters: Counters
  /// The foreign commits as of which the cached state agrees with the file.
  private var commitsAtLastCheck: Int64?
  let interned = IdentityCaches()
  var current = TransactionState()
  /// The time of the current transaction or sweep, in milliseconds since 1970.
  var now: Int64 = 0 { didSet { begun = .now } }
  private var begun = ContinuousClock.now
  /// How long it has been running, in milliseconds.
  var elapsed: Int64 { Int64((.now - begun) / .milliseconds(1)) }
  /// Where the model's edges are in the application's tables.
  var binding = Binding()
  /// What rows of the journal may mean.
  var watches: [Watch] = []
  /// The watches of the triggers that exist now.
  var activeWatches: [Watch] = []
  /// Nothing of Cascade's is in the file any more.
  package internal(set) var isDetached = false
  var needsTriggers = false
  /// The stored edges of values are those of the current model.
  var areReferencesRead = false
  /// Triggers are switched off. Code that deletes must then write the journal rows that they would
  /// write.
  var areTriggersOff = false
  /// What the earlier parts of the current sweep deleted without approval, by collection. The hold
  /// limit applies to all parts together.
  var sweptBefore: [String: Int] = [:]
  /// The batch of these parts.
  var openSweepBatch: Int64?
  /// The kinds of sweep that were asked for, and whether the current part is followed by others.
  var requestedKinds: [SweepKind] = []
  var hasMoreParts = false
  /// A part of the sweep has ended, and no other has begun.
  var hasEndedPart = false
  /// Without leases, the last sweep would have found more nodes that the roots do not reach.
  var leasesKeepUnreachable = false
  /// Released files up to this id were handled, and those that are left wait.
  var lastTriedFile: Int64 = 0
  /// Whether the roots' directories were recorded. The record tells a root from the empty directory
  /// at which it is usually mounted.
  var areRootsRecorded = false

  /// Waits up to `busyMilliseconds` for another writer. Creates a missing database if `creates` is
  /// set.
  package init(
    path: String, model: StoreModel, busyMilliseconds: Int32 = 5_000, creates: Bool = true
  ) throws {
    db = try Connection.openForWriting(
      path, busyMilliseconds: busyMilliseconds, creates: creates)
    if let mode = model.secureDelete {
      try db.execute("PRAGMA main.secure_delete = \(mode.rawValue)")
    }
    self.path = path
    self.model = model
    pace = Pace(model.limits)
    demands = Demands(model)
    hasTables = model.hasTables
    references = PropertyReferences(model)
    counters = try Counters(db, behind: model.lastBatchInTrash)
    try model.hasTables ? bindOnOpen() : dropObsoleteTriggers()
    try rebuildReferences()
  }

  // A background sync of the database uses the connection, so it has to end first.
  deinit { removeBarrier() }

  /// Runs `body` between BEGIN and COMMIT. What it returns is durable. With `isStep`, it is one of
  /// very many steps, none of which deletes a row before those that refer to it.
  package func group<T>(isStep: Bool = false, _ body: () throws -> T) throws -> T {
    if isDetached { throw StoreError.detached }
    try begin()
    return try measuringLock { try groupUnderLock(isStep, body) }
  }

  /// Returns how long the write lock was held, each time since the last call.
  package func takeLockDurations() -> [Duration] {
    defer { lockDurations = [] }
    return lockDurations
  }

  func measuringLock<T>(_ body: () throws -> T) rethrows -> T {
    let start = ContinuousClock.now
    defer { lockDurations.append(.now - start) }
    return try body()
  }

  private func groupUnderLock<T>(_ isStep: Bool, _ body: () throws -> T) throws -> T {
    do {
      try bind()
      try detectRestoredBackup()
      try muteTriggers(isStep: isStep)
      let result = try body()
      try installRequestedTriggers()
      try counters.save(db)
      try unmuteTriggers()
      try db.commit()
      return result
    } catch {
      db.rollback()
      interned.forget()
      counters.forgetSaved()
      unbind()
      throw error
    }
  }

  /// Detects a backup that was restored into the file: its counters are not those that were saved.
  /// What was cached means something else then, whether or not the schema is another.
  private func detectRestoredBackup() throws {
    let commits = try foreignCommits()
    if commits == commitsAtLastCheck && counters.areSaved { return }
    commitsAtLastCheck = commits
    if try counters.mergeStored(Counters(db, behind: 0)) { return }
    interned.forget()
    if !references.collections.isEmpty { areReferencesRead = false }
    if !model.hasTables { return }
    try rebind()
    try db.setMeta("gap", 1)
  }

  /// Mutes our triggers: our own changes need no journal. Foreign keys of the application are
  /// checked at the end, since a row may refer to one that is inserted later.
  private func muteTriggers(isStep: Bool) throws {
    if binding.collections.isEmpty { return }
    try db.run("INSERT INTO cascade_muted VALUES(?)", .integer(binding.hasTriggers ? 2 : 1))
    try db.run("DELETE FROM cascade_displaced WHERE true")
    // The pragma makes SQLite prepare every statement again.
    if binding.hasForeignKeys && !isStep { try db.run("PRAGMA defer_foreign_keys = ON") }
  }

  private func unmuteTriggers() throws {
    if binding.collections.isEmpty { return }
    try db.run("DELETE FROM cascade_muted")
  }

  /// Journals what `body` deletes, as if an application deleted it.
  func journaled(_ body: () throws -> Void) throws {
    if binding.hasTriggers { return try body() }
    try db.run("UPDATE cascade_muted SET id = 2")
    try body()
    try db.run("UPDATE cascade_muted SET id = 1")
  }

  /// The rules that some edge has or ever had. Queries for the other rules are skipped.
  var rulesInUse: Rules {
    binding.examinedRelations.reduce(counters.rulesSeen) { $0.union($1.rules) }
  }

  /// Applies the changes of one transaction, or none of them.
  func transaction(_ body: () throws -> Receipt) throws -> Receipt {
    do {
      return try db.savepoint { try transactionWithoutSavepoint(body) }
    } catch {
      interned.forget()
      throw error
    }
  }

  /// Runs without a savepoint: the transaction is alone in its group, and an error rolls back the
  /// group.
  func transactionWithoutSavepoint(_ body: () throws -> Receipt) throws -> Receipt {
    current = TransactionState()
    current.batch = counters.serial
    current.firstNewId = counters.nextId
    if hasTables { try db.clearKnown() }
    return try body()
  }

  /// Releases memory. Until `wakeUp`, no other call is allowed.
  package func releaseMemoryUntilWakeUp() throws {
    log = WALControl()
    interned.nodes.removeAllEntries()
    isMemoryReleased = true
    try db.releaseMemory()
  }

  package func wakeUp() throws {
    if !isMemoryReleased { return }
    do {
      try db.makeTemporaryTables(cache: Connection.temporaryCache)
      (isMemoryReleased, isSchemaFresh) = (false, true)
    } catch {
      try? db.releaseMemory()
      throw error
    }
  }

  /// Changes with every commit of another connection.
  package func foreignCommits() throws -> Int64 { try db.integer("PRAGMA data_version") ?? 0 }
}

/// Numbers that outlive a transaction. They only grow, so a rollback at most leaves gaps.
struct Counters {
  /// The next id of a node.
  var nextId: Int64
  /// The number of the flush that is being prepared. An edge stores that of the flush that added
  /// it.
  var serial: Int64
  /// Every rule that an edge of this store ever had: a rule that is not used costs nothing.
  var rulesSeen: Rules
  private var saved: [Int64] = []
  var areSaved: Bool { !saved.isEmpty }

  init(_ db: borrowing Connection, behind batch: Int64) throws {
    nextId = try db.integer("SELECT value FROM cascade_meta WHERE name = 'nextId'") ?? 1
    let next = try db.integer("SELECT value FROM cascade_meta WHERE name = 'serial'") ?? 1
    serial = max(next, batch + 1)
    let rules = try db.integer("SELECT value FROM cascade_meta WHERE name = 'rulesSeen'")
    rulesSeen = Rules(rawValue: rules ?? 0)
  }

  /// Takes over the counters of the file. Returns false if they are not those that were saved
  /// there.
  mutating func mergeStored(_ stored: Counters) -> Bool {
    let isOurs = saved.isEmpty || saved == stored.values
    nextId = max(nextId, stored.nextId)
    serial = max(serial, stored.serial)
    rulesSeen.formUnion(stored.rulesSeen)
    if !isOurs { saved = [] }
    return isOurs
  }

  private var values: [Int64] { [nextId, serial, rulesSeen.rawValue] }

  mutating func save(_ db: borrowing Connection) throws {
    if values == saved { return }
    try db.run(
      """
      INSERT OR REPLACE INTO cascade_meta
      VALUES('nextId', ?1), ('serial', ?2), ('rulesSeen', ?3)
      """, .integer(nextId), .integer(serial), .integer(rulesSeen.rawValue))
    saved = values
  }

  mutating func forgetSaved() { saved = [] }
}

/// The state of a transaction, beside the temporary tables.
struct TransactionState {
  var batch: Int64 = 0
  /// Ids from here on were given since the last flush: such a node did not exist before.
  var firstNewId: Int64 = .max
  var deadCount = 0
  /// Dead rows that have no name, by collection.
  var unnamedDead: [Int64: UnnamedDeletedRows] = [:]
  var lostCount = 0
  var deleted: [Node] = []
  var deletedCount = 0
  var filesReleased = 0
  var edgesAdded = 0
  var edgesRemoved = 0
  var notices = 0
  var passedOver = 0
  /// What earlier flushes of the transaction deleted, for the hold limit.
  var deletedByEarlierFlushes = PlanSums()
  var deletedByCollection: [String: Int] = [:]
  var deletedByRule: [String: Int] = [:]
  /// The numbering of the tables' rows, as of the start of the last flush.
  var numbers = NumberedTables() { didSet { holderQueries = nil } }
  /// Tables that are emptied at once, after everything else.
  var emptied: Set<Int64> = []
  /// A sweep cannot be rejected: a denied node stays, and is listed in `blocked`.
  var isSweep = false
  /// The rules that are followed. A sweep of one kind leaves some rules to another kind.
  var followedRules = Rules.all
  /// Nodes that the roots do not reach are deleted.
  var deletesUnreachable = false
  /// Some of these may form cycles. Each step deletes this many together with all nodes that lead
  /// to them (`UnreachableOrder.swift`).
  var mayHaveCycles = false
  var cycleStepLimit: Int64 = 1
  /// The nodes for which all nodes that lead to them are in `temp.holder_order`.
  var sliceWithHolders: Slice?
  /// The statements that find those.
  var holderQueries: [String]?
  /// The sweep commits more than once.
  var isStepped = false
  /// A refusal undoes only what was deleted, because a savepoint precedes it. Otherwise it undoes
  /// the whole transaction.
  var hasDeletionSavepoint = true
  /// The trash already has something of this batch.
  var isResumed = false
  /// The schema version for which a plan was made.
  var schemaVersion: Int64 = -1
  /// The node to delete is a row to which very many refer. The next plan removes these references
  /// (`HighFanOutNodes.swift`).
  var isHighFanOut = false { didSet { if isHighFanOut { needsAnotherPlan = true } } }
  private(set) var needsAnotherPlan = false
  var readsJournal = false
  /// Its next plan finds what this one deleted.
  var nextPlanReadsDeletions = false
  /// No other connection has committed since the plan was made, and all nodes of the plan were
  /// deleted.
  var isUndisturbed = true
  /// Changes of lists have been noted since before the plan was made.
  var isNotingLists = false
  /// Nodes are deleted that lists may contain.
  var needsListNotes = false
  /// Some nodes of the plan were not deleted.
  var hasSkippedNodes = false { didSet { if hasSkippedNodes { isUndisturbed = false } } }
  /// Collections whose rows another connection has deleted or changed since then.
  var collectionsChangedByOthers: Set<Int64> = []
  /// The last row of the journal that was read, and the last one that exists because of our own
  /// work.
  var journalEnd: Int64 = 0
  var ownJournalEnd: Int64 = 0

  /// How much was done. A batch is recorded only if this is not 0.
  var done: Int { deletedCount + edgesRemoved + notices + filesReleased }

  /// Whether what is deleted must be journaled, because another plan or kind of sweep has to learn
  /// of it (`JournalPositions.swift`).
  var journalsDeletions: Bool { isStepped || followedRules != .all }

  /// Whether this kind of sweep notifies for nodes that were gone before it, and removes their
  /// edges. The kind that cascades does.
  var notifiesOfEarlierDeletions: Bool { !followedRules.isDisjoint(with: .cascading) }

  /// Lists each reason once.
  mutating func block(_ reasons: [Reason]) {
    let known = Set(blocked.map(\.message))
    blocked += reasons.filter { !known.contains($0.message) }
  }

  /// Resets the counts of a plan: what is really deleted is counted again.
  mutating func forgetCounts() {
    deletedCount = 0
    deletedByCollection = [:]
    deletedByRule = [:]
  }
  /// An approval covers everything that is deleted.
  var wasApproved = false
  /// The checksum of what an approval covers and has not been deleted yet.
  var approved: Int64?
  /// The part of the checksum that is not for nodes to delete, but for those that do not exist.
  var absentChecksum: UInt64 = 0
  /// Nothing may be deleted without approval.
  var holdsAll = false
  /// What is gone was not watched: the references to it may be right, and the model wrong.
  var holdsLosses = false
  /// How many edges of each kind an approved plan may remove, including those that follow.
  var approvedLosses: [String: Int64] = [:]
  var blocked: [Reason] = []
  /// The id of the file, for which an approval counts.
  var id = ""
}

extension Writer: Numbering {
  func number(ofCollection name: String) throws -> Int64 { try collectionId(name) }
  func number(ofName name: String) throws -> Int64 { try nameId(name) }
}
