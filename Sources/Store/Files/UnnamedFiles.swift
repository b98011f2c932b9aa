internal import Model
internal import SQLite

/// Files that an edge named once, and none does now, without a rule that let them go: `sweep files`
/// lets them go too (DESIGN 8.1).
extension Writer {
  func sweepFiles(_ result: inout SweepResult) throws {
    if model.files.isEmpty || isHalfView { return }
    let receipt = try sweep {
      try db.run(
        """
        INSERT INTO cascade_released_file(batch, collection, path)
        SELECT ?, n.collection, n.key
        FROM cascade_collection AS c CROSS JOIN cascade_node AS n ON n.collection = c.id
        WHERE c.name GLOB 'cascade_file/*' AND typeof(n.key) = 'text'
        AND NOT EXISTS (SELECT 1 FROM cascade_edge WHERE destination = n.id)
        """, .integer(current.batch))
      current.filesReleased += db.changes
      if try db.forgetUnnamedFiles() > 0 { interned.nodes.forget() }
    }
    result.add(receipt, current)
  }

  /// Files whose edges had no rule that lets them go are remembered when they lose one.
  func rememberLostFiles() throws {
    if model.files.isEmpty || current.lostCount == 0 { return }
    try rememberFiles(
      """
      SELECT DISTINCT k.collection, k.key
      FROM temp.lost AS l CROSS JOIN temp.known AS k ON k.id = l.destination
      WHERE NOT l.rules & 40 AND k.id NOT IN (SELECT id FROM temp.gone)
      """)
  }

  /// The same of rows that go.
  func rememberFiles(of slice: Slice) throws {
    for place in binding.places
    where place.destination.kind == .files && place.rules.isDisjoint(with: .ofLostSource) {
      try db.stageDestinations(of: place, rule: 0, in: slice, current.numbers)
      try rememberFiles("SELECT DISTINCT collection, key FROM temp.found")
      try db.forgetFound()
    }
  }

  private func rememberFiles(_ found: String) throws {
    let files = try db.all(
      generated: """
        SELECT substr(c.name, 14), f.key FROM (\(found)) AS f
        CROSS JOIN main.cascade_collection AS c ON c.id = f.collection
        WHERE c.name GLOB 'cascade_file/*' AND typeof(f.key) = 'text'
        """, []
    ) { Destination.file(root: $0.text(0), path: $0.text(1)) }
    for file in files { _ = try end(file) }
  }

  /// A file that only an edge named which never was (DESIGN 2.3, 6) has lost nothing.
  func forgetFile(_ id: Int64) throws {
    if model.files.isEmpty || id < current.firstNewId { return }
    try db.run(
      """
      DELETE FROM cascade_node WHERE id = ?
      AND collection IN (SELECT id FROM cascade_collection WHERE name GLOB 'cascade_file/*')
      AND NOT EXISTS (SELECT 1 FROM cascade_edge WHERE destination = cascade_node.id)
      """, .integer(id))
    if db.changes > 0 { interned.nodes.forget() }
  }
}

extension Connection {
  /// Takes away their numbers; says how many there were.
  @discardableResult
  func forgetUnnamedFiles() throws(SQLiteError) -> Int {
    try run(
      """
      DELETE FROM cascade_node
      WHERE collection IN (SELECT id FROM cascade_collection WHERE name GLOB 'cascade_file/*')
      AND NOT EXISTS (SELECT 1 FROM cascade_edge WHERE destination = cascade_node.id)
      """)
    return changes
  }
}

extension Reader {
  func unnamedFiles() throws -> Int {
    let count = try db.integer(
      """
      SELECT count(*)
      FROM cascade_collection AS c CROSS JOIN cascade_node AS n ON n.collection = c.id
      WHERE c.name GLOB 'cascade_file/*'
      AND NOT EXISTS (SELECT 1 FROM cascade_edge WHERE destination = n.id)
      """)
    return Int(count ?? 0)
  }
}
