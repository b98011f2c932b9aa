internal import CascadeModel
internal import CascadeSQLite
/// Looks through whole tables for references to nothing, whatever the journal says.
extension Connection {
  /// Nobody remembers who was told of it: only where nobody watched, somebody is.
  func addDanglingEnds(_ binding: Binding, tells: Bool = false) throws(SQLiteError) {
    try run(
      """
      INSERT OR IGNORE INTO temp.dead
      SELECT source FROM cascade_edge WHERE source NOT IN (SELECT id FROM cascade_node)
      UNION
      SELECT destination FROM cascade_edge
      WHERE destination NOT IN (SELECT id FROM cascade_node)
      """)
    for table in binding.collections.values { try findLostIdentities(of: table) }
    for place in binding.places where place.minds || tells && place.tells { try findMissing(place) }
    for place in binding.places { try findMissingSources(place) }
    try internFound(present: false)
    if !tells { try recallFound() }
    try buryFound()
  }

  /// Where somebody watched, an earlier sweep has seen all of it gone, and told of what refers to it
  /// still.
  private func recallFound() throws(SQLiteError) {
    let known = "FROM temp.found WHERE id NOT IN (SELECT id FROM temp.dead)"
    try run(generated: "INSERT OR IGNORE INTO temp.mourned(id, leaves) SELECT id, 1 \(known)")
    try run(generated: "INSERT OR IGNORE INTO temp.recalled SELECT id \(known)")
  }

  /// Stored edges to rows that are not there any more.
  private func findLostIdentities(of table: NodeTable) throws(SQLiteError) {
    try run(
      generated: """
        INSERT INTO temp.found(collection, key)
        SELECT n.collection, n.key FROM main.cascade_node AS n
        WHERE n.collection = \(table.id)
        AND \(table.hasNoRow(withKey: "n.key"))
        """)
  }

  private func findMissing(_ place: Place) throws(SQLiteError) {
    try run(
      generated: """
        INSERT INTO temp.found(collection, key)
        SELECT DISTINCT \(place.destination.id), \(place.destination.asKey(place.reference))
        \(place.all) AND \(place.leadsToNothing)
        AND NOT \(place.destination.hasRow(withKey: place.destination.asKey(place.reference)))
        """)
  }

  private func findMissingSources(_ place: Place) throws(SQLiteError) {
    guard let lost = place.withoutSource else { return }
    try run(
      generated: """
        INSERT INTO temp.found(collection, key)
        SELECT DISTINCT \(place.source.id), \(lost.source) \(lost.rows)
        """)
  }
}

extension Place {
  /// What it refers to is not there.
  var leadsToNothing: String {
    destination.isMissing(reference, referringColumn?.affinity)
  }

  /// Only a join row can be without its source: the rows j of these, and the key that is nobody's.
  var withoutSource: (source: String, rows: String)? {
    guard case .join(let table, let column, _) = form else { return nil }
    let value = "j.\(quoted(column))"
    let key = source.asKey(value)
    let rows = """
      FROM main.\(quoted(table.name)) AS j
      WHERE \(value) IS NOT NULL AND \(source.isMissing(value, table.column(column)?.affinity))
      AND NOT \(source.hasRow(withKey: key))
      """
    return (key, rows)
  }

  /// Whether a missing destination means anything: otherwise the reference is left as it is. A join
  /// row is nothing without it.
  var minds: Bool {
    if case .join = form { return true }
    let ofDestination: Rules = [
      .deleteSourceIfDestinationDeleted,
      .deleteSourceIfAllDestinationsDeleted, .nullifySourceIfDestinationDeleted,
    ]
    return destination.kind != .files && !rules.isDisjoint(with: ofDestination)
  }

  fileprivate var tells: Bool {
    destination.kind != .files && rules.contains(.notifyIfDestinationDeleted)
  }
}

extension NodeTable {
  /// Whether no row has the key that a column says. Between a number and a text SQLite compares
  /// numbers, which no index of texts has: then all keys are gone through once, and not for each.
  fileprivate func isMissing(_ reference: String, _ affinity: Table.Affinity?) -> String {
    guard case .mapped(_, let key, _) = kind, key.count == 1, affinity?.isNumeric == true,
      !key[0].affinity.isNumeric
    else { return "NOT \(hasRow(withKey: reference))" }
    let column = "d.\(quoted(key[0].name))"
    return "\(reference) NOT IN (SELECT \(column) FROM \(rows) AS d WHERE \(column) IS NOT NULL)"
  }
}
