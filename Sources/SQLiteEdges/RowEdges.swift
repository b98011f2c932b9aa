package import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
package import SQLiteBinding
package import SQLiteTables
internal import SQLiteRules

/// An edge in the application's tables, as a row has it now.
package struct RowEdge {
  let place: EdgeRelation
  let source: End
  let destination: End

  struct End {
    let isThere: Bool
    let key: Value
    let row: Value
  }

  /// What makes two of them the same, in whichever places they are. Keys are compared
  /// by bytes.
  var identity: [Value] {
    let ends = [(place.source, source), (place.destination, destination)]
    return [.integer(place.nameId)]
      + ends.flatMap { table, end -> [Value] in
        guard case .text(let text) = end.key else { return [.integer(table.id), end.key] }
        return [.integer(table.id), .null, .blob(Array(text.utf8))]
      }
  }

  /// Rejects a path that no edge may have. Such a path that SQL wrote is listed by `check`; one in
  /// a change file is rejected.
  fileprivate func rejectUnusablePath() throws {
    guard place.leadsToFiles, case .text(let path) = destination.key,
      let objection = Destination.objection(toPath: path)
    else { return }
    let node = Key(source.key).map { Node(place.source.collection, $0) }
    let title = node?.description ?? place.source.collection
    throw Rejection(.invalid, "\(title): \"\(place.name)\": \(objection)", node: node)
  }
}

/// Changes of edges that rows hold in their columns: a changed row may have added and removed some.
/// They are recorded as for stored edges (`Edges.swift`): an edge that was added since the last
/// flush and is removed again never was.
extension Writer {
  /// The edges that an existing row holds: as their source, and as a row of a join table.
  package func rowEdges(of id: Int64, in table: NodeTable) throws -> [RowEdge] {
    var edges: [RowEdge] = []
    for place in binding.edgeRelations {
      if place.source == table { edges += try read(place, place.ofSource, id) }
      if let source = place.sourceReference, place.referringTable?.name == table.table?.name {
        edges += try read(place, place.ofJoinRow(table, source: source), id)
      }
    }
    return edges
  }

  private func read(_ place: EdgeRelation, _ sql: String, _ id: Int64) throws -> [RowEdge] {
    try db.all(generated: sql, [.integer(id)]) { edge(place, $0) }
  }

  func edge(_ place: EdgeRelation, _ row: Row) -> RowEdge {
    RowEdge(
      place: place, source: end(row, 0, of: place.source),
      destination: end(row, 3, of: place.destination))
  }

  /// An end that does not exist is known by the reference to it, in the form in which its table
  /// would store it.
  private func end(_ row: Row, _ column: Int32, of table: NodeTable) -> RowEdge.End {
    let isThere = row.integer(column) != 0
    let value = row.value(column + 1)
    let key = isThere ? value : Key(value).flatMap(table.stored) ?? value
    return RowEdge.End(isThere: isThere, key: key, row: row.value(column + 2))
  }

  /// `removal` is what the loss of edges counts as.
  package func recordChange(
    _ old: [RowEdge], becoming new: [RowEdge], as removal: Removal = .sourceDeleted
  ) throws {
    let before = Set(old.map(\.identity))
    var counts: [[Value]: Int] = [:]
    for edge in new { counts[edge.identity, default: 0] += 1 }
    var seen: Set<[Value]> = []
    for edge in old where counts[edge.identity] == nil {
      if seen.insert(edge.identity).inserted { try removed(edge, as: removal) }
    }
    for edge in new where !before.contains(edge.identity) {
      if seen.insert(edge.identity).inserted { try added(edge, times: counts[edge.identity]!) }
    }
  }

  private func added(_ edge: RowEdge, times: Int) throws {
    try edge.rejectUnusablePath()
    guard let key = try key(of: edge, number) else { return }
    if try occurrences(of: key, like: edge.place, atLeast: times) > times { return }
    try touch(key.source)
    try touch(key.destination)
    if try cancelRemoval(key, isCounted: edge.place.countsReferences) != nil { return }
    try addFresh(key)
    if edge.place.countsReferences { current.counts.edgesAdded += db.changes }
  }

