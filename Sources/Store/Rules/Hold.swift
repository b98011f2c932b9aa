internal import Model
internal import SQLite

/// More would be deleted than happens by intention: nothing is, until somebody agrees (DESIGN 8.4).
package struct Held: Error {
  package let id: String
  package let deletedCount: Int
  package let byCollection: [String: Int]
  /// Of everything that would go: an approval is for this and nothing else.
  let checksum: Int64
}

extension Writer {
  func refuseOverLimit() throws {
    if current.deletedCount <= model.limits.hold.deletes { return }
    let counts = try countsByCollection()
    let isOver = counts.contains { Double($0.gone) > model.limits.hold.share * Double($0.all) }
    if !isOver { return }
    let held = Held(
      id: current.id, deletedCount: current.deletedCount,
      byCollection: Dictionary(uniqueKeysWithValues: counts.map { ($0.name, $0.gone) }),
      checksum: try checksumOfGone())
    if try !takeApproval(held) { throw held }
  }

  private func countsByCollection() throws -> [(name: String, gone: Int, all: Int)] {
    try db.all(
      """
      SELECT c.name, g.gone, (SELECT count(*) FROM cascade_node WHERE collection = c.id)
      FROM (
        SELECT n.collection AS collection, count(*) AS gone
        FROM temp.gone AS g CROSS JOIN cascade_node AS n ON n.id = g.id
        WHERE g.id < ? OR g.id NOT IN (SELECT id FROM temp.dead)
        GROUP BY 1
      ) AS g JOIN cascade_collection AS c ON c.id = g.collection
      """, .integer(current.firstNewId)
    ) { ($0.text(0), Int($0.integer(1)), Int($0.integer(2))) }
  }

  /// Independent of order and of ids: the same nodes give the same sum.
  private func checksumOfGone() throws -> Int64 {
    var sum: UInt64 = 0
    try db.each(
      """
      SELECT n.collection, n.key FROM temp.gone AS g CROSS JOIN cascade_node AS n ON n.id = g.id
      """
    ) { sum &+= fingerprint("\($0.integer(0))/\($0.text(1))".utf8) }
    return Int64(bitPattern: sum)
  }

  /// An approval covers one plan, once.
  private func takeApproval(_ held: Held) throws -> Bool {
    try db.run(
      "DELETE FROM cascade_plan WHERE id = ? AND checksum = ? AND approved",
      .text(held.id), .integer(held.checksum))
    return db.changes == 1
  }

  /// Keeps what was held, for `approve`. The same plan again is the same plan.
  package func keepPlan(_ held: Held) throws -> Int64 {
    try db.run(
      "INSERT INTO cascade_plan(id, checksum, deleted) VALUES(?, ?, ?) ON CONFLICT DO NOTHING",
      .text(held.id), .integer(held.checksum), .integer(Int64(held.deletedCount)))
    return try db.integer(
      "SELECT plan FROM cascade_plan WHERE id = ? AND checksum = ?", .text(held.id),
      .integer(held.checksum))!
  }

  /// The id of the transaction that the plan belongs to; nil if nobody waits for this.
  package func approve(plan: Int64) throws -> String? {
    try group {
      try db.first(
        "UPDATE cascade_plan SET approved = 1 WHERE plan = ? RETURNING id", .integer(plan)
      ) { $0.text(0) }
    }
  }
}

/// 64 bits that tell contents apart; not a protection against somebody who wants them alike.
package func fingerprint(_ bytes: some Sequence<UInt8>) -> UInt64 {
  var state: UInt64 = 0xcbf2_9ce4_8422_2325
  for byte in bytes { state = (state ^ UInt64(byte)) &* 0x100_0000_01b3 }
  return state ^ (state >> 29)
}
