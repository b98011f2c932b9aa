package import CascadeModel

/// The writing side of a store: one connection, used by one thread, which applies the rules.
package protocol StoreWriting: AnyObject {
  // MARK: Change files

  /// Runs `body` in one transaction of the database. What it returns is durable.
  func group<T>(_ body: () throws -> T) throws -> T

  /// Returns when what this connection has committed cannot be lost any more. What cannot be taken back
  /// comes after it: a change file leaves the queue, a receipt is given.
  func settle() throws

  /// How many change files may share such a transaction.
  var mostFilesPerGroup: Int { get }

  /// Applies the changes of one file within the current group: all of them, or none.
  ///
  /// Throws `Rejection` with every reason, `RejectionWithRollback`, `HeldPlan`, or the error of the
  /// source of the changes. `complete` adds to the ledger's entry what is known only after the last
  /// change.
  func apply(
    _ submission: Submission, changes next: () throws -> Change?,
    completing complete: (inout Submission) -> Void
  ) throws -> Receipt

  /// The newest entry of an id.
  func ledgerEntry(_ id: String) throws -> LedgerEntry?

  /// The reason for an error by which the database refuses a value for good. Nil if the machine or
  /// the store itself is in trouble, so that trying again is right.
  func reason(refusing error: any Error) -> Reason?

  /// What an error says that other files would not meet. Nil if each would: the database is locked,
  /// away, full or damaged.
  func failure(ofFile error: any Error) -> String?

  func saveVerdict(_ verdict: FileVerdict) throws
  var verdicts: [FileVerdict] { get throws }
  func deleteVerdicts(but stuck: Set<[UInt8]>) throws

  // MARK: Plans that wait for approval

  /// Keeps the plan of a file. Returns its number.
  func persistPlan(_ held: HeldPlan, file: String) throws -> Int64

  /// The files other than `file` that wait for approval under the same id.
  func filesHeld(underIdOf held: HeldPlan, but file: String) throws -> [String]

  /// Drops the plans of a file that is no longer wanted.
  func deletePlans(ofFile file: String) throws

  /// Approves a plan. Nil if there is no such plan. The next sweep of edges carries out what is approved,
  /// before anything else.
  func approve(plan: Int64) throws -> ApprovedPlan?

  /// Rejects a plan: its causes are given up. The same answer again changes nothing, and returns the
  /// same. Nil if there is no such plan.
  func reject(plan: Int64, at now: Int64) throws -> RejectedPlan?

  /// The sweeps that wait for approval.
  var heldSweeps: [SweepResult] { get throws }

  /// Notes that plans of sweeps and jobs wait since now, where that is not noted. Returns since when the
  /// oldest does.
  func noteHeldPlans(at now: Int64) throws -> Int64?

  // MARK: Sweeps

  func sweep(_ kinds: [SweepKind], at now: Int64, manners: StepPolicy) throws -> SweepResult

  /// The kinds of a sweep that was not finished.
  var unfinishedSweep: [SweepKind]? { get throws }

  /// When the kinds of sweep ran. The kinds that run at certain times count from now on, if they
  /// did not before.
  func sweepTimes(timed: [SweepKind], at now: Int64) throws -> [SweepKind: SweepTimes]
  func remember(_ run: SweepRun, of kinds: [SweepKind]) throws

  // MARK: Jobs

  /// Writes down a job, which begins when it is carried out. Returns its number.
  func begin(_ request: DeletionJob.Request, at now: Int64) throws -> Int64

  /// Begins a pass over each collection of which rows are overdue. A pass that goes on, or waits, is not
  /// begun again.
  func beginExpired(at now: Int64) throws -> BegunPasses

  /// Begins to follow what was marked as gone for others, and is owned by no job. Returns the number of the job;
  /// nil if there is nothing.
  func beginMarks(at now: Int64) throws -> Int64?

  /// Carries out a job, from where it stopped until it has ended, is held, or was cut short.
  func carryOut(job: Int64, at now: Int64, manners: StepPolicy) throws -> DeletionJob

  /// Ends a job. What it has deleted is its batch. Nil if there is no such job.
  func cancel(job: Int64, at now: Int64) throws -> DeletionJob?

  /// The jobs that run, or are to run, in the order in which they do, and those that wait for an approval.
  var openJobs: [DeletionJob] { get throws }

  /// The files that went with an erased batch go for good. Called when they were moved. Returns how many
  /// there are.
  func eraseFiles(ofBatch batch: Int64) throws -> Int

  /// Rewrites the database without the places that nothing uses, if `rewrites`, and empties its log. Returns
  /// whether the log is empty then.
  func clearUnusedPlaces(rewrites: Bool) throws -> Bool

  // MARK: Protection

  /// Protects a node, or changes its protection. Throws `NoNodeToProtect`.
  func protect(_ request: Protection.Request, at now: Int64) throws -> Protection

  /// Ends a protection. Nil if the node is not protected.
  func unprotect(_ node: Node, by author: String, at now: Int64) throws -> Protection?

  var hasProtections: Bool { get throws }

  /// Finds again what is protected, if something was written since. Called before change files are applied.
  func followProtected() throws

  /// Finds again what is protected by now, and ends the protections whose time is over. Returns these.
  func reviewProtections(at now: Int64) throws -> [Protection]

  // MARK: Undo

  func undo(
    _ batch: Int64, by author: String, at now: Int64, manners: StepPolicy
  ) throws -> UndoResult

  /// Moves a node, and what went because of it, into batches of their own, out of those that have more. Returns
  /// the batches that have them then; there is at least one. Throws `UndoUnavailable`.
  func separate(_ node: Node) throws -> [Int64]

  /// Continues an undo that was interrupted. One that would fail at each attempt is not tried again
  /// by itself: this throws `UndoFailed`.
  func resumeUndo(at now: Int64, manners: StepPolicy) throws -> UndoResult?

  /// Brings back what the last change file had of an archive. Nil if it had nothing.
  func finishRestoring(at now: Int64) throws -> UndoResult?

  /// The batch of an undo that was not finished.
  var unfinishedUndo: Int64? { get throws }

  // MARK: Leases

  /// Takes leases for so many seconds, or renews those of the same owner. Leases of a connection
  /// end with it.
  @discardableResult
  func lease(
    _ subjects: [Lease.Subject], owner: String, seconds: Int64, connection: Int64?, at now: Int64
  ) throws -> [Lease]

  /// Ends leases of any owner, or only those of `owner` if it is given. Returns how many ended.
  func release(_ subjects: [Lease.Subject], owner: String?) throws -> Int
  func releaseConnection(_ connection: Int64) throws

  /// Ends the leases of all connections.
  func releaseConnections() throws

  /// Notes what the wall clock shows, and a clock that is never set, in milliseconds. To be called
  /// before anything ends because of its time: leases, the trash, the ledger.
  func noteTime(wall: Int64, elapsed: Int64) throws

  /// Saves the time for the next daemon.
  func saveTime(wall: Int64) throws

  /// Deletes the leases that have ended. Returns when the next one ends, in milliseconds.
  func deleteExpiredLeases(at now: Int64) throws -> (wereAny: Bool, next: Int64?)

  /// Whether a lease or a denial may have ended that spared a node, so that the node may go now.
  func hasReleasedCandidate(at now: Int64) throws -> Bool

  /// The same, for a node that no root reaches.
  func hasReachingLeaseEnded(at now: Int64) throws -> Bool

  // MARK: Files and notices

  /// Makes roots of files this store's that belong to another one. `names` are those in the model; empty:
  /// all of them.
  func takeRoots(_ names: [String], _ paths: StorePaths) throws -> [TakenRoot]

  /// Does a part of the work on files. The write lock is held for at most `budget`.
  func processFiles(_ paths: StorePaths, at now: Int64, budget: Duration) throws -> FileWork

  /// How many files wait to be moved, into the trash or out of it.
  var filesToMove: Int { get throws }

  /// Tries the waiting files again.
  func retryFiles()

  /// The files of an undone batch that are not yet restored.
  func filesToRestore(of batch: Int64) throws -> [Destination]

  /// Deletes the notices up to `id`. Returns how many there were.
  func acknowledge(upTo id: Int64) throws -> Int

  // MARK: Attachment

  func attach(createIndexes: Bool) throws -> AttachReport

  /// Creates the constraints by which the database itself denies what the rules deny.
  func createConstraints() throws -> OwnerReport
  /// Creates the functions by which rows of tables of several owners are written.
  func createFunctions() throws -> OwnerReport

  /// Removes everything of Cascade's from the store. After that, the store can only be attached
  /// again.
  @discardableResult
  func detach() throws -> DetachReport
  var isDetached: Bool { get }

  /// Nothing is deleted while the model fits the tables only in part.
  var isPartlyBound: Bool { get }
  var bindingProblems: [ModelProblem] { get }

  var operatorPause: OperatorPause? { get throws }
  func set(_ pause: OperatorPause?) throws

  // MARK: News

  /// What others wrote so far.
  var news: StoreNews { get throws }

  /// Adapts to the schema as it is now. Returns the number of others' commits, as in `news`, that
  /// this surely took into account.
  @discardableResult
  func followSchema() throws -> Int64

  /// Whether the journal has something for a sweep to examine.
  var hasJournal: Bool { get throws }

  /// Why the next sweep must scan whole tables.
  var rescanReason: RescanReason? { get throws }

  /// Not everything was watched: the next sweep must scan whole tables.
  func requestRescan() throws

  /// Clears the reason for a scan if nothing dangles.
  func clearRescanUnlessDangling() throws

  /// Finds what the references in values refer to now.
  func resolveReferencesBeforeSweep() throws

  // MARK: Budget and pause

  /// Looks whether others write too. `budget` and `pause` depend on it.
  func lookForWriters() throws

  /// How long the write lock may be held.
  var budget: Duration { get }

  /// How long the lock stays free after that; nil if no other connection needs it.
  var pause: Duration? { get }

  /// Returns how long the write lock was held, each time since the last call.
  func takeLockDurations() -> [Duration]

  // MARK: Tidying and closing

  func tidy(_ extent: Tidying) throws

  /// Releases memory that only makes the next use faster. Until `wakeUp`, no other call is allowed.
  func releaseMemoryUntilWakeUp() throws
  func wakeUp() throws

  /// What was opened, and what happened to it.
  var opened: any OpenedStore { get }

  /// What happened to the store, as far as this connection sees it.
  var standing: StoreStanding { get throws }

  /// The numbers of the journal's rows that wait for a sweep.
  func journal() throws -> ClosedRange<Int64>?

  /// Saves what only this connection has, and leaves no needless files: the last call. Unless it `copiesLog`,
  /// it writes nothing.
  func close(copiesLog: Bool)
}

