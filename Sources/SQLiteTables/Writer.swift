package import CascadeModel
package import CascadeSQLite
package import CascadeEngine
package import CascadeStore
package import SQLiteBinding

/// The writing side of a store: one connection, used by one thread, which applies the rules.
///
/// Transactions are committed in groups. Each one is a savepoint of its own, so that a bad one
/// affects only itself. A sweep is a group of its own.
package final class Writer {
  package let db: Connection
  package let path: String
  package let model: StoreModel
  package let facts: ModelFacts
  /// Where the model's edges are in the application's tables.
  package var binding = Binding() {
    didSet {
      attachment.bindingChanges += 1
      facts.demands.ofTouched = nil
    }
  }
  package var attachment = AttachmentState()
  package let identities: Identities
  package var lock: LockUse
  package var log = CheckpointState()
  package var logUse = LogUse()
  package var clock = TransactionClock()
  /// The transaction at hand.
  package var current = TransactionState()
  /// The sweep at hand, with all of its parts.
  package var sweepRun = SweepRunState()
  package var sizes = KnownSizes()
  package var files = FileWorkState()
  package var heldBack = HeldBackState()
  /// Nil for a connection that need not notice that its file is replaced.
  package var openFile: OpenFile?

  package init(_ db: consuming Connection, path: String, model: StoreModel, counters: Counters) {
    self.db = db
    self.path = path
    self.model = model
    facts = ModelFacts(
      demands: Demands(model), references: PropertyReferences(model), hasTables: model.hasTables,
      hold: Hold(model))
    lock = LockUse(pace: Pace(model.limits), patience: Patience(model.limits.patience))
    identities = Identities(counters)
  }

  // A background sync of the database uses the connection, so it has to end first.
  deinit { log = CheckpointState() }

  package var isDetached: Bool { attachment.isDetached }

  /// The rules that some edge has or ever had. Queries for the other rules are skipped.
  package var rulesInUse: Rules {
    binding.examinedRelations.reduce(identities.counters.rulesSeen) { $0.union($1.rules) }
  }

  package func foreignKeyEffects() -> [ForeignKeyEffect] {
    ForeignKeyPlanSQL(binding.foreignKeyPlan, current.numbers).followers()
  }

  /// Changes with every commit of another connection.
  package func foreignCommits() throws -> Int64 { try db.integer("PRAGMA data_version") ?? 0 }
}

/// What is computed from the model once.
package struct ModelFacts {
  package let demands: Demands
  package let references: PropertyReferences
  package let hasTables: Bool
  package let hold: Hold
}

/// What is known of the file: its schema, our triggers in it, and what was read from it.
package struct AttachmentState {
  /// Nothing of Cascade's is in the file any more.
  package var isDetached = false
  /// SQLite has read the schema again since the last transaction, and with it the results of
  /// ANALYZE.
  package var isSchemaFresh = false
  package var isMemoryReleased = false
  /// The foreign commits as of which the cached state agrees with the file.
  package var commitsAtLastCheck: Int64?
  /// What rows of the journal may mean.
  package var watches: [Watch] = []
  /// The watches of the triggers that exist now.
  package var activeWatches: [Watch] = []
  package var needsTriggers = false
  /// How often the model was bound to the tables.
  package var bindingChanges = 0
  /// Triggers are switched off. Code that deletes must then write the journal rows that they would
  /// write.
  package var areTriggersOff = false
  /// The stored edges of values are those of the current model.
  package var areReferencesRead = false
}

/// How the write lock is used.
package struct LockUse {
  package var pace: Pace
  /// Deleting fewer nodes than this does not hold the lock long enough to be worth two transactions
  /// of a sweep.
  package var fewNodes: Int64 = 500
  /// The data for this many nodes need little memory, and their pages stay in the cache.
  package var manyNodes = 20_000
  /// How long each transaction of the current sweep held the write lock.
  package var durations: [Duration] = []
  /// Since when the transaction at hand has run, and since when it has held the lock.
  package var begunAt: ContinuousClock.Instant?
  package var heldSince: ContinuousClock.Instant?
  package let patience: Patience
  /// What the sweep or undo at hand does between its steps.
  package var policy = StepPolicy.none

  package mutating func noteBegin(withLock hasLock: Bool) {
    begunAt = .now
    heldSince = hasLock ? begunAt : nil
  }

  package mutating func noteEnd() {
    if let heldSince { durations.append(.now - heldSince) }
    (begunAt, heldSince) = (nil, nil)
  }
}

