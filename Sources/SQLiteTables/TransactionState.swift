package import CascadeModel
internal import CascadeSQLite
package import CascadeStore
package import CascadeEngine
package import SQLiteBinding

/// The state of a transaction, beside the temporary tables.
package struct TransactionState {
  package var batch: Int64 = 0
  /// Ids from here on were given since the last flush: such a node did not exist before.
  package var firstNewId: Int64 = .max
  /// Where `cascade_deleted` has what the plan at hand deletes.
  package var partOfDeleted: Int64?
  /// Whether an archive is brought back, and the ids of the nodes that it has so far.
  package var isRestoring = false
  package var restoredIds: [Node: Int64] = [:]
  package var deadCount = 0
  /// The tables of deleted rows that no record names, by collection, and the statements that mark
  /// such rows as dead. They are identified by a number made from their rowid. So a change file can
  /// delete very many rows without naming each, and what follows is found as in a sweep.
  package var unnamedDead: [Int64: (table: NodeTable, mark: String)] = [:]
  package var lostCount = 0
  /// The numbering of the tables' rows, as of the start of the last flush.
  package var numbers = NumberedTables() { didSet { reachability.holderQueries = nil } }
  /// Why nodes stay that were to go. A sweep lists them here; anything else is rejected.
  package var blocked: [Reason] = []
  /// Not all of them waited for the end of a denial already.
  package var blocksMore = false
  package var counts = ChangeCounts()
  /// Whether something was held back, as far as that was asked.
  package var hasCandidates: Bool?
  package var hold = HoldState()
  package var ownDeletions = OwnDeletionState()
  package var sweep = SweepScope()
  package var step = StepState()
  package var reachability = ReachabilityState()

  package init() {}

  /// How much was done. A batch is recorded only if this is not 0.
  package var done: Int {
    counts.deletedCount + counts.edgesRemoved + counts.notices + counts.filesReleased
  }

  /// Whether what is deleted must be journaled, because another plan or kind of sweep has to learn
  /// of it (`JournalPositions.swift`).
  package var journalsDeletions: Bool { sweep.isStepped || sweep.followedRules != .all }

  /// Whether this kind of sweep notifies for nodes that were gone before it, and removes their
  /// edges. The kind that cascades does.
  package var notifiesOfEarlierDeletions: Bool { !sweep.followedRules.isDisjoint(with: .cascading) }

  /// Lists each reason once.
  package mutating func block(_ reasons: [Reason]) {
    let known = Set(blocked.map(\.message))
    blocked += reasons.filter { !known.contains($0.message) }
  }

  /// Resets the counts of a plan: what is really deleted is counted again.
  package mutating func forgetCounts() {
    counts.deletedCount = 0
    counts.deletedByCollection = [:]
    counts.deletedByRule = [:]
  }
}

/// What a transaction or a sweep has changed so far.
package struct ChangeCounts {
  package var deleted: [Node] = []
  package var deletedCount = 0
  /// Of these, nodes that went because an edge that the transaction added leads nowhere.
  package var deletedOwn: [Node] = []
  package var deletedByCollection: [String: Int] = [:]
  package var deletedByRule: [String: Int] = [:]
  package var filesReleased = 0
  /// Rows that an application had deleted, and that this batch keeps.
  package var kept = 0
  package var edgesAdded = 0
  package var edgesRemoved = 0
  package var notices = 0
  package var passedOver = 0
}

/// Whether nodes may go because an edge that the transaction itself added leads nowhere.
package struct OwnDeletionState {
  /// Where no change says otherwise.
  package var areAllowed = true
  /// Whether a change since the last flush does.
  package var haveExceptions = false
  /// Whether an edge was added since the last flush.
  package var areNewEdges = false
}

/// What the hold limit and its approvals need.
package struct HoldState {
  /// The id of the file, for which an approval counts.
  package var id = ""
  /// What earlier flushes of the transaction deleted.
  package var deletedByEarlierFlushes = PlanSums()
  /// Nothing may be deleted without approval.
  package var holdsAll = false
  /// What is gone was not watched: the references to it may be right, and the model wrong.
  package var holdsLosses = false
  /// An approval covers everything that is deleted.
  package var wasApproved = false
  /// The checksum of what an approval covers and has not been deleted yet.
  package var approved: Int64?
  /// The part of the checksum that is not for nodes to delete, but for those that do not exist.
  package var absentChecksum: UInt64 = 0
  /// How many edges of each kind an approved plan may remove, including those that follow.
  package var approvedLosses: [String: Int64] = [:]
}

/// What a sweep does, and in which way.
package struct SweepScope {
  /// A sweep cannot be rejected: a denied node stays, and is listed in `blocked`.
  package var isSweep = false
  /// The rules that are followed. A sweep of one kind leaves some rules to another kind.
  package var followedRules = Rules.all
  package var readsJournal = false
  /// The sweep commits more than once.
  package var isStepped = false
  /// A refusal undoes only what was deleted, because a savepoint precedes it. Otherwise it undoes
  /// the whole transaction.
  package var hasDeletionSavepoint = true
  /// The trash already has something of this batch.
  package var isResumed = false
  /// Its next plan finds what this one deleted.
  package var nextPlanReadsDeletions = false
}

/// How a plan and its steps stand beside what other connections do meanwhile.
package struct StepState {
  /// The schema version for which the plan was made.
  package var schemaVersion: Int64 = -1
  /// No other connection has committed since the plan was made, and all nodes of the plan were
  /// deleted.
  package var isUndisturbed = true
  /// Some nodes of the plan were not deleted.
  package var hasSkippedNodes = false { didSet { if hasSkippedNodes { isUndisturbed = false } } }
  /// Collections whose rows another connection has deleted or changed since then.
  package var collectionsChangedByOthers: Set<Int64> = []
  /// The node to delete is a row to which very many refer. The next plan removes these references
  /// (`HighFanOutNodes.swift`).
  package var isHighFanOut = false { didSet { if isHighFanOut { needsAnotherPlan = true } } }
  package private(set) var needsAnotherPlan = false
  /// Changes of lists have been noted since before the plan was made.
  package var isNotingLists = false
  /// Nodes are deleted that lists may contain.
  package var needsListNotes = false
  /// Tables that are emptied at once, after everything else.
  package var emptied: Set<Int64> = []
  /// The last row of the journal that was read, and the last one that exists because of our own
  /// work.
  package var journalEnd: Int64 = 0
  package var ownJournalEnd: Int64 = 0
  /// The last row that was there when the plan was made, read or not.
  package var journalEndOfPlan: Int64 = 0
}

/// The deletion of nodes that the roots do not reach.
package struct ReachabilityState {
  package var deletesUnreachable = false
  /// Some of these may form cycles. Each step deletes this many together with all nodes that lead
  /// to them (`UnreachableOrder.swift`).
  package var mayHaveCycles = false
  package var cycleStepLimit: Int64 = 1
  /// The nodes for which all nodes that lead to them are in `temp.holder_order`.
  package var sliceWithHolders: Slice?
  /// The statements that find those.
  package var holderQueries: [String]?
}
