package import CascadeModel
package import CascadeSQLite
package import CascadeStore
internal import SQLiteBinding

/// Whether a model fits a database, and what the daemon would find there.
package struct ModelJudgement: Sendable {
  /// Without any, the model fits.
  package let problems: [ModelProblem]
  /// What would be slow, not seen, not deleted or not restored.
  package let findings: [SetupFinding]
  /// What refers to nothing now. In a store that was attached, also what breaks a demand of the model.
  package let references: Findings

  /// The connection only reads. The database may be one that was never attached.
  package init(of model: StoreModel, for db: consuming Connection, limit: Int) throws {
    let reader = try Reader(judging: db, by: model)
    let binding = try reader.binding()
    problems = binding.problems
    findings = try reader.setupFindings(of: binding)
    references = problems.isEmpty ? try reader.references(limit) : Findings()
  }
}

extension Reader {
  fileprivate func references(_ limit: Int) throws -> Findings {
    try isAttached() ? checkReferences(limit: limit) : checkReferencesOfRows(limit: limit)
  }
}
