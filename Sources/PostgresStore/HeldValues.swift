internal import CascadeModel
internal import CascadeEngine
internal import CascadePostgres
package import CascadeStore
internal import PostgresBinding
internal import PostgresSweeps
internal import PostgresTables

/// What a search of whole tables has found, and what is to be done about it.
///
/// 1. References that no trigger saw go, and whose value may mean "none", are held: each relationship and
///    value has a plan that waits. The rest of the sweep goes on.
/// 2. Those that an operator approved go with the rest. What they take along needs no other approval.
struct DanglingFound {
  /// Everything follows from these.
  var clear: [DanglingReferences.Missing] = []
  var held: [DanglingReferences.Missing] = []
  /// Of those that were approved: the plans, and how many nodes go, as far as the plans said so.
  var releasedPlans: [Int64] = []
  var releasedCount = 0
  var released: [DanglingReferences.Missing] = []
  /// Whether nothing was watched when these lost their destinations: they need an approval.
  var isFirst = false

  var isAny: Bool { !followed.isEmpty }
  var followed: [DanglingReferences.Missing] { clear + released }

  /// References that would be removed although no trigger saw their destinations go, of each kind.
  func losses(_ store: StoreConnection) throws -> [CollectionCount] {
    let removed = clear.filter { missing in
      let isNullified = missing.relation.rules.contains(.nullifySourceIfDestinationDeleted)
      return missing.isUnseen && (missing.relation.join != nil || isNullified)
    }
    let byRelation = Dictionary(grouping: removed, by: \.relation.number)
    return try store.readingWholeTables {
      try byRelation.values.map { group in
        let relation = group[0].relation
        let table = relation.join?.name ?? relation.source.name
        let all = try store.db.run("SELECT count(*) FROM \(table)").integer ?? 0
        let gone = group.reduce(0) { $0 + $1.count }
        return CollectionCount(name: "\(relation.number)", gone: gone, all: max(gone, Int(all)))
      }
    }
  }
}

extension PostgresWriter {
  func findDangling() throws -> DanglingFound {
    var found = DanglingFound()
    try GivenUp(store).forgetChanged()
    let missing = try DanglingReferences(store).find(telling: rescanReason != nil)
    found.clear = missing.filter { !$0.isHeld }
    found.held = missing.filter(\.isHeld)
    found.isFirst = try !found.clear.isEmpty && store[meta: "first_watch"] != nil
    let approved = try heldValuePlans().filter(\.isApproved)
    if approved.isEmpty || found.held.isEmpty { return found }
    for (node, same) in Dictionary(grouping: found.held, by: \.node)
    where approved.approve(same.map(\.held)) {
      let plans = approved.filter { $0.value.missing == node }
      let gone = try consequences(of: same).values.reduce(0, +)
      let count = plans.map(\.deletedCount).max() ?? 0
      if gone - count > model.limits.hold.deletes { continue }
      found.released += same
      found.releasedCount += min(gone, count)
      found.releasedPlans += plans.map(\.number)
      found.held.removeAll { $0.node == node }
    }
    return found
  }

  /// The nodes that would be deleted with the references to a missing node, by collection.
  private func consequences(
    of missing: [DanglingReferences.Missing]
  ) throws -> [String: Int] {
    try store.transaction(.repeatableRead, isDurable: false) {
      var closure = try Closure(store, journal: nil)
      try closure.begin(with: missing)
      try closure.complete()
      let counts = try closure.countByCollection(includingFirst: false)
      return Dictionary(counts.map { ($0.0.collection, $0.1) }, uniquingKeysWith: +)
    }
  }

  /// Has the held values wait for approval, at the end of a sweep that has found them.
  func holdValues(_ found: DanglingFound, _ result: inout SweepResult) throws {
    // What cannot be seen is not settled.
    if !store.binding.problems.isEmpty { return }
    let known = try heldValuePlans()
    if found.held.isEmpty && known.isEmpty { return }
    var values: [HeldValue] = []
    for missing in found.held.sorted(by: { $0.count > $1.count }).prefix(100) {
      var value = missing.held
      value.byCollection = try consequences(of: found.held.filter { $0.node == missing.node })
      values.append(value)
    }
    try store.transaction {
      for plan in known where !values.contains(where: { $0.identity == plan.value.identity }) {
        try deletePlan(plan.number)
      }
      for value in values { result.hold(value, plan: try persist(value)) }
    }
  }

  // MARK: - Their plans

  func heldValuePlans() throws -> [HeldValuePlan] {
    try db.run(
      """
      SELECT number, value, lost, deleted, is_approved FROM cascade.plan
      WHERE value IS NOT NULL ORDER BY number
      """
    ).rows.compactMap { row in
      HeldValue(identity: (try? JSON.parse(row[1]!)) ?? .null, count: Int(row[2]!)!).map {
        HeldValuePlan(
          number: Int64(row[0]!)!, value: $0, deletedCount: Int(row[3]!)!, isApproved: row[4] == "t"
        )
      }
    }
  }

  /// Returns the number of the plan: the same one as long as the value is found again.
  private func persist(_ held: HeldValue) throws -> Int64 {
    let identity = held.identity.text
    let same = try db.run(
      """
      UPDATE cascade.plan SET deleted = \(held.deletedCount), lost = \(held.count), is_approved = false
      WHERE value = $1 RETURNING number
      """, [identity]
    ).integer
    if let same { return same }
    return try db.run(
      """
      INSERT INTO cascade.plan(file, id, checksum, deleted, lost, by_collection, value)
      VALUES($1, $2, \(Fingerprint(identity).signed), \(held.deletedCount), \(held.count), '{}', $3)
      RETURNING number
      """, [[SweepKind.dangling].planFile, HeldPlan.sweep, identity]
    ).integer!
  }

  func deletePlan(_ number: Int64) throws {
    try db.run("DELETE FROM cascade.plan WHERE number = \(number)")
  }
}

extension PostgresReader {
  package func plan(ofHeld value: HeldValue) throws -> Plan {
    try ask { store in
      let missing = try DanglingReferences(store).find(telling: true)
      var closure = try Closure(store, journal: nil)
      try closure.begin(with: missing.filter { $0.node == value.missing })
      try closure.complete()
      return try closure.plan(limit: Receipt.mostListed, includingFirst: false)
    }
  }
}
