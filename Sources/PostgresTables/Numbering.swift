internal import CascadePostgres

/// Numbers of collections and relationships, which stay the same as long as the store is attached.
extension StoreConnection {
  /// Nil if there is none, and none is made. `values` tell it apart from the others of the table.
  package func number(
    _ table: String, _ columns: [String], _ values: [String], makes: Bool
  ) throws -> Int64? {
    let list = columns.joined(separator: ", ")
    let parameters = columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
    if makes {
      try db.run(
        "INSERT INTO cascade.\(table)(\(list)) VALUES(\(parameters)) ON CONFLICT DO NOTHING",
        values)
    }
    return try db.run(
      "SELECT number FROM cascade.\(table) WHERE (\(list)) = (\(parameters))", values
    ).integer
  }

  /// `parts` are the name, the source, the destination, and what tells apart the places of edges.
  package func number(relation parts: [String], makes: Bool) throws -> Int64? {
    try number("relation", ["name", "source", "destination", "part"], parts, makes: makes)
  }
}
