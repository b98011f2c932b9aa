package import CascadeModel
package import CascadePostgres
package import CascadeStore
package import PostgresBinding

/// Constraints of the application that may be checked at the end of a transaction.
///
/// 1. Each change file is judged at its own end. The transaction, which it shares with others, could only
///    tell that one of them is at fault.
/// 2. Until then, all that can be deferred is: the changes of a file may come in any order.
package struct DeferredConstraints {
  private let store: StoreConnection

  package init(_ store: StoreConnection) { self.store = store }

  /// Checks what can be deferred at the next `check`.
  package func postpone() throws { try set("DEFERRED") }

  /// Checks what waits now, and from now on at once.
  package func check() throws { try set("IMMEDIATE") }

  private func set(_ time: String) throws {
    if store.canDefer { try store.db.execute("SET CONSTRAINTS ALL \(time)") }
  }

  // MARK: - The rows that violate them

  /// The same, and finds out which of these rows refer to what is not there, as long as they are there.
  package func check(of rows: [(table: MappedTable, keys: Set<String>)]) throws {
    do {
      try store.db.savepoint { try check() }
    } catch let violation as PostgresError where violation.isAboutTheValue {
      let nodes = try rows.flatMap { try violating(violation, $0.table, $0.keys) }
      throw Rejection(
        nodes.isEmpty
          ? [Reason(refusal: violation)] : nodes.map { Reason(refusal: violation, of: $0) })
    }
  }

  private func violating(
    _ violation: PostgresError, _ table: MappedTable, _ keys: Set<String>
  ) throws -> [Node] {
    guard violation.isForeignKeyViolation, let constraint = violation.constraint,
      let isViolated = try isViolated(constraint, on: table)
    else { return [] }
    return try store.db.run(
      """
      SELECT \(table.key.text("r")) FROM \(table.name) r
      WHERE \(table.key.isAny("r", "$1")) AND \(isViolated) ORDER BY 1 LIMIT \(Receipt.mostListed)
      """, [arrayText(keys.sorted())]
    ).texts.map(table.node)
  }

  /// A condition for the row `r`; nil if the constraint is of another table.
  private func isViolated(
    _ constraint: PostgresError.Constraint, on table: MappedTable
  ) throws -> String? {
    try store.db.run(
      """
      SELECT format('%s AND NOT EXISTS (SELECT FROM %s o WHERE %s)',
        string_agg(format('r.%I IS NOT NULL', a.attname), ' AND '), c.confrelid::regclass,
        string_agg(format('o.%I = r.%I', o.attname, a.attname), ' AND '))
      FROM pg_constraint c CROSS JOIN LATERAL unnest(c.conkey, c.confkey) k(own, other)
      JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.own
      JOIN pg_attribute o ON o.attrelid = c.confrelid AND o.attnum = k.other
      WHERE c.contype = 'f' AND c.conname = $1 AND c.conrelid = $2::regclass
      AND c.conrelid = to_regclass(format('%I.%I', $3::text, $4::text)) GROUP BY c.confrelid
      """, [constraint.name, table.name, constraint.schema, constraint.table]
    ).text
  }
}

extension Reason {
  /// What a constraint or a trigger of the application refuses: a foreign key denies, and others
  /// demand something of the values.
  package init(refusal: PostgresError, of node: Node? = nil) {
    let place = node.map { "\($0): " } ?? ""
    self.init(
      refusal.isForeignKeyViolation ? .denied : .invalid, place + refusal.sentence, node: node)
  }
}
