internal import CascadeSQLite
internal import SQLiteBinding

extension InspectedRelationship {
  /// The table whose rows refer.
  var source: String { join?.table ?? from }

  /// Whether the values of one column are compared with one key.
  var hasOneColumn: Bool {
    columns.count == 1 && [.foreignKey, .name].contains(found) || found == .typed
  }

  /// The condition under which a row counts as an orphan.
  var isOrphan: String { "\(refers) AND \(dangles)" }
}

extension Database {
  /// Counts the rows that refer, those that refer to nothing, and the values that look like "none".
  /// `number` tells the relationships apart.
  func count(
    _ reference: inout InspectedRelationship, number: Int, in table: Table, parent: Table?
  ) throws {
    let key = parent?.column(reference.toColumns.first ?? "")
    guard reference.hasOneColumn, let key, reference.canBeCompared else {
      return try countRows(&reference, in: table)
    }
    let values = try collect(reference, into: "referred_\(number)", of: table, key: key)
    (reference.rows, reference.orphans) = try findDangling(
      values, in: reference.to, key: key.name)
    if reference.orphans > 0 { try findNone(&reference, values) }
    reference.values = values.name
    reference.dangles =
      "\(ReferenceSQL.column(reference.columns[0])) IN (SELECT value FROM temp.\(values.dangling))"
  }

  private func countRows(_ reference: inout InspectedRelationship, in table: Table) throws {
    let (refers, dangles) = (reference.refers, reference.dangles)
    let sums = try sum(over: RowSource(table), 2) { part in
      try rows(
        """
        SELECT count(*), ifnull(sum(\(dangles)), 0) FROM main.\(quoted(table.name)) AS c
        WHERE \(part.condition) AND \(refers)
        """, part.values)[0].map { Int($0.integer ?? 0) }
    }
    (reference.rows, reference.orphans) = (sums[0], sums[1])
  }

  /// A value that this many rows share, and that no row of the other table has, may mean "none".
  private static let manyRows = 10

  /// Those that look like "none" are no orphans.
  private func findNone(
    _ reference: inout InspectedRelationship, _ values: ReferredValues
  ) throws {
    var usual: [(value: Value, rows: Int)] = []
    var most: (value: Value, rows: Int)?
    try db.each(generated: "SELECT value, n FROM temp.\(values.dangling)") { row in
      let found = (value: row.value(0), rows: Int(row.integer(1)))
      if found.value.looksLikeNone {
        usual.append(found)
      } else if found.rows > most?.rows ?? 0 {
        most = found
      }
    }
    let without = usual.reduce(0) { $0 + $1.rows }
    reference.rows -= without
    reference.orphans -= without
    reference.none = usual.sorted { $0.rows > $1.rows }.map(\.value)
    for (value, _) in usual {
      try db.run(
        generated: "DELETE FROM temp.\(values.dangling) WHERE value IS ?1", [value])
    }
    // Half of all orphans: a deleted row that had many others leaves a value like that, too.
    if let most, most.rows >= Database.manyRows, most.rows * 2 > reference.orphans {
      reference.none.append(most.value)
      reference.evidence +=
        "; \(most.rows.grouped) rows have the same value, which may mean \"none\""
    }
  }

  /// Rows with at least one reference to nothing.
  func orphans(of references: [InspectedRelationship], in table: Table) throws -> Int {
    if references.count < 2 { return references.first?.orphans ?? 0 }
    let any = references.map { "(\($0.isOrphan))" }.joined(separator: " OR ")
    return try sum(over: RowSource(table), 1) { part in
      let sql = """
        SELECT count(*) FROM main.\(quoted(table.name)) AS c
        WHERE \(part.condition) AND (\(any))
        """
      return [Int(try rows(sql, part.values)[0][0].integer ?? 0)]
    }[0]
  }
}

extension InspectedRelationship {
  /// Whether it can be told which values are there.
  fileprivate var canBeCompared: Bool { dangles.hasPrefix("NOT EXISTS") }
}
