/// Which causes a sweep reads: rows of the journal, and those of `work` that wait.
///
/// 1. A held plan owns the causes that its sweep had read, until it is approved or rejected. No other
///    sweep reads them.
/// 2. A row that tells that a key was used again belongs to each plan that owns a deletion of that key. So the
///    order of what happened to a key is in the journal as long as anybody may ask for it.
/// 3. Rows of a plan have no `seq`: its index finds only what is still to be read.
package enum Causes: Hashable, Sendable {
  /// All there are, where no plan owns any: a condition would only mislead a server that knows nothing of
  /// the table.
  case all
  /// Those that belong to nobody.
  case unplanned
  case ofPlan(Int64)

  /// Of what a search of whole tables has found, within the transaction that journals it.
  package static let found = Causes.ofPlan(0)

  /// Whether a row is one of them.
  package func include(_ row: String) -> String {
    switch self {
    case .all: "true"
    case .unplanned: "\(row).plan IS NULL"
    case .ofPlan(let number): "\(row).plan = \(number)"
    }
  }

  package var isOfPlan: Bool {
    if case .ofPlan = self { true } else { false }
  }

  /// What their rows have in the column `plan`.
  package var plan: String {
    if case .ofPlan(let number) = self { "\(number)" } else { "NULL" }
  }

  /// Whether a row belongs to a held plan.
  package static func areHeld(_ row: String) -> String { "\(row).plan IS NOT NULL" }
}
