package import CascadeSQLite
package import SQLiteBinding
package import SQLiteTables

/// The rows of join tables, by their ends. The keys of the ends are those of `temp.known`.
extension Writer {
  /// The edge of each row between two nodes.
  package func joinEdges(
    _ relation: EdgeRelation, from source: Value, to destination: Value
  ) throws -> [RowEdge] {
    try db.all(generated: relation.joinEdges, [source, destination]) { edge(relation, $0) }
  }

  /// The keys of the other ends of a node's rows.
  package func joinedKeys(_ relation: EdgeRelation, from source: Value) throws -> [Value] {
    guard let reference = relation.sourceReference else { return [] }
    return try db.all(
      generated: """
        SELECT DISTINCT \(relation.destination.asKey(relation.reference)) \(relation.joinRows)
        WHERE \(relation.source.referenceHasKey("?1", of: reference)) AND \(relation.isEdge)
        """, [source]
    ) { $0.value(0) }
  }

  /// The keys of the rows between two nodes, if the rows are nodes, too.
  package func joinRowKeys(
    _ relation: EdgeRelation, in nodes: NodeTable, from source: Value, to destination: Value
  ) throws -> [Value] {
    try db.all(
      generated: "SELECT \(nodes.key("j")) \(relation.joinRows) WHERE \(relation.isBetweenEnds)",
      [source, destination]
    ) { $0.value(0) }
  }

  /// Deletes the rows between two nodes. Returns the values in them that named the ends.
  package func deleteJoinRows(
    _ relation: EdgeRelation, from source: Value, to destination: Value
  ) throws -> [(source: Value, destination: Value)] {
    guard let reference = relation.sourceReference else { return [] }
    let values = "\(reference.value), \(relation.reference.value)"
    let isBetween = relation.isBetweenEnds
    let references = try db.all(
      generated: "SELECT \(values) \(relation.joinRows) WHERE \(isBetween)", [source, destination]
    ) { ($0.value(0), $0.value(1)) }
    try db.run(
      generated: "DELETE \(relation.joinRows) WHERE \(isBetween)", [source, destination])
    return references
  }
}

extension EdgeRelation {
  /// The rows of the join table, called j.
  fileprivate var joinRows: String { "FROM main.\(quoted(joinTable?.name ?? "")) AS j" }

  /// Whether such a row leads from the key that is bound first to the one that is bound second.
  fileprivate var isBetweenEnds: String {
    guard let sourceReference else { return "0" }
    return "\(source.referenceHasKey("?1", of: sourceReference)) "
      + "AND \(destination.referenceHasKey("?2", of: reference)) AND \(isEdge)"
  }

  /// A query: for each row between two keys, whether its source exists, its key and its row; the same
  /// of the destination.
  fileprivate var joinEdges: String {
    guard let sourceReference else { return "SELECT 1 WHERE 0" }
    let isThere = source.isNode("s")
    return """
      SELECT \(isThere), iif(\(isThere), \(source.key("s")), \(source.asKey(sourceReference))),
        \(source.row("s")), \(destinationEnd)
      \(joinRows) LEFT JOIN \(source.rows) AS s ON \(source.hasKey("s", sourceReference))
      \(lookedUpDestination) WHERE \(isBetweenEnds)
      """
  }
}
