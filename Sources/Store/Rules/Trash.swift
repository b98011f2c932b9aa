internal import Model
internal import SQLite

/// What a batch deletes is kept, with what brought each node there, until its time is over.
extension Writer {
  func keepInTrash(_ slice: Slice) throws {
    try keepObjects()
    for table in binding.collections.values.sorted(by: { $0.id < $1.id }) {
      try db.keepRows(of: table, batch: current.batch)
    }
    try keepEdges()
  }

  private func keepObjects() throws {
    try db.run(
      """
      INSERT INTO cascade_trash(batch, id, collection, key, type, value, via, name, rule)
      SELECT ?, n.id, n.collection, n.key, n.type, n.value, g.via, g.name, g.rule
      FROM temp.gone AS g CROSS JOIN cascade_node AS n ON n.id = g.id
      WHERE g.counts AND n.id NOT IN (SELECT id FROM temp.known)
      ORDER BY n.id
      """, .integer(current.batch))
  }

  private func keepEdges() throws {
    try db.run(
      """
      INSERT OR IGNORE INTO cascade_trash_edge
      SELECT ?1, source, name, destination, origin, rules, born FROM cascade_edge
      WHERE source IN (SELECT id FROM temp.gone) AND born < ?2
      UNION ALL
      SELECT ?1, source, name, destination, origin, rules, born FROM cascade_edge
      WHERE destination IN (SELECT id FROM temp.gone) AND born < ?2
      UNION ALL
      SELECT ?1, source, name, destination, origin, rules, born FROM temp.lost
      WHERE EXISTS (SELECT 1 FROM temp.gone)
      """, .integer(current.batch), .integer(counters.serial))
  }
}

extension Connection {
  /// A row is kept as an object of its columns, each value as SQL writes it: nothing is lost. What
  /// was gone before anybody looked is kept as a name without a value: a link in the chain.
  fileprivate func keepRows(of table: NodeTable, batch: Int64) throws(SQLiteError) {
    guard let columns = table.table?.columns.filter({ !$0.isGenerated }) else { return }
    let members = columns.map { "\(literal($0.name)), \(written("d.\(quoted($0.name))"))" }
    try run(
      generated: """
        INSERT OR IGNORE INTO cascade_trash(batch, id, collection, key, type, value, via, name, rule)
        SELECT ?1, k.id, k.collection, k.key, NULL,
          iif(\(table.key("d")) IS NULL, NULL, json_object(\(members.joined(separator: ", ")))),
          g.via, g.name, g.rule
        FROM temp.gone AS g CROSS JOIN temp.known AS k
          ON k.id = g.id AND k.collection = \(table.id)
        LEFT JOIN \(table.rows) AS d ON \(table.isRow("d", of: "k"))
        """, [.integer(batch)])
  }

  /// `quote` ends a text at its first NUL.
  private func written(_ value: String) -> String {
    """
    iif(typeof(\(value)) = 'text' AND instr(\(value), char(0)),
      'CAST(x''' || hex(\(value)) || ''' AS TEXT)', quote(\(value)))
    """
  }
}
