internal import CascadeSQLite
internal import SQLiteTables

extension InspectedRelationship {
  /// The table whose rows refer.
  var source: String { join?.table ?? from }

  /// The column whose values may look like "none"; nil with several.
  var valueColumn: String? {
    let isSingle = columns.count == 1 && [.foreignKey, .name].contains(found)
    return isSingle || found == .typed ? columns[0] : nil
  }

  /// The condition under which a row counts as an orphan.
  var isOrphan: String { "\(refers) AND \(dangles)" }
}

extension Database {
  /// Counts the rows that refer, those that refer to nothing, and the values that look like "none".
  func count(_ reference: inout InspectedRelationship, in table: Table) throws {
    let from = "FROM main.\(quoted(table.name)) AS c"
    let (refers, dangles) = (reference.refers, reference.dangles)
    let sums = try sum(over: table, 2) { part in
      try rows(
        """
        SELECT count(*), ifnull(sum(\(dangles)), 0) \(from)
        WHERE \(part.condition) AND \(refers)
        """, part.values)[0].map { Int($0.integer ?? 0) }
    }
    (reference.rows, reference.orphans) = (sums[0], sums[1])
    if let column = reference.valueColumn, reference.orphans > 0 {
      try findNone(&reference, ReferenceSQL.column(column), in: table)
    }
  }

  /// A value that this many rows share, and that no row of the other table has, may mean "none".
  private static let manyRows = 10

  private func findNone(
    _ reference: inout InspectedRelationship, _ column: String, in table: Table
  ) throws {
    let counts = try danglingValues(reference, column, in: table)
    let usual = counts.filter(\.key.looksLikeNone)
    let orphans = reference.orphans - usual.values.reduce(0, +)
    // Half of all orphans: a deleted row that had many others leaves a value like that, too.
    let shared = counts.filter {
      !$0.key.looksLikeNone && $0.value >= Database.manyRows && $0.value * 2 > orphans
    }
    reference.none = (usual.sorted { $0.value > $1.value } + shared).map(\.key)
    if let (_, count) = shared.first {
      reference.evidence += "; \(count) rows have the same value, which may mean \"none\""
    }
    reference.rows -= reference.orphans - orphans
    reference.orphans = orphans
    if !usual.isEmpty {
      let list = usual.keys.map(\.sql).sorted().joined(separator: ", ")
      reference.refers += " AND \(column) NOT IN (\(list))"
    }
  }

  /// Distinct values beyond this number are of no interest: few rows share them.
  private static let mostValues = 200_000

  private func danglingValues(
    _ reference: InspectedRelationship, _ column: String, in table: Table
  ) throws -> [Value: Int] {
    var counts: [Value: Int] = [:]
    try eachPart(of: table) { part in
      try rows(
        """
        SELECT \(column), count(*) FROM main.\(quoted(table.name)) AS c
        WHERE \(part.condition) AND \(reference.isOrphan) GROUP BY 1
        ORDER BY 2 DESC LIMIT \(Database.mostValues)
        """, part.values)
    } take: { found in
      for row in found { counts[row[0], default: 0] += Int(row[1].integer ?? 0) }
      return true
    }
    return counts
  }

  /// Rows with at least one reference to nothing.
  func orphans(of references: [InspectedRelationship], in table: Table) throws -> Int {
    if references.count < 2 { return references.first?.orphans ?? 0 }
    let any = references.map { "(\($0.isOrphan))" }.joined(separator: " OR ")
    return try sum(over: table, 1) { part in
      let sql = """
        SELECT count(*) FROM main.\(quoted(table.name)) AS c
        WHERE \(part.condition) AND (\(any))
        """
      return [Int(try rows(sql, part.values)[0][0].integer ?? 0)]
    }[0]
  }

  private static let mostExamples = 5
  private static let exampleColumns = 6

  /// Some rows that refer to nothing: the key, the reference, and what stands first.
  func examples(
    of reference: InspectedRelationship, in table: Table
  ) throws -> [InspectedRelationship.Example] {
    let ends = reference.join.map { $0.source + $0.destination } ?? reference.columns
    let first = table.columns.filter { !$0.isGenerated }.map(\.name)
    var names: [String] = []
    for name in table.primaryKey + ends + first where !names.contains(name) { names.append(name) }
    names = Array(names.prefix(max(Database.exampleColumns, table.primaryKey.count + ends.count)))
    var found: [InspectedRelationship.Example] = []
    try eachPart(of: table) { part in
      try rows(
        """
        SELECT \(names.map(ReferenceSQL.column).joined(separator: ", "))
        FROM main.\(quoted(table.name)) AS c
        WHERE \(part.condition) AND \(reference.isOrphan) LIMIT \(Database.mostExamples)
        """, part.values)
    } take: { rows in
      found += rows.map { Array(zip(names, $0)).map { (column: $0, value: $1) } }
      return found.count < Database.mostExamples
    }
    return Array(found.prefix(Database.mostExamples))
  }
}