extension StoreWriting {
  package func close() { close(copiesLog: true) }

  package func journal() throws -> ClosedRange<Int64>? { nil }

  /// Whether a sweep or an undo was not finished.
  package var isUnfinished: Bool {
    get throws { try unfinishedSweep != nil || unfinishedUndo != nil }
  }

  /// A file that was synced is not lost.
  package func settle() {}

  package func carryOut(job: Int64, at now: Int64) throws -> DeletionJob {
    try carryOut(job: job, at: now, manners: .none)
  }

  package func reject(plan: Int64, at now: Int64) throws -> RejectedPlan? {
    throw StoreError("plans of this store cannot be rejected yet")
  }

  /// Where writers wait for each other, triggers see every commit.
  package func createConstraints() throws -> OwnerReport {
    throw StoreError(
      "this store needs no constraints: the triggers that deny a deletion see every commit")
  }

  /// Where a store is one file, the right to write to it is one for all of its tables.
  package func createFunctions() throws -> OwnerReport {
    throw StoreError("this store needs no functions: its tables have no owners of their own")
  }

  package func sweep(_ kinds: [SweepKind], at now: Int64) throws -> SweepResult {
    try sweep(kinds, at: now, manners: .none)
  }

  package func undo(_ batch: Int64, by author: String, at now: Int64) throws -> UndoResult {
    try undo(batch, by: author, at: now, manners: .none)
  }

  /// Brings back one node, with what went because of it, out of whatever batches: in its batch, and in later
  /// ones.
  package func undo(
    _ node: Node, by author: String, at now: Int64, manners: StepPolicy = .none
  ) throws -> UndoResult {
    let batches = try separate(node)
    var result = try undo(batches[0], by: author, at: now, manners: manners)
    for batch in batches.dropFirst() {
      result.add(try undo(batch, by: author, at: now, manners: manners))
    }
    return result
  }

  package func apply(
    _ submission: Submission, changes next: () throws -> Change?
  ) throws -> Receipt {
    try apply(submission, changes: next) { _ in }
  }
}
