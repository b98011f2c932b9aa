internal import CascadeSQLite
internal import SQLiteTables

extension Database {
  /// The number of rows that nothing refers to. Nil if that cannot be told without reading every
  /// table for every row.
  func unreferenced(
    _ table: SampledTable, by references: [InspectedRelationship], _ tables: [String: Table]
  ) throws -> Int? {
    var conditions: [String] = []
    for (number, reference) in references.enumerated() {
      guard let source = tables[reference.from] else { return nil }
      if reference.found != .list, reference.isIndexed {
        conditions.append(isReferred(by: reference))
      } else if reference.toColumns.count == 1 {
        let collected = "temp.referred_\(number)"
        try collect(
          reference, of: source, key: table.table.column(reference.toColumns[0]), collected)
        conditions.append(
          "c.\(quoted(reference.toColumns[0])) IN (SELECT key FROM \(collected))")
      } else {
        return nil
      }
    }
    defer {
      for number in references.indices {
        try? db.execute("DROP TABLE IF EXISTS temp.referred_\(number)")
      }
    }
    return try sum(over: table.table, 1) { part in
      let sql = """
        SELECT count(*) FROM main.\(quoted(table.name)) AS c
        WHERE \(part.condition) AND NOT (\(conditions.joined(separator: " OR ")))
        """
      return [Int(try rows(sql, part.values)[0][0].integer ?? 0)]
    }[0]
  }

  private func isReferred(by reference: InspectedRelationship) -> String {
    var same = zip(reference.columns, reference.toColumns).map {
      "r.\(quoted($0)) = +c.\(quoted($1))"
    }
    if let type = reference.type {
      same.append("r.\(quoted(reference.columns[1])) = \(literal(type))")
    }
    return "EXISTS (SELECT 1 FROM main.\(quoted(reference.from)) AS r "
      + "WHERE \(same.joined(separator: " AND ")))"
  }

  /// Collects what a reference without an index says, in a table that has one.
  private func collect(
    _ reference: InspectedRelationship, of source: Table, key: Table.Column?, _ collected: String
  ) throws {
    let type = key.map { "\($0.affinity.declaration) COLLATE \(quoted($0.collation))" } ?? ""
    try db.execute("DROP TABLE IF EXISTS \(collected)")
    try db.execute("CREATE TABLE \(collected)(key \(type) PRIMARY KEY) WITHOUT ROWID")
    let isList = reference.found == .list
    let value = isList ? "e.value" : ReferenceSQL.column(reference.columns[0])
    let elements = isList ? ", \(ReferenceSQL.elements(reference.columns[0]))" : ""
    try eachPart(of: source) { part in
      try rows(
        """
        INSERT OR IGNORE INTO \(collected)
        SELECT \(value) FROM main.\(quoted(source.name)) AS c\(elements)
        WHERE \(part.condition) AND \(reference.refers) AND \(value) IS NOT NULL
        """, part.values)
    } take: { _ in
      true
    }
  }
}

extension Table.Affinity {
  fileprivate var declaration: String {
    switch self {
    case .integer: "INTEGER"
    case .text: "TEXT"
    case .blob: ""
    case .real: "REAL"
    case .numeric: "NUMERIC"
    }
  }
}
