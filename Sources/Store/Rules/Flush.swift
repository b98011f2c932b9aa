internal import Model
internal import SQLite

/// Looks at the edges once: finds what must go, asks whether it may, and removes it (DESIGN 2.3).
extension Writer {
  /// The last flush of a transaction also asks whether all of it is over the hold limit.
  func flush(isLast: Bool = true) throws {
    defer { beginPeriod() }
    if current.deadCount > 0 || current.lostCount > 0 {
      try findGone()
      if isLast { try refuseOverLimit() } else { try addToPlan() }
      try removeGone()
    } else if isLast {
      try refuseOverLimit()
    }
    try forgetFresh()
  }

  private func findGone() throws {
    let closure = Closure(rulesSeen: counters.rulesSeen)
    if current.isSweep {
      current.blocked += try closure.completeUndenied(db)
    } else {
      try closure.complete(db)
      try refuseDenied()
    }
    try countDeleted()
  }

  private func removeGone() throws {
    try report()
    try touchNeighbours()
    if model.trash > .zero { try keepInTrash() }
    try deleteGone()
    try clear()
  }

  /// From here on, edges and nodes that come are new to the next flush.
  private func beginPeriod() {
    counters.serial += 1
    current.firstNewId = counters.nextId
  }

  private func countDeleted() throws {
    let count = try db.integer(
      """
      SELECT count(*) FROM temp.gone
      WHERE id < ? OR id NOT IN (SELECT id FROM temp.dead)
      """, .integer(current.firstNewId))
    let files = model.files.isEmpty ? 0 : try db.filesInGone()
    current.deletedCount += Int(count ?? 0) - files
  }

  /// What the receipt, the notices and the files' owner are told.
  private func report() throws {
    if current.deletedCount > 0 { try listDeleted() }
    try writeNotices()
    if !model.files.isEmpty { try releaseFiles() }
  }

  private func listDeleted() throws {
    let room = Receipt.mostListed - current.deleted.count
    current.deleted += try db.all(
      """
      SELECT c.name, n.key
      FROM temp.gone AS g CROSS JOIN cascade_node AS n ON n.id = g.id
      JOIN cascade_collection AS c ON c.id = n.collection
      WHERE (g.id < ? OR g.id NOT IN (SELECT id FROM temp.dead))
      AND c.name NOT GLOB 'cascade_file/*'
      ORDER BY g.seq LIMIT ?
      """, .integer(current.firstNewId), .integer(Int64(room))
    ) { Node($0.text(0), .text($0.text(1))) }
  }

  /// A file is no node: it is let go here, and removed after the commit.
  private func releaseFiles() throws {
    try db.run(
      """
      INSERT INTO cascade_released_file(id, batch, collection, path)
      SELECT n.id, ?, n.collection, n.key
      FROM temp.gone AS g CROSS JOIN cascade_node AS n ON n.id = g.id
      JOIN cascade_collection AS c ON c.id = n.collection
      WHERE c.name GLOB 'cascade_file/*'
      """, .integer(current.batch))
  }

  private func keepInTrash() throws {
    try db.run(
      """
      INSERT INTO cascade_trash(id, batch, collection, key, type, value, via, name, rule)
      SELECT n.id, ?, n.collection, n.key, n.type, n.value, g.via, g.name, g.rule
      FROM temp.gone AS g CROSS JOIN cascade_node AS n ON n.id = g.id
      WHERE g.id < ? OR g.id NOT IN (SELECT id FROM temp.dead)
      ORDER BY n.id
      """, .integer(current.batch), .integer(current.firstNewId))
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

  /// In the order of the B-trees, so that each page is touched once.
  private func deleteGone() throws {
    try forgetGone()
    try db.run("DELETE FROM cascade_edge WHERE source IN (SELECT id FROM temp.gone)")
    current.edgesRemoved += db.changes
    try db.run("DELETE FROM cascade_edge WHERE destination IN (SELECT id FROM temp.gone)")
    current.edgesRemoved += db.changes
    try db.run("DELETE FROM cascade_node WHERE id IN (SELECT id FROM temp.gone)")
  }

  /// What goes must not be found again. A few are taken out one by one, many with all the others.
  private func forgetGone() throws {
    let few: Int64 = 256
    let gone = try db.all(
      """
      SELECT n.collection, n.key FROM temp.gone AS g CROSS JOIN cascade_node AS n ON n.id = g.id
      LIMIT ?
      """, .integer(few + 1)
    ) { Interned.Identity(collection: $0.integer(0), key: $0.text(1)) }
    if gone.count > few { return interned.nodes.forget() }
    for identity in gone { interned.nodes[identity] = nil }
  }

  private func clear() throws {
    try db.run("DELETE FROM temp.dead")
    try db.run("DELETE FROM temp.lost")
    try db.run("DELETE FROM temp.gone")
    try db.run("DELETE FROM temp.tally")
    try db.run("DELETE FROM temp.blocked")
    current.deadCount = 0
    current.lostCount = 0
  }
}