  /// Nil if an end has no number.
  private func key(
    of edge: RowEdge, _ number: (RowEdge.End, NodeTable) throws -> Int64?
  ) throws -> EdgeKey? {
    guard let source = try number(edge.source, edge.place.source),
      let destination = try number(edge.destination, edge.place.destination)
    else { return nil }
    return EdgeKey(
      source: source, name: edge.place.nameId, destination: destination, origin: .declared)
  }

  private func removed(_ edge: RowEdge, as removal: Removal) throws {
    // An absent end that no change named since the last flush has no number, and gets none.
    guard let key = try key(of: edge, knownNumber) else { return countRemoved(edge) }
    if try occurrences(of: key, like: edge.place, atLeast: 0) > 0 { return }
    try touch(key.source)
    try touch(key.destination)
    if try cancelAddition(key, edge.place) { return }
    countRemoved(edge)
    // There was no edge to a node that came since, though the reference has its key.
    if try !edge.place.alternatives.isEmpty && isNew(key.destination, in: edge.place.destination) {
      return
    }
    // An edge that lost both ends runs no rule.
    if edge.source.isThere && edge.destination.isThere {
      try recordLoss(key, edge.place.rules, as: removal)
    }
  }

  private func isNew(_ id: Int64, in table: NodeTable) throws -> Bool {
    try table.kind == .managed ? id >= current.firstNewId : isInsertedSinceFlush(id)
  }

  private func countRemoved(_ edge: RowEdge) {
    if edge.place.countsReferences { current.counts.edgesRemoved += 1 }
  }

  /// Whether the row itself still holds an edge that a list added since the last flush and that is
  /// now removed from the list. Such an edge stays, as new as it was.
  func isStillHeldByRow(_ edge: EdgeKey) throws -> Bool {
    if edge.origin != .declared || binding.edgeRelations.isEmpty { return false }
    let collection = try db.integer(
      "SELECT collection FROM temp.known WHERE id = ?", .integer(edge.source))
    let isPlaced = try binding.edgeRelations.contains { place in
      try place.nameId == edge.name && place.source.id == collection
        && occurrences(of: edge, in: place) > 0
    }
    if isPlaced { try addFresh(edge) }
    return isPlaced
  }

  private func addFresh(_ edge: EdgeKey) throws {
    current.ownDeletions.areNewEdges = true
    try db.run(
      "INSERT OR IGNORE INTO temp.new_edges VALUES(?, ?, ?)", .integer(edge.source),
      .integer(edge.name), .integer(edge.destination))
  }

  /// Records that the edges lose their source, because the row that holds them is deleted before
  /// the flush. An edge of a join row that was inserted since the last flush never was.
  package func recordLostSource(of edges: [RowEdge], in table: NodeTable) throws {
    for edge in edges {
      guard let key = try key(of: edge, knownNumber) else { continue }
      try touch(key.destination)
      let isFresh = try cancelAddition(key, edge.place)
      if edge.place.source != table { continue }
      try recordLoss(key, edge.place.rules, born: isFresh ? identities.counters.serial : 0)
    }
  }

  /// The row is inserted again before the flush: edges that it got and lost since the last one
  /// never were.
  package func forgetLost(ofBorn source: Int64) throws {
    if current.lostCount == 0 { return }
    try db.run(
      "DELETE FROM temp.lost_edges WHERE source = ? AND origin = ? AND born = ?", .integer(source),
      .integer(Origin.declared.rawValue), .integer(identities.counters.serial))
    current.lostCount -= db.changes
  }

  private func cancelAddition(_ key: EdgeKey, _ place: EdgeRelation) throws -> Bool {
    try db.run(
      "DELETE FROM temp.new_edges WHERE source = ? AND name = ? AND destination = ?",
      .integer(key.source), .integer(key.name), .integer(key.destination))
    if place.countsReferences { current.counts.edgesAdded -= db.changes }
    return db.changes > 0
  }

  /// From here on, edges and rows that are added are new to the next flush.
  package func clearAdditions() throws {
    if !facts.hasTables && !current.ownDeletions.haveExceptions { return }
    current.ownDeletions.haveExceptions = false
    try db.empty(.ownedBy(.changes))
  }

  // MARK: - Numbers of the ends

