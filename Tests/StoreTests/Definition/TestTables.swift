import StoreDefinition
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore

extension TestStore {
  /// What the journal says, in the order in which it was written: the subject, the key and the
  /// values of each row.
  func journal(clear: Bool = false) throws -> String {
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
  func schema() throws -> [String] {
    try Connection(path: path, access: .readOnly).all(
      "SELECT type, name, tbl_name, sql FROM sqlite_schema"
    ) { row in
      (0..<4).map { row.isNull($0) ? "∅" : row.text($0) }.joined(separator: " | ")
    }
  }

  func meta(_ name: String) throws -> Int64? {
    try Connection(path: path, access: .readOnly).integer(
      "SELECT value FROM cascade_meta WHERE name = ?", .text(name))
  }
}
