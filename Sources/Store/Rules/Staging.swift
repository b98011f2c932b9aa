internal import CascadeModel
internal import CascadeSQLite

/// Stages the neighbours of nodes that go, by edges in the application's tables. They are put into
/// `temp.found` until they have a number.
extension Connection {
  /// Sources whose destination is in these rows of `temp.gone`, one row for each edge.
  func stageSources(
    of place: Place, _ form: Numbered, rule: Int64, in slice: Slice, _ numbers: Numbers,
    from driver: Place.Driver = .gone, where condition: String = "1"
  ) throws(SQLiteError) {
    let sql = place.stagingSources(form, numbers, from: driver, where: condition)
    try run(generated: sql, [.integer(rule)] + slice.bound)
  }

  /// Destinations that exist and whose source is in these rows of `temp.gone`.
  func stageDestinations(
    of place: Place, _ form: Numbered, rule: Int64, in slice: Slice, _ numbers: Numbers,
    from driver: Place.Driver = .gone, where condition: String = "1"
  ) throws(SQLiteError) {
    let sql = place.stagingDestinations(form, numbers, from: driver, where: condition)
    try run(generated: sql, [.integer(rule)] + slice.bound)
  }

  /// The sources that stay, however the nodes that go are numbered.
  func stageLosingSources(of place: Place, _ numbers: Numbers) throws(SQLiteError) {
    for form in numbers.forms(of: place.destination) {
      try stageSources(
        of: place, form, rule: 0, in: .all, numbers, where: place.source.stays("s", numbers))
    }
  }

  /// The destinations, however their sources are numbered.
  func stageDestinations(
    of place: Place, rule: Int64, in slice: Slice = .all, _ numbers: Numbers
  ) throws(SQLiteError) {
    for form in numbers.forms(of: place.source) {
      try stageDestinations(of: place, form, rule: rule, in: slice, numbers)
    }
  }

  /// The row with this key, if it exists.
  func stage(_ table: NodeTable, key: Value) throws(SQLiteError) {
    try run(
      generated: """
        INSERT INTO temp.found(collection, key, row)
        SELECT \(table.id), \(table.key("d")), \(table.row("d"))
        FROM \(table.rows) AS d WHERE \(table.hasKey("d", "?1"))
        """, [key])
  }

  /// Gives each node in `temp.found` a number: the one it has, or a new one that lasts until the
  /// transaction ends.
  func internFound(present: Bool = true) throws(SQLiteError) {
    try run(
      """
      INSERT OR IGNORE INTO temp.known(id, collection, key, row, present)
      SELECT (SELECT n.id FROM cascade_node AS n
          WHERE n.collection = f.collection AND n.key = f.key),
        f.collection, f.key, f.row, ?
      FROM temp.found AS f WHERE f.id IS NULL
      """, .integer(present ? 1 : 0))
    try run(
      """
      INSERT OR IGNORE INTO temp.known(id, collection, key, row, present)
      SELECT f.id, f.collection, f.key, f.row, 1
      FROM temp.found AS f WHERE f.id > 0 AND f.row IS NOT NULL
      """)
    try run(
      """
      UPDATE temp.found SET id = (
        SELECT k.id FROM temp.known AS k
        WHERE k.id > 0 AND k.collection = found.collection AND k.key = found.key)
      WHERE id IS NULL
      """)
  }

  func forgetFound() throws(SQLiteError) { try run("DELETE FROM temp.found") }

  /// Numbers in `temp.known` end with the transaction that gave them.
  func forgetKnown() throws(SQLiteError) {
    try run("DELETE FROM temp.known WHERE id <> 0x4000000000000000")
  }
}

/// The rule is bound first, and the slice behind it.
extension Place {
  func stagingSources(
    _ form: Numbered, _ numbers: Numbers, from driver: Driver, where condition: String = "1"
  ) -> String {
    """
    INSERT INTO temp.found(id, key, row, collection, via, name, rule, asks)
    SELECT \(source.found("s", numbers)), \(source.id), g.id, \(nameId), ?1,
      \(rules.rawValue) & ?1 <> 0
    \(ofDestinations(in: driver, form, numbers)) AND g.seq > ?2 AND g.seq <= ?3 AND \(condition)
    """
  }

  func stagingDestinations(
    _ form: Numbered, _ numbers: Numbers, from driver: Driver, where condition: String = "1"
  ) -> String {
    """
    INSERT INTO temp.found(id, key, row, collection, via, name, rule, asks)
    SELECT \(destinationColumns(of: reference, numbers)), \(destination.id), g.id, \(nameId), ?1,
      \(rules.rawValue) & ?1 <> 0
    \(ofSources(in: driver, form, withDestinations: true))
    AND g.seq > ?2 AND g.seq <= ?3 AND \(condition)
    """
  }
}