  private func number(_ end: RowEdge.End, in table: NodeTable) throws -> Int64 {
    if table.kind == .managed {
      if end.isThere, case .integer(let id) = end.row { return id }
      return try self.endId(Node(table.collection, Key(end.key) ?? .text("")))
    }
    if !end.isThere { return try numberAbsent(end.key, in: table) }
    return try number(RowLocation(key: end.key, row: end.row), in: table.id)
  }

  /// The number of an end of a removed edge. The end may not be where it was. One that does not
  /// exist has a number only if a change asked for it since the transaction began.
  private func knownNumber(_ end: RowEdge.End, in table: NodeTable) throws -> Int64? {
    if table.kind == .managed { return end.isThere ? try number(end, in: table) : nil }
    let id = try db.integer(
      "SELECT id FROM temp.known WHERE id > 0 AND collection = ? AND key = ?",
      .integer(table.id), end.key)
    return try id ?? (end.isThere ? number(end, in: table) : nil)
  }

  /// How often the edge is written, here and in other places of its name. Where it cannot be
  /// written more than once, `least` is taken instead of counting.
  private func occurrences(
    of key: EdgeKey, like place: EdgeRelation, atLeast least: Int
  ) throws -> Int {
    let places = binding.edgeRelations(like: place)
    var count = try isStored(key) ? 1 : 0
    // Several rows of a join table may hold the same edge.
    if places.count == 1 && !place.isInJoinTable { return count + least }
    for place in places { count += try occurrences(of: key, in: place) }
    return count
  }

  private func occurrences(of key: EdgeKey, in place: EdgeRelation) throws -> Int {
    let count = try db.integer(
      generated: place.occurrences, [.integer(key.source), .integer(key.destination)])
    return Int(count ?? 0)
  }

  private func isStored(_ key: EdgeKey) throws -> Bool {
    if key.source > NumberRange.temporary { return false }
    return try db.integer(
      """
      SELECT 1 FROM cascade_edge WHERE source = ? AND name = ? AND destination = ? AND origin = ?
      """, .integer(key.source), .integer(key.name), .integer(key.destination),
      .integer(Origin.declared.rawValue)) != nil
  }
}

extension EdgeRelation {
  var lookedUpDestination: String {
    destination.kind == .files
      ? "" : "LEFT JOIN \(destination.rows) AS d ON \(destination.hasKey("d", reference))"
  }

  /// Columns: whether the destination exists, its key, its row.
  var destinationEnd: String {
    if destination.kind == .files { return "1, \(destinationKey), NULL" }
    let isThere = destination.isNode("d")
    let name = destination.asKey(reference)
    return """
      \(isThere), iif(\(isThere), \(destination.key("d")), \(name)), \(destination.row("d"))
      """
  }

  /// A query: the edges of the source row whose number is bound, with both ends.
  fileprivate var ofSource: String {
    """
    SELECT 1, m.key, m.row, \(destinationEnd)
    FROM temp.known AS m CROSS JOIN \(source.rows) AS s ON \(source.isRow("s", of: "m"))
    \(references) \(lookedUpDestination) WHERE m.id = ?1 AND \(isEdge)
    """
  }

  /// The same for a row of the join table, if that is a node too.
  fileprivate func ofJoinRow(_ table: NodeTable, source reference: Reference) -> String {
    let isThere = source.isNode("s")
    let name = source.asKey(reference)
    return """
      SELECT \(isThere), iif(\(isThere), \(source.key("s")), \(name)), \(source.row("s")),
        \(destinationEnd)
      FROM temp.known AS m CROSS JOIN \(table.rows) AS j ON \(table.isRow("j", of: "m"))
      LEFT JOIN \(source.rows) AS s ON \(source.hasKey("s", reference)) \(lookedUpDestination)
      WHERE m.id = ?1 AND \(isEdge) AND \(reference.isComplete)
      """
  }

  /// A query: how often the source that is bound first refers to the destination that is bound
  /// second.
  fileprivate var occurrences: String {
    """
    SELECT count(*) FROM temp.known AS sm CROSS JOIN \(destination.nodes) AS m
    CROSS JOIN \(source.rows) AS s ON \(source.isRow("s", of: "sm")) \(references)
    WHERE sm.id = ?1 AND m.id = ?2 AND \(isEdge)
    AND \(destination.isReferenceToNode(by: reference))
    """
  }
}
