internal import StoreDefinition
internal import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import SQLiteStore

extension TestStore {
  /// What the journal says, in the order in which it was written: the subject, the key and the
  /// values of each row.
  package func journal(clear: Bool = false) throws -> String {
    let db = try Connection(path: path, access: .readWrite)
    let rows = try db.all(
      """
      SELECT coalesce(
          (SELECT name FROM cascade_collection WHERE id = w.meaning ->> 'rows'),
          w.meaning ->> '$.joins[0]'), j.key, j.a, j.b, j.c, j.d,
        json_array_length(w.meaning, '$.values')
      FROM cascade_journal AS j JOIN cascade_watch AS w ON w.what = j.what ORDER BY j.seq
      """
    ) { row in
      let values = (1..<(2 + Int32(row.integer(6)))).map { row.isNull($0) ? "∅" : row.text($0) }
      return "\(row.text(0)) \(values.joined(separator: " "))"
    }
    if clear { try db.execute("DELETE FROM cascade_journal") }
    return rows.joined(separator: ", ")
  }

  /// Everything that the file's schema says.
  package func schema() throws -> [String] {
    try Connection(path: path, access: .readOnly).all(
      "SELECT type, name, tbl_name, sql FROM sqlite_schema"
    ) { row in
      (0..<4).map { row.isNull($0) ? "∅" : row.text($0) }.joined(separator: " | ")
    }
  }

  package func meta(_ name: String) throws -> Int64? {
    try Connection(path: path, access: .readOnly).integer(
      "SELECT value FROM cascade_meta WHERE name = ?", .text(name))
  }

  /// As the writer keeps it: both ends by their identities. Keys are written as in SQL.
  package func storeEdge(
    _ name: String, from: (String, String), to: (String, String), rules: Int = 0
  ) throws {
    for (collection, key) in [from, to] {
      try bySQL(
        """
        INSERT OR IGNORE INTO cascade_collection(name) VALUES('\(collection)');
        INSERT OR IGNORE INTO cascade_node(id, collection, key)
        SELECT (SELECT coalesce(max(id), 1000) + 1 FROM cascade_node), id, \(key)
        FROM cascade_collection WHERE name = '\(collection)';
        """)
    }
    func id(_ end: (String, String)) -> String {
      """
      (SELECT n.id FROM cascade_node AS n JOIN cascade_collection AS c ON c.id = n.collection
        WHERE c.name = '\(end.0)' AND n.key = \(end.1))
      """
    }
    try bySQL(
      """
      INSERT OR IGNORE INTO cascade_name(name) VALUES('\(name)');
      INSERT INTO cascade_edge VALUES(\(id(from)),
        (SELECT id FROM cascade_name WHERE name = '\(name)'), \(id(to)), 0, \(rules), 0);
      """)
  }
}
