internal import CascadeModel
internal import CascadeEngine
package import CascadeSQLite
package import CascadeStore
internal import SQLiteTables

/// The plans of held values (`DanglingScan.swift`), among those of sweeps. One relationship and one
/// value have one plan, with the same number as long as they are found again.
extension Connection {
  package func heldValuePlans() throws(SQLiteError) -> [HeldValuePlan] {
    try all(
      """
      SELECT plan, value, referring, deleted, approved AND ended IS NULL, ended IS NOT NULL
      FROM cascade_plan WHERE value IS NOT NULL ORDER BY plan
      """
    ) { row in
      HeldValue(identity: (try? JSON.parse(row.text(1))) ?? .null, count: Int(row.integer(2))).map {
        HeldValuePlan(
          number: row.integer(0), value: $0, deletedCount: Int(row.integer(3)),
          isApproved: row.integer(4) != 0, isRejected: row.integer(5) != 0)
      }
    }.compactMap(\.self)
  }

  /// Returns the number of the plan.
  package func persist(_ held: HeldValue) throws(SQLiteError) -> Int64 {
    let identity = held.identity.text
    let checksum = Fingerprint(identity).signed
    return try integer(
      """
      INSERT INTO cascade_plan(plan, id, file, checksum, deleted, value, referring)
      VALUES(?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT(id, checksum) DO UPDATE
        SET deleted = excluded.deleted, referring = excluded.referring, approved = 0
      RETURNING plan
      """, .integer(try nextInSequence(of: .lastPlan)), .text(HeldPlan.sweep),
      .text([SweepKind.dangling].planFile), .integer(checksum), .integer(Int64(held.deletedCount)),
      .text(identity), .integer(Int64(held.count))) ?? 0
  }

  package func deletePlan(_ number: Int64) throws(SQLiteError) {
    try run("DELETE FROM cascade_plan WHERE plan = ?", .integer(number))
  }
}
