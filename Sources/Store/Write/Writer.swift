internal import CascadeModel
internal import CascadeSQLite

/// The writing side of a store: one connection, used by one thread, which applies the rules.
///
/// Transactions are committed in groups. Each one is a savepoint of its own, so that a bad one
/// affects only itself. A sweep is a group of its own.
package final class Writer {
  let db: Connection
  let path: String
  let model: StoreModel
  let facts: ModelFacts
  /// Where the model's edges are in the application's tables.
  var binding = Binding()
  var attachment = AttachmentState()
  var identities: Identities
  var lock: LockUse
  var log = WALControl()
  var clock = TransactionClock()
  /// The transaction at hand.
  var current = TransactionState()
  /// The sweep at hand, with all of its parts.
  var sweepRun = SweepRunState()
  var files = FileWorkState()

  init(_ db: consuming Connection, path: String, model: StoreModel, counters: Counters) {
    self.db = db
    self.path = path
    self.model = model
    facts = ModelFacts(model)
    lock = LockUse(Pace(model.limits))
    identities = Identities(counters)
  }

  // A background sync of the database uses the connection, so it has to end first.
  deinit { log = WALControl() }

  package var isDetached: Bool { attachment.isDetached }

  package var pace: Pace {
    get { lock.pace }
    set { lock.pace = newValue }
  }

  /// For tests: how few nodes one transaction deletes, and how many need a large cache.
  package var fewNodes: Int64 {
    get { lock.fewNodes }
    set { lock.fewNodes = newValue }
  }

  package var manyNodes: Int {
    get { lock.manyNodes }
    set { lock.manyNodes = newValue }
  }

  /// The rules that some edge has or ever had. Queries for the other rules are skipped.
  var rulesInUse: Rules {
    binding.examinedRelations.reduce(identities.counters.rulesSeen) { $0.union($1.rules) }
  }

  /// Changes with every commit of another connection.
  package func foreignCommits() throws -> Int64 { try db.integer("PRAGMA data_version") ?? 0 }
}

/// What is computed from the model once.
struct ModelFacts {
  let demands: Demands
  let references: PropertyReferences
  let hasTables: Bool

  init(_ model: StoreModel) {
    demands = Demands(model)
    references = PropertyReferences(model)
    hasTables = model.hasTables
  }
}

/// What is known of the file: its schema, our triggers in it, and what was read from it.
struct AttachmentState {
  /// Nothing of Cascade's is in the file any more.
  var isDetached = false
  /// SQLite has read the schema again since the last transaction, and with it the results of
  /// ANALYZE.
  var isSchemaFresh = false
  var isMemoryReleased = false
  /// The foreign commits as of which the cached state agrees with the file.
  var commitsAtLastCheck: Int64?
  /// What rows of the journal may mean.
  var watches: [Watch] = []
  /// The watches of the triggers that exist now.
  var activeWatches: [Watch] = []
  var needsTriggers = false
  /// Triggers are switched off. Code that deletes must then write the journal rows that they would
  /// write.
  var areTriggersOff = false
  /// The stored edges of values are those of the current model.
  var areReferencesRead = false
}

/// The numbers of nodes, collections and names, and those that were looked up before.
struct Identities {
  var counters: Counters
  let caches = IdentityCaches()

  init(_ counters: Counters) { self.counters = counters }
}

/// How the write lock is used.
struct LockUse {
  var pace: Pace
  /// Deleting fewer nodes than this does not hold the lock long enough to be worth two transactions
  /// of a sweep.
  var fewNodes: Int64 = 500
  /// The data for this many nodes need little memory, and their pages stay in the cache.
  var manyNodes = 20_000
  /// How long each transaction of the current sweep held the write lock.
  var durations: [Duration] = []

  init(_ pace: Pace) { self.pace = pace }
}

/// The time of a transaction or a sweep.
struct TransactionClock {
  /// In milliseconds since 1970.
  var now: Int64 = 0 { didSet { begun = .now } }
  private var begun = ContinuousClock.now
  /// How long it has been running, in milliseconds.
  var elapsed: Int64 { Int64((.now - begun) / .milliseconds(1)) }

  init() {}
}

/// What the parts of a sweep have in common.
struct SweepRunState {
  /// The kinds of sweep that were asked for, and whether the current part is followed by others.
  var requestedKinds: [SweepKind] = []
  var hasMoreParts = false
  /// A part of the sweep has ended, and no other has begun.
  var hasEndedPart = false
  /// What the earlier parts deleted without approval, by collection. The hold limit applies to all
  /// parts together.
  var deletedByEarlierParts: [String: Int] = [:]
  /// The batch of these parts.
  var openSweepBatch: Int64?
  /// Without leases, the last sweep would have found more nodes that the roots do not reach.
  var leasesKeepUnreachable = false
}

/// The work on files after their rows are gone.
struct FileWorkState {
  /// Released files up to this id were handled, and those that are left wait.
  var lastTriedFile: Int64 = 0
  /// Whether the roots' directories were recorded. The record tells a root from the empty directory
  /// at which it is usually mounted.
  var areRootsRecorded = false
}
