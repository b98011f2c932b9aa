internal import CascadeModel
package import CascadeSQLite

extension Connection {
  package func meta(_ name: String) throws(SQLiteError) -> Int64? {
    try integer("SELECT value FROM cascade_meta WHERE name = ?", .text(name))
  }

  package func setMeta(_ name: String, _ value: Int64) throws(SQLiteError) {
    try run(
      "INSERT INTO cascade_meta VALUES(?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
      .text(name), .integer(value))
  }

  /// The next number of a sequence. It was never given before, even if what had the last number no
  /// longer exists.
  package func nextInSequence(of name: String) throws(SQLiteError) -> Int64 {
    try integer(
      """
      INSERT INTO cascade_meta VALUES(?, 1) ON CONFLICT DO UPDATE SET value = value + 1
      RETURNING value
      """, .text(name))!
  }
}
