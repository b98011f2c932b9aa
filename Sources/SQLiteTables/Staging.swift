package import CascadeModel
package import CascadeSQLite
package import SQLiteBinding

/// Stages the neighbours of nodes that go, by edges in the application's tables. They are put into
/// `temp.staged` until they have a number.
extension Connection {
  /// Stages the nodes at the other ends of edges that have a node of the slice at `end`, one row
  /// for each edge. `forms`: how the nodes of the slice may be numbered.
  package func stageNodes(
    losing end: EdgeEnd, of relation: EdgeRelation, _ forms: [NumberForm]? = nil, rule: Int64,
    in slice: Slice = .all, _ numbers: NumberedTables,
    from driver: EdgeRelation.StartingNodes = .gone, where condition: String = "1"
  ) throws(SQLiteError) {
    for form in forms ?? numbers.forms(of: relation[end]) {
      try run(
        "\(relation.staging(losing: end, form, rule: rule, numbers, from: driver.limited(to: slice))) AND \(condition)"
      )
    }
  }

  /// The row with this key, if it exists.
  package func stage(_ table: NodeTable, key: Value) throws(SQLiteError) {
    try run(
      generated: """
        INSERT INTO temp.staged(collection, key, row)
        SELECT \(table.id), \(table.key("d")), \(table.row("d"))
        FROM \(table.rows) AS d WHERE \(table.hasKey("d", "?1"))
        """, [key])
  }

  /// Gives each node in `temp.staged` a number: the one it has, or a new one that lasts until the
  /// transaction ends.
  package func numberFound(present: Bool = true) throws(SQLiteError) {
    try run(
      """
      INSERT OR IGNORE INTO temp.known(id, collection, key, row, present)
      SELECT (SELECT n.id FROM cascade_node AS n
          WHERE n.collection = f.collection AND n.key = f.key),
        f.collection, f.key, f.row, ?
      FROM temp.staged AS f WHERE f.id IS NULL
      """, .integer(present ? 1 : 0))
    try run(
      """
      INSERT OR IGNORE INTO temp.known(id, collection, key, row, present)
      SELECT f.id, f.collection, f.key, f.row, 1
      FROM temp.staged AS f WHERE f.id > 0 AND f.row IS NOT NULL
      """)
    try run(
      """
      UPDATE temp.staged SET id = (
        SELECT k.id FROM temp.known AS k
        WHERE k.id > 0 AND k.collection = staged.collection AND k.key = staged.key)
      WHERE id IS NULL
      """)
  }

  package func clearFound() throws(SQLiteError) { try empty(.staged) }

  /// Gives the nodes their numbers, and moves them into another table by a statement.
  package func numberFound(movingBy statement: Query) throws(SQLiteError) {
    try numberFound()
    try run(statement)
    try clearFound()
  }

  /// Moves the found nodes into `temp.dead`: they are gone, or never existed.
  package func moveFoundToDead() throws(SQLiteError) {
    try run("INSERT OR IGNORE INTO temp.dead SELECT id FROM temp.staged")
    try clearFound()
  }

  /// Drops the keys of rows that are numbered by position. Another row may later be in the place of
  /// one.
  package func clearKeysOfRows() throws(SQLiteError) {
    try run("DELETE FROM temp.known WHERE id < 0")
  }
}

extension EdgeRelation {
  package func staging(
    losing end: EdgeEnd, _ form: NumberForm, rule: Int64, _ numbers: NumberedTables,
    from driver: StartingNodes
  ) -> Query {
    """
    INSERT INTO temp.staged(id, key, row, collection, via, name, rule, asks)
    SELECT \(numberKeyAndRow(of: end.other, numbers)), \(self[end.other].id), g.id, \(nameId),
      \(rule), \(rules.rawValue & rule == 0 ? 0 : 1)
    \(edges(at: end, in: driver, form, numbers))
    """
  }
}
