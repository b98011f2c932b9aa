internal import CascadeModel
package import CascadeSQLite
package import SQLiteBinding
package import SQLiteTables

extension Writer {
  /// Returns whether there is such a row. If a later change names the row, it gets a number of its
  /// own.
  package func markDeadUnnamed(_ keys: [Value], in table: NodeTable) throws -> Bool {
    guard !binding.hasTriggers,
      let dead = current.unnamedDead[table.id] ?? UnnamedDeletedRows(table)
    else { return false }
    try db.run(generated: dead.mark, keys)
    count(dead)
    return db.changes > 0
  }

  package func markAllDead(of table: NodeTable, _ numbers: NumberedTables) throws {
    try db.run(
      generated: """
        INSERT OR IGNORE INTO temp.dead SELECT \(table.number("s", numbers))
        FROM \(table.rows) AS s WHERE \(table.isNode("s", numbers))
        """)
    count(UnnamedDeletedRows(table))
  }

  /// Looks up again where the rows are that changes deleted: a trigger may have moved or deleted
  /// some.
  package func refreshDeletedRows() throws {
    if !binding.hasTriggers || current.sweep.isSweep { return }
    let dead = try db.all(
      """
      SELECT DISTINCT k.collection FROM temp.dead AS d CROSS JOIN temp.known AS k ON k.id = d.id
      WHERE d.id > 0
      """
    ) { $0.integer(0) }
    for table in binding.collections.values where dead.contains(table.id) {
      let rows = "FROM \(table.rows) AS s WHERE \(table.hasKey("s", "known.key"))"
      try db.run(
        generated: """
          UPDATE temp.known
          SET row = (SELECT \(table.row("s")) \(rows)), present = EXISTS (SELECT 1 \(rows))
          WHERE id IN (SELECT id FROM temp.dead WHERE id > 0) AND collection = \(table.id) AND present
          """)
    }
  }

  private func count(_ dead: UnnamedDeletedRows?) {
    if db.changes == 0 { return }
    if let dead { current.unnamedDead[dead.table.id] = dead }
    current.deadCount += db.changes
  }

  /// Gives a dead row that was not named the id by which something names it now.
  func assignIdToDead(_ place: RowLocation, in collection: Int64, as id: Int64) throws {
    guard let dead = current.unnamedDead[collection], case .integer(let row) = place.row,
      let number = dead.table.number(ofRow: row)
    else { return }
    try db.run("UPDATE temp.dead SET id = ? WHERE id = ?", .integer(id), .integer(number))
  }

  /// Forgets the unnamed dead rows of a table whose rows all have names now.
  package func clearUnnamedDead(of table: NodeTable) throws {
    if current.unnamedDead[table.id] == nil { return }
    try db.run(generated: "DELETE FROM temp.dead WHERE \(table.hasRow("id"))")
    current.deadCount -= db.changes
    current.unnamedDead[table.id] = nil
  }

  /// If a table has got a row that cannot have such a number, no row of it has one any more.
  package func nameDeadOutOfRange() throws {
    let byRow = current.numbers.byRowid
    let tables = current.unnamedDead.values.map(\.table).filter { !byRow.contains($0.id) }
    if tables.isEmpty { return }
    for table in tables { try nameDead(in: table) }
    current.numbers = try db.numbers(binding)
  }

  /// Names all dead rows: a row that may be put again is kept only once in the trash, as it was
  /// before.
  package func nameAllDead() throws {
    for dead in current.unnamedDead.values { try nameDead(in: dead.table) }
  }

  private func nameDead(in table: NodeTable) throws {
    let places = try db.all(
      generated: """
        SELECT \(table.key("s")), \(table.row("s"))
        FROM temp.dead AS d CROSS JOIN \(table.row("s", of: "d.id", .byRowid))
        """
    ) { RowLocation(key: $0.value(0), row: $0.value(1)) }
    for place in places { _ = try number(place, in: table.id) }
    current.unnamedDead[table.id] = nil
  }
}