/// What waits for the end of a denial. Triggers journal what an application does that may be that end.
/// The daemon's own changes are not journaled, so it counts them. When it starts, the model may be
/// another one.
package struct HeldBackState {
  package var endings: Int64 = 1
  /// The count when a sweep last examined what waits.
  package var examined: Int64 = 0
  /// What others and the daemon had written when it was found what is protected.
  package var protectedAsOf: Int64?

  package init() {}
}

/// The time of a transaction or a sweep.
package struct TransactionClock {
  /// In milliseconds since 1970.
  package var now: Int64 = 0 { didSet { begun = .now } }
  private var begun = ContinuousClock.now
  /// How long it has been running, in milliseconds.
  package var elapsed: Int64 { Int64((.now - begun) / .milliseconds(1)) }
  package var review = ClockReview()
  /// The last lease that was known when the clocks were last compared.
  package var lastLease = Int64.min
}

/// A sweep and what its parts have in common.
package struct SweepRunState {
  /// What it has done so far.
  package var result: SweepResult
  /// The kinds of the current part, and whether others follow it.
  package var part: [SweepKind] = []
  package var hasMoreParts = false
  /// A part of the sweep has ended, and no other has begun.
  package var hasEndedPart = false
  /// What the earlier parts deleted without approval, by collection. The hold limit applies to all
  /// parts together.
  package var deletedByEarlierParts: [String: Int] = [:]
  /// The batch that an earlier run left open. The parts of this one continue it.
  package var earlierBatch: Int64?
  /// Missing nodes whose plans are approved: the current part sweeps the references to them.
  package var releasedNodes: Set<Node> = []
  /// What a scan of whole tables has held; nil if the sweep has made no scan.
  package var heldValues: [HeldValue]?
  /// Without leases, the last sweep would have found more nodes that the roots do not reach.
  package var leasesKeepUnreachable = false
  /// Whose unreferenced nodes the current part deletes, and whether that needs an approval.
  package var unreferenced: (ends: [CountedEnd], needApproval: Bool)?

  /// The job that is carried out; nil for a sweep.
  package var job: DeletionJob?
  /// The approved plan whose causes the sweep carries out; nil for one that reads what no plan owns.
  package var plan: ApprovedCauses?
  /// What owns the rows of the journal that the sweep's steps write: the plan, or the job, whose number is
  /// below zero then. Nil: nothing does.
  package var owner: Int64? { plan?.number ?? job.map { -$0.number } }
  /// Up to here, the part has read the journal.
  package var journalEnd: Int64 = 0
  /// What a part would delete was held, only because of what was deleted before it.
  package var isHeldForSum = false
  /// The candidates that were a cause of it.
  package var heldCandidates: [Int64] = []

  package init(of kinds: [SweepKind] = []) { result = SweepResult(kinds: kinds, outcome: .nothing) }

  package var requestedKinds: [SweepKind] { result.kinds }

  /// The batch of the parts, as far as there is one.
  package var openBatch: Int64? { result.batch ?? earlierBatch }
}

/// An approved plan with causes of its own.
package struct ApprovedCauses: Sendable {
  package let number: Int64
  package let kinds: [SweepKind]
  /// What `MetaKey.ownJournalEnd` was when it was held.
  package let ownEnd: Int64

  package init(number: Int64, kinds: [SweepKind], ownEnd: Int64) {
    (self.number, self.kinds, self.ownEnd) = (number, kinds, ownEnd)
  }
}

/// How large collections were lately, at least. To count a table takes long, and where many small
/// sweeps follow each other the answer is the same.
package struct KnownSizes {
  private var known: [String: (size: Int, at: ContinuousClock.Instant)] = [:]
  private static let age = Duration.seconds(10)

  package init() {}

  package func isAtLeast(_ size: Int, _ collection: String) -> Bool {
    known[collection].map { $0.size >= size && .now - $0.at < KnownSizes.age } ?? false
  }

  package mutating func note(_ size: Int, of collection: String) {
    known[collection] = (size, .now)
  }
}

/// The work on files after their rows are gone.
package struct FileWorkState {
  /// Released files up to this id were handled, and those that are left wait.
  package var lastTriedFile: Int64 = 0
  /// Whether the roots' directories were recorded. The record tells a root from the empty directory
  /// at which it is usually mounted.
  package var areRootsRecorded = false
}
