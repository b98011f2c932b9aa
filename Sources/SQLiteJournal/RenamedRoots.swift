internal import CascadeModel
internal import CascadeEngine
internal import CascadeSQLite
internal import CascadeSystem
internal import SQLiteTables

extension Writer {
  /// Runs before the model is bound, which gives numbers to names.
  func followRoots() throws {
    if model.files.isEmpty { return }
    try RenamedRoots(model, known: db.knownRoots()).apply { old, new in
      try db.renameRoot(old, to: new)
    }
    identities.clearCaches()
  }
}

extension Connection {
  fileprivate func renameRoot(_ old: String, to new: String) throws {
    // What has the name still is not remembered.
    let (name, taken) = (Destination.fileCollection + old, Destination.fileCollection + new)
    try run(
      "UPDATE cascade_collection SET name = 'cascade_was/' || id || '/' || name WHERE name = ?",
      .text(taken))
    try run("UPDATE cascade_collection SET name = ? WHERE name = ?", .text(taken), .text(name))
    let (key, newKey) = ("root.\(old):", "root.\(new):")
    try run("DELETE FROM cascade_meta WHERE substr(name, 1, length(?1)) = ?1", .text(newKey))
    try run(
      """
      UPDATE cascade_meta SET name = ?2 || substr(name, length(?1) + 1)
      WHERE substr(name, 1, length(?1)) = ?1
      """, .text(key), .text(newKey))
  }

  fileprivate func knownRoots() throws -> [KnownRoot] {
    let start = Destination.fileCollection.count + 1
    return try all(
      generated: """
        SELECT r.name, substr(m.name, 7 + length(r.name)), m.value, r.isUsed
        FROM (SELECT substr(c.name, \(start)) AS name,
            EXISTS (SELECT 1 FROM cascade_node AS n WHERE n.collection = c.id)
            OR EXISTS (SELECT 1 FROM cascade_trash_file AS t WHERE t.collection = c.id)
            OR EXISTS (SELECT 1 FROM cascade_released_file AS f WHERE f.collection = c.id) AS isUsed
          FROM cascade_collection AS c WHERE c.name GLOB 'cascade_file/*') AS r
        LEFT JOIN cascade_meta AS m
          ON substr(m.name, 1, 6 + length(r.name)) = 'root.' || r.name || ':'
        """, []
    ) {
      KnownRoot(
        name: $0.text(0), path: $0.optionalText(1), inode: $0.isNull(2) ? nil : $0.integer(2),
        isUsed: $0.integer(3) == 1)
    }
  }
}
