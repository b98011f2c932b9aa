internal import CascadePostgres

/// Numbers of collections and relationships, which stay the same as long as the store is attached.
extension StoreConnection {
  /// Nil if there is none, and none is made. `values` tell it apart from the others of the table.
  package func number(
    _ table: String, _ columns: [String], _ values: [String], makes: Bool
  ) throws -> Int64? {
    let list = columns.joined(separator: ", ")
    let parameters = columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
    if let provisional {
      return try remembered(
        "SELECT number FROM cascade.\(table) WHERE (\(list)) = (\(parameters))", values
      ).first?[0].flatMap { Int64($0) } ?? provisional.number(of: [table] + values)
    }
    if makes {
      try db.run(
        "INSERT INTO cascade.\(table)(\(list)) VALUES(\(parameters)) ON CONFLICT DO NOTHING",
        values)
    }
    return try db.run(
      "SELECT number FROM cascade.\(table) WHERE (\(list)) = (\(parameters))", values
    ).integer
  }

  /// What a query of Cascade's own tables finds: nothing where a model is judged before there are any.
  func remembered(_ sql: String, _ values: [String?] = []) throws -> [[String?]] {
    if try provisional != nil && !isAttached { return [] }
    return try db.run(sql, values).rows
  }

  /// `parts` are the name, the source, the destination, and what tells apart the places of edges.
  package func number(relation parts: [String], makes: Bool) throws -> Int64? {
    try number("relation", ["name", "source", "destination", "part"], parts, makes: makes)
  }
}

/// Numbers of collections and relationships of a model that is only judged. No store has such numbers.
final class ProvisionalNumbers {
  private var numbers: [[String]: Int64] = [:]

  func number(of names: [String]) -> Int64 {
    let number = numbers[names] ?? -Int64(numbers.count + 1)
    numbers[names] = number
    return number
  }
}
