internal import CascadeModel
internal import CascadeEngine
internal import CascadePostgres
package import CascadeStore
internal import PostgresSweeps
internal import PostgresTables

/// Plans that wait for approval.
extension PostgresWriter {
  /// The same plan keeps its number.
  package func persistPlan(_ held: HeldPlan, file: String) throws -> Int64 {
    let same = try db.run(
      """
      SELECT number FROM cascade.plan
      WHERE file = $1 AND id = $2 AND checksum = \(held.checksum) AND \(isOfSet)
      """, [file, held.id]
    ).integer
    if let same { return same }
    try deletePlans(ofFile: file)
    return try db.run(
      """
      INSERT INTO cascade.plan(file, id, checksum, deleted, lost, by_collection)
      VALUES($1, $2, \(held.checksum), \(held.deletedCount), \(held.lostCount), $3) RETURNING number
      """, [file, held.id, held.byCollection.countText]
    ).integer!
  }

  package func filesHeld(underIdOf held: HeldPlan, but file: String) throws -> [String] {
    try db.run(
      "SELECT file FROM cascade.plan WHERE id = $1 AND file <> $2 AND NOT is_approved",
      [held.id, file]
    ).texts
  }

  package func deletePlans(ofFile file: String) throws {
    try db.run("DELETE FROM cascade.plan WHERE file = $1 AND \(isOfSet)", [file])
  }

  /// One that is about neither one value nor the causes that it owns.
  private var isOfSet: String { "value IS NULL AND NOT owns_causes" }

  /// The answer to what is held for the sum empties the window.
  package func approve(plan: Int64) throws -> ApprovedPlan? {
    let file = try db.run(
      """
      WITH p AS (UPDATE cascade.plan SET is_approved = true WHERE number = \(plan)
          RETURNING file, is_of_sum),
        r AS (\(RecentDeletions.emptying) WHERE (SELECT is_of_sum FROM p))
      SELECT file FROM p
      """
    ).text
    guard let file else { return nil }
    if let job = DeletionJob.job(ofPlanFile: file) {
      try JobRows(store).letGoOn(ofPlan: plan)
      return .job(job)
    }
    return file.hasPrefix("/") ? .sweep([SweepKind](planFile: file)) : .file(file)
  }

  /// The plan of what a search of whole tables has found is approved for the nodes that it would delete,
  /// and for no other ones. Returns its number.
  func approvedPlan(_ held: HeldPlan, _ kinds: [SweepKind]) throws -> Int64? {
    try approvedPlan(held, where: "file = $1", kinds.planFile)
  }

  func isApproved(_ held: HeldPlan, ofFile id: String) throws -> Bool {
    try approvedPlan(held, where: "id = $1", id) != nil
  }

  private func approvedPlan(
    _ held: HeldPlan, where condition: String, _ value: String
  ) throws -> Int64? {
    try db.run(
      """
      SELECT max(number) FROM cascade.plan WHERE \(condition) AND is_approved AND \(isOfSet)
      AND checksum = \(held.checksum) AND \(held.lostCount) - lost <= \(model.limits.hold.deletes)
      """, [value]
    ).integer
  }

  package var heldSweeps: [SweepResult] {
    get throws {
      try db.run(
        """
        SELECT number, file, deleted, by_collection, lost, value FROM cascade.plan
        WHERE file LIKE '/%' AND file NOT LIKE '/job %' AND NOT is_approved ORDER BY number
        """
      ).rows.map { row in
        let kinds = [SweepKind](planFile: row[1]!)
        var result = SweepResult(kinds: kinds, outcome: .nothing)
        let held = HeldPlan(
          id: HeldPlan.sweep, deletedCount: Int(row[2]!)!,
          byCollection: [String: Int](counts: row[3]!),
          lostCount: Int(row[4]!)!, checksum: 0)
        result.hold(held, kinds, plan: Int64(row[0]!)!)
        result.heldValue = row[5].flatMap { try? JSON.parse($0) }.flatMap {
          HeldValue(identity: $0, count: result.heldEdges)
        }
        return result
      }
    }
  }

  /// Noted behind what was held, as plans come from many places. A plan of a file has its age from the spool.
  package func noteHeldPlans(at now: Int64) throws -> Int64? {
    if isDetached { return nil }
    let isWaiting = "NOT is_approved AND file LIKE '/%'"
    let isNew = "\(isWaiting) AND at IS NULL"
    if try db.run("SELECT EXISTS (SELECT FROM cascade.plan WHERE \(isNew))").bool {
      try db.run("UPDATE cascade.plan SET at = \(now) WHERE \(isNew)")
    }
    return try db.run("SELECT min(at) FROM cascade.plan WHERE \(isWaiting)").integer
  }

  // MARK: - Verdicts of change files

  package func saveVerdict(_ verdict: FileVerdict) throws {
    try db.run(
      """
      INSERT INTO cascade.verdict VALUES(\(bytes(verdict.name)), \(verdict.fingerprint), $1)
      ON CONFLICT(name) DO UPDATE
      SET fingerprint = excluded.fingerprint, reasons = excluded.reasons
      """, [verdict.reasons])
  }

  private func bytes(_ name: [UInt8]) -> String {
    let digits = name.map { byte in
      let text = String(byte, radix: 16)
      return text.utf8.count == 1 ? "0\(text)" : text
    }
    return "'\\x\(digits.joined())'::bytea"
  }

  package var verdicts: [FileVerdict] {
    get throws {
      if isDetached { return [] }
      return try db.run("SELECT encode(name, 'hex'), fingerprint, reasons FROM cascade.verdict")
        .rows.map {
          FileVerdict(name: bytes(hex: $0[0]!), fingerprint: Int64($0[1]!)!, reasons: $0[2])
        }
    }
  }

  private func bytes(hex: String) -> [UInt8] {
    let digits = hex.utf8.map { UInt8($0 < 58 ? $0 - 48 : $0 - 87) }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  package func deleteVerdicts(but stuck: Set<[UInt8]>) throws {
    if isDetached { return }
    let kept = stuck.map { bytes($0) }.joined(separator: ", ")
    try db.run(
      "DELETE FROM cascade.verdict" + (stuck.isEmpty ? "" : " WHERE name NOT IN (\(kept))"))
  }
}
