package import CascadeModel
package import CascadeSQLite
package import CascadeStore
package import CascadeEngine

/// All demands of the model.
package final class Demands {
  package let all: [Demand]
  /// The judgements of the nodes that a transaction touched, as long as the model is bound as it is:
  /// they have its numbers.
  package var ofTouched: [Judgement]?

  package init(_ model: StoreModel) { all = Demand.all(in: model) }

  package var isEmpty: Bool { all.isEmpty }

  /// Whether some demand depends on the types of objects.
  package private(set) lazy var dependOnTypes = all.contains { $0.dependsOnTypes }
}

/// One count that a demand asks for, ready to run.
package struct Judgement: Sendable {
  let demand: Demand
  /// The collection of the nodes whose other ends are counted: for `unique`, the destinations.
  let subject: String
  let isUnique: Bool
  private let sql: String

  package init(_ demand: Demand, subject: String, isUnique: Bool, sql: String) {
    (self.demand, self.subject, self.isUnique, self.sql) = (demand, subject, isUnique, sql)
  }

  package func violations(
    _ db: borrowing Connection, _ model: StoreModel, limit: Int
  ) throws -> [Reason] {
    try db.all(generated: sql, bounds + [.integer(Int64(limit))]) { row in
      let end = row.destination(0, in: subject, model)
      let title = isUnique ? end.json.text : end.node?.description ?? end.json.text
      return demand.violation(
        by: end.node, title, count: Int(row.integer(1)), isUnique: isUnique)
    }
  }

  package func violationCount(_ db: borrowing Connection) throws -> Int {
    let values = bounds + [.integer(.max)]
    return Int(try db.integer(generated: "SELECT count(*) FROM (\(sql))", values) ?? 0)
  }

  /// Too few: counts from the first up to the second. Too many: counts above the third.
  private var bounds: [Value] {
    if isUnique { return [.integer(0), .integer(-1), .integer(1)] }
    let (first, last) = demand.constraint.tooFew
    return [
      .integer(Int64(first)), .integer(Int64(last)),
      .integer(Int64(demand.constraint.max ?? .max)),
    ]
  }
}
