internal import CascadeEngine
internal import CascadeModel
internal import CascadePostgres
internal import CascadeStore
internal import PostgresBinding
internal import PostgresSweeps
internal import PostgresTables

/// The parts of one sweep, in the order of `SweepCourse`.
final class PostgresSweep: SweepCourse {
  private let writer: PostgresWriter
  private let now: Int64
  private let manners: StepPolicy
  /// What a search of whole tables has found; nil when it is swept. They are searched once.
  private var found: DanglingFound?
  var result: SweepResult

  init(
    _ writer: PostgresWriter, _ kinds: [SweepKind], _ found: DanglingFound, _ now: Int64,
    _ manners: StepPolicy
  ) {
    (self.writer, self.found, self.now, self.manners) = (writer, found, now, manners)
    result = SweepResult(kinds: kinds, outcome: .nothing)
  }

  var model: StoreModel { writer.model }
  private var store: StoreConnection { writer.store }

  func sweepCauses(of kinds: [SweepKind]) throws {
    guard try kinds.readsJournal || kinds.scansTables || writer.unfinishedSweep != nil else {
      return
    }
    guard let found else { return try sweepAgain(kinds) }
    self.found = nil
    try writer.sweepEdges(kinds, found, now, manners, &result)
  }

  /// A sweep that would search the tables, and finds nothing, gives up the plans of such sweeps.
  private func sweepAgain(_ kinds: [SweepKind]) throws {
    let kinds = kinds.scansTables ? [.cascade, .refcount] : kinds
    try writer.sweepEdges(kinds, DanglingFound(), now, manners, &result)
  }

  func leaveEachOther(_ kinds: [SweepKind]) throws -> Bool {
    if kinds.cascades == kinds.counts || !store.binding.denies || result.outcome == .held {
      return false
    }
    let isRead = """
      NOT EXISTS (SELECT FROM cascade.journal j
        WHERE NOT \(store.binding.waits("j")) AND \(Causes.unplanned.include("j")))
      """
    return try areAnyLeft && store.db.run("SELECT \(isRead)").bool
  }

  /// Whether something waits because a node had to stay, and belongs to no plan.
  private var areAnyLeft: Bool {
    get throws { try store.db.run("SELECT \(HeldEdges.areAnyUnplanned)").bool }
  }

  func sweepBothKinds() throws {
    var both = SweepResult(kinds: [.cascade, .refcount], outcome: .nothing)
    try writer.sweepEdges(both.kinds, DanglingFound(), now, manners, &both)
    result.add(both)
  }

  func sweepUnreachable() throws { try writer.sweepUnreachable(now, manners, &result) }

  func sweepUnreferenced() throws { try writer.sweepUnreferenced(now, manners, &result) }

  var haveDeniedNodes: Bool {
    get throws { try store.binding.denies && areAnyLeft }
  }

  func isThere(_ node: Node) throws -> Bool {
    guard let table = store.binding.tables[node.collection], let key = table.key.text(node.key)
    else { return false }
    return try store.db.run("SELECT \(table.has("$1"))", [key]).bool
  }
}
