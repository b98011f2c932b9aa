package import CascadeModel
internal import CascadePostgres
package import CascadeStore
internal import PostgresBinding
internal import PostgresTables

/// Whether a model fits its database, which need not be attached. Nothing is written.
package struct ModelJudgement: Sendable {
  /// Without any, the model fits.
  package private(set) var problems: [ModelProblem] = []
  /// What would be slow, not seen or not allowed.
  package private(set) var findings: [SetupFinding] = []
  /// What refers to nothing now, and what breaks a demand of the model.
  package private(set) var references = Findings()

  package init(of model: StoreModel, at path: String, limit: Int) throws {
    let store = try StoreConnection(path, model, lockTimeout: .seconds(5), isJudging: true)
    try store.transaction(.repeatableRead, beginningWith: "SET TRANSACTION READ ONLY") { _ in
      try judge(store, limit)
    }
  }

  /// Without all rights, the server would say that what is there is not.
  private mutating func judge(_ store: StoreConnection, _ limit: Int) throws {
    try store.refuseOtherLayouts()
    let missing = try MissingGrants(store).statements()
    findings = missing.map {
      SetupFinding(kind: .binding, table: nil, message: "the daemon's role lacks a right: \($0)")
    }
    if !findings.isEmpty { return }
    try store.bindToJudge()
    problems = store.binding.problems
    findings = try SetupCheck(store).findingsOfDatabase()
    if !problems.isEmpty { return }
    references = try store.readingWholeTables { try ReferenceCheck(store).findings(limit) }
  }
}
