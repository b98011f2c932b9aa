internal import CascadeModel
package import CascadeSQLite

/// Stages the neighbours of nodes that go, by edges in the application's tables. They are put into
/// `temp.staged` until they have a number.
extension Connection {
  /// Sources whose destination is in these rows of `temp.gone`, one row for each edge.
  package func stageSources(
    of relation: EdgeRelation, _ form: NumberForm, rule: Int64, in slice: Slice,
    _ numbers: NumberedTables,
    from driver: EdgeRelation.StartingNodes = .gone, where condition: String = "1"
  ) throws(SQLiteError) {
    let sql = relation.stagingSources(form, numbers, from: driver, where: condition)
    try run(generated: sql, [.integer(rule)] + slice.bound)
  }

  /// Destinations that exist and whose source is in these rows of `temp.gone`.
  package func stageDestinations(
    of relation: EdgeRelation, _ form: NumberForm, rule: Int64, in slice: Slice,
    _ numbers: NumberedTables,
    from driver: EdgeRelation.StartingNodes = .gone, where condition: String = "1"
  ) throws(SQLiteError) {
    let sql = relation.stagingDestinations(form, numbers, from: driver, where: condition)
    try run(generated: sql, [.integer(rule)] + slice.bound)
  }

  /// The sources that stay, however the nodes that go are numbered.
  package func stageLosingSources(of relation: EdgeRelation, _ numbers: NumberedTables)
    throws(SQLiteError)
  {
    for form in numbers.forms(of: relation.destination) {
      try stageSources(
        of: relation, form, rule: 0, in: .all, numbers, where: relation.source.stays("s", numbers))
    }
  }

  /// The destinations, however their sources are numbered.
  package func stageDestinations(
    of relation: EdgeRelation, rule: Int64, in slice: Slice = .all, _ numbers: NumberedTables
  ) throws(SQLiteError) {
    for form in numbers.forms(of: relation.source) {
      try stageDestinations(of: relation, form, rule: rule, in: slice, numbers)
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

  /// Drops the keys of rows that are numbered by position. Another row may later be in the place of
  /// one.
  package func clearKeysOfRows() throws(SQLiteError) {
    try run("DELETE FROM temp.known WHERE id < 0")
  }
}

/// The rule is bound first, and the slice behind it.
extension EdgeRelation {
  package func stagingSources(
    _ form: NumberForm, _ numbers: NumberedTables, from driver: StartingNodes,
    where condition: String = "1"
  ) -> String {
    """
    INSERT INTO temp.staged(id, key, row, collection, via, name, rule, asks)
    SELECT \(source.numberKeyAndRow("s", numbers)), \(source.id), g.id, \(nameId), ?1,
      \(rules.rawValue) & ?1 <> 0
    \(edgesToDestinations(in: driver, form, numbers)) AND g.seq > ?2 AND g.seq <= ?3 AND \(condition)
    """
  }

  package func stagingDestinations(
    _ form: NumberForm, _ numbers: NumberedTables, from driver: StartingNodes,
    where condition: String = "1"
  ) -> String {
    """
    INSERT INTO temp.staged(id, key, row, collection, via, name, rule, asks)
    SELECT \(destinationColumns(of: reference, numbers)), \(destination.id), g.id, \(nameId), ?1,
      \(rules.rawValue) & ?1 <> 0
    \(edgesFromSources(in: driver, form, withDestinations: true))
    AND g.seq > ?2 AND g.seq <= ?3 AND \(condition)
    """
  }
}
