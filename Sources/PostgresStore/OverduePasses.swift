internal import CascadeEngine
internal import CascadeModel
internal import CascadePostgres
package import CascadeStore
internal import PostgresTables

/// Passes over collections of which rows are overdue (`ExpiryPasses`).
extension PostgresWriter: ExpiringStore {
  package func lastPass(named pass: String) throws -> DeletionJob? {
    try JobRows(store).lastPass(named: pass)
  }

  package func isAny(_ overdue: Overdue) throws -> Bool {
    try store.transaction(.repeatableRead) { try store.overdueRows(overdue).isAny(store) }
  }

  package func insert(
    pass: DeletionJob.Request, standing: Int?, replacing last: Int64?, at now: Int64
  ) throws -> Int64 {
    try store.transaction {
      let rows = JobRows(store)
      if let last { try rows.delete(last) }
      return try rows.insert(pass, standing: standing, at: now)
    }
  }
}

extension PostgresReader: ExpiryPasses {
  package func lastPass(named pass: String) throws -> DeletionJob? {
    try ask { try JobRows($0).lastPass(named: pass) }
  }

  package func countOverdue(at now: Int64) throws -> OverdueCount {
    let overdue = try overdue(at: now)
    return try ask { store in
      try overdue.reduce(into: OverdueCount()) { count, overdue in
        guard let rows = try? store.overdueRows(overdue) else { return }
        try count.add(rows.count(store))
      }
    }
  }
}
