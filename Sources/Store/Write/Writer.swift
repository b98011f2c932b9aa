package import CascadeModel
internal import CascadeSQLite
/// The writing side of a store: one connection, used by one thread, holding the rules.
///
/// Transactions come in groups that share a commit; each is a savepoint of its own, so that a bad
/// one costs only itself. A sweep has its group for itself.
package final class Writer {
  let db: Connection
  let path: String
  var log = LongLog()
  private var isAtRest = false
  /// SQLite has read the schema anew since the last transaction, and with it what ANALYZE found.
  var isSchemaFresh = false
  let model: StoreModel
  let demands: Demands
  let references: ReferencePlaces
  let hasTables: Bool
  package var pace: Pace
  /// What fewer nodes hold the lock for is not worth two transactions of a sweep.
  package var fewNodes: Int64 = 500
  /// What is kept in memory for so many is little, and their pages stay in the cache.
  package var manyNodes = 20_000
  /// How long each transaction of the sweep at hand held the write lock.
  var holds: [Duration] = []
  var counters: Counters
  /// As of when what is remembered of the file is what it says.
  private var commitsMet: Int64?
  let interned = Interned()
  var current = TransactionState()
  /// When the transaction or the sweep at hand is, in milliseconds since 1970.
  var now: Int64 = 0 { didSet { begun = .now } }
  private var begun = ContinuousClock.now
  /// How long it has been at hand, in milliseconds.
  var elapsed: Int64 { Int64((.now - begun) / .milliseconds(1)) }
  /// The model's places in the application's tables.
  var binding = Binding()
  /// What rows of the journal may say.
  var watches: [Watch] = []
  /// Those of the triggers that are there now.
  var watching: [Watch] = []
  /// Nothing of ours is in the file any more.
  package internal(set) var isDetached = false
  var needsTriggers = false
  /// The edges that values say are those of this model.
  var areReferencesRead = false
  /// What they would write, whoever deletes writes himself.
  var areTriggersOff = false
  /// What the earlier parts of the sweep at hand deleted, and nobody approved: they are judged together.
  var sweptBefore: [String: Int] = [:]
  /// The batch of these.
  var batchSoFar: Int64?
  /// What that sweep is to do, and whether this part of it is not the last.
  var asked: [SweepKind] = []
  var hasPartsToCome = false
  /// A part of it came to its end, and none has begun since.
  var hasConcluded = false
  /// Without leases the last sweep would have found more that the roots do not reach.
  var leasesReach = false
  /// The files that were let go up to here were looked at, and what is left of them waits.
  var filesTried: Int64 = 0
  /// What tells a root from the directory that something is mounted at is remembered.
  var haveRootsBeenSeen = false

  /// Waits for another writer as long as `busyMilliseconds` before it gives up. A database that is
  /// not there is made, if that is wanted.
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
    references = ReferencePlaces(model)
    counters = try Counters(db, behind: model.lastBatchInTrash)
    try model.hasTables ? bindAtFirst() : dropForgottenTriggers()
    try rebuildReferences()
  }

  // What syncs the database does so by the connection.
  deinit { forgetFence() }

  /// Runs `body` between BEGIN and COMMIT. What it returns is durable. Of very many steps, none takes a
  /// row before those that refer to it.
  package func group<T>(isStep: Bool = false, _ body: () throws -> T) throws -> T {
    if isDetached { throw StoreError.detached }
    try begin()
    return try hold { try groupUnderLock(isStep, body) }
  }

  /// How long the write lock was held, each time since this was last asked.
  package func takeHolds() -> [Duration] {
    defer { holds = [] }
    return holds
  }

  func hold<T>(_ body: () throws -> T) rethrows -> T {
    let start = ContinuousClock.now
    defer { holds.append(.now - start) }
    return try body()
  }

  private func groupUnderLock<T>(_ isStep: Bool, _ body: () throws -> T) throws -> T {
    do {
      try bind()
      try meetRestored()
      try hush(isStep: isStep)
      let result = try body()
      try addTriggers()
      try counters.save(db)
      try speak()
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

  /// A backup that somebody restored into the file has counted on from elsewhere, or not as far. What
  /// was remembered of it means something else, whether or not its schema is another one.
  private func meetRestored() throws {
    let commits = try foreignCommits()
    if commits == commitsMet && counters.areSaved { return }
    commitsMet = commits
    if try counters.meet(Counters(db, behind: 0)) { return }
    interned.forget()
    if !references.collections.isEmpty { areReferencesRead = false }
    if !model.hasTables { return }
    try bindAnew()
    try db.setMeta("gap", 1)
  }

  /// What we write ourselves we know: our triggers are quiet meanwhile. A foreign key of the
  /// application's is asked for at the end, since a row may refer to one that comes later.
  private func hush(isStep: Bool) throws {
    if binding.collections.isEmpty { return }
    try db.run("INSERT INTO cascade_quiet VALUES(?)", .integer(binding.hasTriggers ? 2 : 1))
    try db.run("DELETE FROM cascade_displaced WHERE true")
    // The pragma has every statement prepared again.
    if binding.hasForeignKeys && !isStep { try db.run("PRAGMA defer_foreign_keys = ON") }
  }

  private func speak() throws {
    if binding.collections.isEmpty { return }
    try db.run("DELETE FROM cascade_quiet")
  }

  /// Journals what `body` deletes, as if an application did.
  func aloud(_ body: () throws -> Void) throws {
    if binding.hasTriggers { return try body() }
    try db.run("UPDATE cascade_quiet SET id = 2")
    try body()
    try db.run("UPDATE cascade_quiet SET id = 1")
  }

  /// The rules that some edge has, or ever had: the others are not asked for.
  var rulesInUse: Rules {
    binding.looked.reduce(counters.rulesSeen) { $0.union($1.rules) }
  }

  /// Applies the changes of one transaction, or none of them.
  func transaction(_ body: () throws -> Receipt) throws -> Receipt {
    do {
      return try db.savepoint { try onlyTransaction(body) }
    } catch {
      interned.forget()
      throw error
    }
  }

  /// Has the group for itself, which undoes it.
  func onlyTransaction(_ body: () throws -> Receipt) throws -> Receipt {
    current = TransactionState()
    current.batch = counters.serial
    current.firstNewId = counters.nextId
    if hasTables { try db.forgetKnown() }
    return try body()
  }

  /// Until `wakeUp`, nothing else may be asked of it.
  package func rest() throws {
    log = LongLog()
    interned.nodes.forget()
    isAtRest = true
    try db.releaseMemory()
  }

  package func wakeUp() throws {
    if !isAtRest { return }
    do {
      try db.makeTemporaryTables(cache: Connection.temporaryCache)
      (isAtRest, isSchemaFresh) = (false, true)
    } catch {
      try? db.releaseMemory()
      throw error
    }
  }

  /// Changes with every commit of another connection.
  package func foreignCommits() throws -> Int64 { try db.integer("PRAGMA data_version") ?? 0 }
}

/// Numbers that outlive a transaction. They only grow, so a rolled back one leaves gaps at most.
struct Counters {
  /// The next id of a node.
  var nextId: Int64
  /// Of the flush that is being prepared; an edge remembers the one that added it.
  var serial: Int64
  /// Every rule that an edge of this store ever had: what nobody uses costs nothing.
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

  /// Those of the file. False where they are not what was saved there.
  mutating func meet(_ stored: Counters) -> Bool {
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

/// What a transaction knows of itself, beside the temporary tables.
struct TransactionState {
  var batch: Int64 = 0
  /// Ids from here on were given since the last flush: such a node was not there before.
  var firstNewId: Int64 = .max
  var deadCount = 0
  /// Those of them that have no name, by their collections.
  var unnamedDead: [Int64: UnnamedDead] = [:]
  var lostCount = 0
  var deleted: [Node] = []
  var deletedCount = 0
  var filesReleased = 0
  var edgesAdded = 0
  var edgesRemoved = 0
  var notices = 0
  var passedOver = 0
  /// What the flushes before this one deleted, for the hold limit.
  var plan = PlanSums()
  var deletedByCollection: [String: Int] = [:]
  var deletedByRule: [String: Int] = [:]
  /// How the rows of the tables are numbered, since the last flush began.
  var numbers = Numbers() { didSet { whoLeads = nil } }
  /// Tables whose rows go all at once, behind everything else.
  var emptied: Set<Int64> = []
  /// A sweep cannot be refused: what is denied stays, and is told here.
  var isSweep = false
  /// A sweep of one kind leaves some rules to another.
  var followed = Rules.all
  /// What the roots do not reach goes.
  var marks = false
  /// Some of that may lead to itself, and so many go with all who lead to them (`HoldersFirst.swift`).
  var hasCircles = false
  var mostWithHolders: Int64 = 1
  /// For these all who lead to them are in `temp.leading`.
  var withHolders: Slice?
  /// What is asked to find them.
  var whoLeads: [String]?
  /// It commits more than once.
  var isStepped = false
  /// What is refused undoes what was deleted, not all that was done.
  var isGuarded = true
  /// Its batch has something in the trash already.
  var isResumed = false
  /// Of the tables that a plan was made of.
  var schemaVersion: Int64 = -1
  /// What goes is a row that very many refer to: the next plan lets go of them (`Hubs.swift`).
  var isHub = false { didSet { if isHub { leavesRest = true } } }
  private(set) var leavesRest = false
  var readsJournal = false
  /// Its next plan finds what this one deleted.
  var readsItsDeletions = false
  /// Nobody else committed since the plan was made, and nothing of it was kept.
  var isUndisturbed = true
  /// Since before the plan was made, whoever writes a list is noted.
  var notesLists = false
  /// Nodes go which lists may hold.
  var wantsNotes = false
  /// Something of the plan stayed where it is.
  var hasKept = false { didSet { if hasKept { isUndisturbed = false } } }
  /// Collections of which somebody else deleted or changed rows since then.
  var disturbed: Set<Int64> = []
  /// The last row of the journal that was read, and the last one that is there because of us.
  var journalEnd: Int64 = 0
  var ownEnd: Int64 = 0

  /// How much of it is worth a batch.
  var done: Int { deletedCount + edgesRemoved + notices + filesReleased }

  /// Whether what is deleted is news to somebody (`Marks.swift`).
  var isLoud: Bool { isStepped || followed != .all }

  /// What is gone without a sweep's doing is told and let go of by the kind that cascades.
  var tellsOfCauses: Bool { !followed.isDisjoint(with: .cascading) }

  /// Each is told once.
  mutating func block(_ reasons: [Reason]) {
    let known = Set(blocked.map(\.message))
    blocked += reasons.filter { !known.contains($0.message) }
  }

  /// A plan was counted; what is really deleted is counted anew.
  mutating func forgetCounts() {
    deletedCount = 0
    deletedByCollection = [:]
    deletedByRule = [:]
  }
  /// Somebody agreed to all that goes.
  var wasApproved = false
  /// The checksum of what is still to go by an approval.
  var approved: Int64?
  /// What it has beside the nodes.
  var sumOfDead: UInt64 = 0
  /// Nothing may be deleted without approval.
  var holdsAll = false
  /// Nobody watched what is gone: what leads to it may be right, and the model wrong.
  var holdsLosses = false
  /// How many edges of each kind an approved plan takes away, with what follows from it.
  var mayLose: [String: Int64] = [:]
  var blocked: [Reason] = []
  /// Whose approval counts: the id of the file.
  var id = ""
}

extension Writer: Numbering {
  func number(ofCollection name: String) throws -> Int64 { try collectionId(name) }
  func number(ofName name: String) throws -> Int64 { try nameId(name) }
}
