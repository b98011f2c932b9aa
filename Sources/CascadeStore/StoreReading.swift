package import CascadeModel

/// The reading side of a store: a connection of its own, used by one thread. Each call sees one
/// state of the store. Without `now`, a question is about the current time.
package protocol StoreReading: AnyObject {
  // MARK: Nodes and edges

  func node(_ node: Node) throws -> StoredNode

  /// A page of a collection after `key`, in the order of the keys.
  func nodes(in collection: String, after key: Key?, limit: Int) throws -> [StoredNode]

  /// The node with its key as the store has it, whether the node exists or not.
  func withStoredKey(_ node: Node) throws -> Node
  func withStoredKey(_ destination: Destination) throws -> Destination

  func edges(_ query: EdgeQuery, after cursor: EdgeCursor?, limit: Int) throws -> EdgePage
  func count(_ query: EdgeQuery) throws -> Int

  /// The nodes that a fetched property of this node leads to. `refresh` always searches.
  func fetch(
    _ name: String, of node: Node, refresh: Bool, timeLimit: Duration
  ) throws -> Fetched

  // MARK: Consequences and causes

  func plan(deleting nodes: [Node], at now: Int64?) throws -> Plan

  /// What a job would delete.
  func plan(of subject: DeletionJob.Subject) throws -> Plan

  /// What a sweep would delete.
  func planSweep(_ kinds: [SweepKind], at now: Int64?) throws -> Plan

  /// What the approval of a held value would delete.
  func plan(ofHeld value: HeldValue) throws -> Plan

  /// What a sweep would delete that waits for approval under this number.
  func plan(ofHeld plan: Int64, kinds: [SweepKind]) throws -> Plan

  /// Nil if the node does not exist.
  func graph(around node: Node, depth: Int, limit: Int) throws -> Graph?

  func why(_ destination: Destination, at now: Int64?) throws -> Why

  /// Why a node is marked, as far as that was followed; empty if it is not marked.
  func marks(of node: Node) throws -> [MarkReason]

  // MARK: Lists

  func notices(after id: Int64, limit: Int) throws -> [Notice]

  /// A page of what went, in the order of the numbers. Throws `DeletedForgotten`.
  func deleted(_ query: DeletedQuery, limit: Int) throws -> DeletedPage

  /// A page of batches after `batch`, the oldest first.
  func batches(after batch: Int64, limit: Int) throws -> [Batch]
  func newestBatches(limit: Int) throws -> [Batch]

  /// A page of jobs after `job`, the oldest first.
  func jobs(after job: Int64, limit: Int) throws -> [DeletionJob]
  func job(_ number: Int64) throws -> DeletionJob?

  func protections() throws -> [Protection]

  /// What the passes would delete that a sweep of the kind `expired` begins, one by one.
  func planExpired(at now: Int64) throws -> [Plan]

  /// How much goes because of its age with the next passes.
  func countOverdue(at now: Int64) throws -> OverdueCount

  /// The leases in force, the first to end first.
  func leases(at now: Int64?, limit: Int) throws -> [Lease]

  /// The newest plan of each file that waits for approval, by the file's name.
  func plansOfFiles() throws -> [String: FilePlan]

  /// The numbers of the journal's rows that wait for a sweep.
  func journal() throws -> ClosedRange<Int64>?

  /// The fingerprint of the content for which an id was used; nil if it was not used.
  func fingerprint(ofId id: String) throws -> Int64?

  /// What became of a change file; nil if none with this id was applied.
  func ledgerEntry(_ id: String) throws -> LedgerEntry?

  // MARK: Erasure

  func erasureScope() throws -> ErasureScope

  /// Columns that seem to refer to something, whether the model covers them or not.
  func evidence() throws -> [ColumnEvidence]

  /// Where the database still has one of the texts, in places that nothing uses.
  func traces(of texts: [String]) throws -> [String]

  // MARK: Checks

  func checkSetup() throws -> [SetupFinding]

  /// How many tables are Cascade's, and how many the application's.
  func tableCounts() throws -> (own: Int, others: Int)

  /// The indexes that `attach` would create if it were asked to.
  func estimateIndexes() throws -> [IndexEstimate]

  /// Checks the data: references to nothing, wherever they are, and the demands of the model.
  func checkReferences(limit: Int) throws -> Findings

  /// How many nodes of each collection a sweep of unreferenced nodes would find.
  func countUnreferenced() throws -> [(collection: String, count: Int)]

  /// Finds edges without files, and files without edges.
  func checkFiles(_ paths: StorePaths, limit: Int) throws -> Findings
  func unreferencedFiles(_ paths: StorePaths) throws -> UnreferencedFiles
}

extension StoreReading {
  package func edges(_ query: EdgeQuery) throws -> EdgePage {
    try edges(query, after: nil, limit: 1_000)
  }

  package func fetch(_ name: String, of node: Node, refresh: Bool) throws -> Fetched {
    try fetch(name, of: node, refresh: refresh, timeLimit: .seconds(5))
  }

  package func plan(ofHeld plan: Int64, kinds: [SweepKind]) throws -> Plan {
    try planSweep(kinds)
  }

  package func plan(deleting nodes: [Node]) throws -> Plan { try plan(deleting: nodes, at: nil) }

  package func planSweep(_ kinds: [SweepKind]) throws -> Plan { try planSweep(kinds, at: nil) }

  package func why(_ destination: Destination) throws -> Why { try why(destination, at: nil) }

  package func leases() throws -> [Lease] { try leases(at: nil, limit: 1_000) }
}
