internal import CascadeEngine
internal import CascadeModel
internal import CascadeSQLite
package import CascadeStore
internal import SQLiteBinding
internal import SQLiteEdges
internal import SQLiteRules
internal import SQLiteSweeps
package import SQLiteTables

/// Passes over collections of which rows are overdue (`ExpiryPasses`).
extension Writer: ExpiringStore {
  package func lastPass(named pass: String) throws -> DeletionJob? {
    try db.lastPass(named: pass)
  }

  package func isAny(_ overdue: Overdue) throws -> Bool {
    try adaptToSchema()
    return try db.isAny(db.overdueRows(overdue, binding))
  }

  package func insert(
    pass: DeletionJob.Request, standing: Int?, replacing last: Int64?, at now: Int64
  ) throws -> Int64 {
    try group {
      let number = try db.insertJob(pass, standing: standing, at: now)
      if let last { try db.deleteJob(last) }
      return number
    }
  }
}

extension Writer: MarkFollowing {}

extension Reader: ExpiryPasses {
  package func lastPass(named pass: String) throws -> DeletionJob? {
    try isAttached() ? db.lastPass(named: pass) : nil
  }

  package func countOverdue(at now: Int64) throws -> OverdueCount {
    try db.snapshot {
      let binding = try binding()
      return try overdue(at: now).reduce(into: OverdueCount()) { count, overdue in
        guard let rows = try? db.overdueRows(overdue, binding) else { return }
        try count.add(db.count(rows, before: overdue.before))
      }
    }
  }

  /// What is wrong with the ages of rows.
  func expiryFindings(_ binding: Binding) throws -> [SetupFinding] {
    let marks = binding.markProblems.map {
      SetupFinding(kind: .softDelete, table: nil, message: "\($0)")
    }
    return try marks
      + ExpiryFindings.all(of: model) { overdue in
        let rows = try db.overdueRows(overdue, binding)
        return try (db.countNoTimes(rows), db.areDoubtful(rows))
      }
  }
}
