internal import CascadeSQLite
internal import SQLiteBinding

extension Database {
  /// The number of rows that nothing refers to. Nil if that cannot be told without reading another
  /// table for every row.
  func unreferenced(
    _ table: SampledTable, by references: [InspectedRelationship]
  ) throws -> Int? {
    var conditions: [String] = []
    for reference in references {
      if let values = reference.values {
        conditions.append(
          "c.\(quoted(reference.toColumns[0])) IN (SELECT value FROM temp.\(values))")
      } else if reference.found != .list, reference.isIndexed {
        conditions.append(isReferred(by: reference))
      } else {
        return nil
      }
    }
    return try sum(over: RowSource(table.table), 1) { part in
      let sql = """
        SELECT count(*) FROM main.\(quoted(table.name)) AS c
        WHERE \(part.condition) AND NOT (\(conditions.joined(separator: " OR ")))
        """
      return [Int(try rows(sql, part.values)[0][0].integer ?? 0)]
    }[0]
  }

  private func isReferred(by reference: InspectedRelationship) -> String {
    let same = zip(reference.columns, reference.toColumns).map {
      "r.\(quoted($0)) = +c.\(quoted($1))"
    }
    return "EXISTS (SELECT 1 FROM main.\(quoted(reference.from)) AS r "
      + "WHERE \(same.joined(separator: " AND ")))"
  }
}
