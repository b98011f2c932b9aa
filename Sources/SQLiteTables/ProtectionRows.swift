package import CascadeModel
package import CascadeSQLite
package import CascadeStore
internal import SQLiteBinding

/// The rows of `cascade_protection` and `cascade_protected`.
extension Connection {
  package var hasProtections: Bool {
    get throws(SQLiteError) { try integer("SELECT 1 FROM cascade_protection LIMIT 1") != nil }
  }

  /// The tables of which rows are protected.
  package var protectedCollections: [Int64] {
    get throws(SQLiteError) {
      try all("SELECT DISTINCT collection FROM cascade_protected ORDER BY 1") { $0.integer(0) }
    }
  }

  package func protections(_ model: StoreModel) throws -> [Protection] {
    try all(
      """
      SELECT p.protection, c.name, p.key, p.reason, p.author, p.since, p.until
      FROM cascade_protection AS p JOIN cascade_collection AS c ON c.id = p.collection
      ORDER BY p.protection
      """
    ) { row in
      Protection(
        number: row.integer(0),
        Protection.Request(
          row.node(1, model), because: row.text(3), by: row.text(4),
          until: row.isNull(6) ? nil : row.integer(6)), since: row.integer(5))
    }
  }

  /// In place of an earlier one of the same node.
  package func insert(
    _ request: Protection.Request, _ collection: Int64, _ key: Value, at now: Int64
  ) throws(SQLiteError) -> Int64 {
    let number = try integer(
      """
      INSERT INTO cascade_protection(collection, key, node, reason, author, since, until)
      VALUES(?, ?, ?, ?, ?, ?, ?) ON CONFLICT(collection, key) DO UPDATE
      SET reason = excluded.reason, author = excluded.author, until = excluded.until
      RETURNING protection
      """, .integer(collection), key, .text("\(request.node)"), .text(request.reason),
      .text(request.author), .integer(now), .integer(request.until))!
    try run(
      "INSERT OR IGNORE INTO cascade_protected VALUES(?, ?, ?)", .integer(collection), key,
      .integer(number))
    return number
  }

  package func deleteProtection(_ number: Int64) throws(SQLiteError) {
    for table in ["cascade_protected", "cascade_protection"] {
      try run(generated: "DELETE FROM \(table) WHERE protection = ?", [.integer(number)])
    }
  }
}
