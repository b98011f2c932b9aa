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
    ) { sum &+= Fingerprint("\($0.integer(0))/\($0.text(1))").value }
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
  package func keepPlan(_ held: Held, file: String) throws -> Int64 {
    try db.run(
      """
      INSERT INTO cascade_plan(id, file, checksum, deleted) VALUES(?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET file = excluded.file
      """, .text(held.id), .text(file), .integer(held.checksum),
      .integer(Int64(held.deletedCount)))
    return try db.integer(
      "SELECT plan FROM cascade_plan WHERE id = ? AND checksum = ?", .text(held.id),
      .integer(held.checksum))!
  }

  /// The file in the spool that the plan belongs to; nil if nobody waits for this.
  package func approve(plan: Int64) throws -> String? {
    try group {
      try db.first(
        "UPDATE cascade_plan SET approved = 1 WHERE plan = ? RETURNING file", .integer(plan)
      ) { $0.text(0) }
    }
  }
}
