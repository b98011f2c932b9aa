internal import CascadeModel
internal import CascadeEngine
internal import CascadePostgres
internal import CascadeStore
internal import PostgresSweeps
internal import PostgresTables

/// A held plan that owns its causes (`Causes`). It keeps its number until they have passed or were given up.
struct CausePlan {
  let number: Int64
  let kinds: [SweepKind]
  let deletedCount: Int
  let byCollection: [String: Int]

  /// Whether one was approved, and its causes wait for a sweep.
  static let isApproved = "EXISTS (\(approved))"
  static let firstApproved = "(SELECT min(p.number) FROM (\(approved)) p)"
  private static let approved =
    "SELECT p.number FROM cascade.plan p WHERE p.owns_causes AND p.is_approved"

  static func nextApproved(after number: Int64, _ store: StoreConnection) throws -> Int64? {
    try store.db.run(
      "SELECT min(p.number) FROM (\(approved)) p WHERE p.number > \(number)"
    ).integer
  }

  static func read(_ number: Int64, _ store: StoreConnection) throws -> CausePlan? {
    try first("number = \(number) AND owns_causes", [], store)
  }

  /// The one that causes join which are held for the sum alone.
  static func openForSum(_ kinds: [SweepKind], _ store: StoreConnection) throws -> CausePlan? {
    try first("is_of_sum AND NOT is_approved AND file = $1", [kinds.planFile], store)
  }

  private static func first(
    _ condition: String, _ values: [String?], _ store: StoreConnection
  ) throws -> CausePlan? {
    try store.db.run(
      """
      SELECT number, file, deleted, by_collection FROM cascade.plan WHERE \(condition)
      ORDER BY number LIMIT 1
      """, values
    ).rows.first.map { row in
      CausePlan(
        number: Int64(row[0]!)!, kinds: [SweepKind](planFile: row[1]!),
        deletedCount: Int(row[2]!)!, byCollection: [String: Int](counts: row[3]!))
    }
  }

  // MARK: - Held

  /// Makes one in the transaction that has judged the sweep, which gives it the causes.
  static func make(
    _ held: HeldPlan, _ kinds: [SweepKind], isOfSum: Bool, _ store: StoreConnection
  ) throws -> Int64 {
    try store.db.run(
      """
      INSERT INTO cascade.plan(file, id, checksum, deleted, lost, by_collection, owns_causes, is_of_sum)
      VALUES($1, $2, 0, \(held.deletedCount), \(held.lostCount), $3, true, \(isOfSum))
      RETURNING number
      """, [kinds.planFile, held.id, held.byCollection.countText]
    ).integer!
  }

  /// What it would delete now waits for another approval.
  func hold(_ held: HeldPlan, _ store: StoreConnection) throws {
    try store.db.run(
      """
      UPDATE cascade.plan SET is_approved = false, deleted = \(held.deletedCount),
        lost = \(held.lostCount), by_collection = $1 WHERE number = \(number)
      """, [held.byCollection.countText])
  }

  /// With what joins it. A node that follows from either counts twice, as it is not looked for once more.
  func adding(_ held: HeldPlan) -> HeldPlan {
    HeldPlan(
      id: held.id, deletedCount: deletedCount + held.deletedCount,
      byCollection: byCollection.merging(held.byCollection, uniquingKeysWith: +),
      lostCount: held.lostCount, checksum: 0)
  }

  /// Forgets it when its causes have passed; what another session had locked is still one, and the approval
  /// covers what has not gone yet. What waits for another kind of sweep, or for a table to fit again, belongs
  /// to no plan then.
  static func end(
    _ number: Int64, deleted: [String: Int] = [:], _ store: StoreConnection
  ) throws {
    try store.db.run("UPDATE cascade.work SET plan = NULL WHERE plan = \(number)")
    try store.db.run(
      """
      DELETE FROM cascade.plan WHERE number = \(number)
      AND NOT EXISTS (SELECT FROM cascade.journal j WHERE j.plan = \(number))
      """)
    guard let rest = try read(number, store) else {
      return try SparedCauses.forget(number, store)
    }
    if !deleted.isEmpty { try rest.spend(deleted, store) }
  }

  private func spend(_ deleted: [String: Int], _ store: StoreConnection) throws {
    let rest = byCollection.merging(deleted) { max(0, $0 - $1) }.filter {
      byCollection[$0.key] != nil
    }
    try store.db.run(
      """
      UPDATE cascade.plan SET deleted = \(rest.values.reduce(0, +)), by_collection = $1
      WHERE number = \(number)
      """, [rest.countText])
  }
}
