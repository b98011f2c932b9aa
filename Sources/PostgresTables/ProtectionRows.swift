internal import CascadeEngine
internal import CascadeModel
internal import CascadePostgres
package import CascadeStore
package import PostgresBinding

/// Nodes that are kept from every deletion, with all that their deletion would take along.
package struct ProtectionRows {
  private let store: StoreConnection
  private var db: Session { _read { yield store.db } }

  package init(_ store: StoreConnection) { self.store = store }

  static let sql = """
    -- Nodes that are protected, and the nodes that their deletion would take along, themselves among them.
    -- `node` is what messages call it.
    CREATE TABLE IF NOT EXISTS cascade.protection(
      number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, collection int NOT NULL, key text NOT NULL,
      node text NOT NULL, reason text NOT NULL, author text NOT NULL, since bigint NOT NULL, until bigint,
      UNIQUE(collection, key));
    CREATE TABLE IF NOT EXISTS cascade.protected(
      collection int NOT NULL, key text NOT NULL, protection bigint NOT NULL,
      PRIMARY KEY(collection, key, protection));
    """

  /// A database that is only judged need not have the tables.
  static func collections(_ db: borrowing Session) throws -> Set<Int64> {
    if try !db.run("SELECT to_regclass('cascade.protected') IS NOT NULL").bool { return [] }
    return Set(
      try db.run("SELECT DISTINCT collection FROM cascade.protected").texts.compactMap { Int64($0) }
    )
  }

  package var isAny: Bool {
    get throws { try db.runAgain("SELECT EXISTS (SELECT FROM cascade.protection)").bool }
  }

  package func all() throws -> [Protection] {
    try db.run(
      """
      SELECT number, collection, key, reason, author, since, until FROM cascade.protection ORDER BY 1
      """
    ).rows.compactMap { row in
      guard let table = store.binding.table(Int64(row[1]!)!) else { return nil }
      return Protection(
        number: Int64(row[0]!)!,
        Protection.Request(
          table.node(row[2]!), because: row[3]!, by: row[4]!, until: row[6].flatMap { Int64($0) }),
        since: Int64(row[5]!)!)
    }
  }

  /// In place of an earlier one of the same node.
  package func insert(
    _ request: Protection.Request, _ table: MappedTable, _ key: String, at now: Int64
  ) throws -> Int64 {
    let number = try db.run(
      """
      INSERT INTO cascade.protection(collection, key, node, reason, author, since, until)
      VALUES(\(table.number), $1, $2, $3, $4, \(now), $5::bigint) ON CONFLICT(collection, key) DO UPDATE
      SET reason = excluded.reason, author = excluded.author, until = excluded.until RETURNING number
      """,
      [
        key, "\(request.node)", request.reason, request.author, request.until.map(String.init),
      ]
    ).integer!
    try db.run(
      """
      INSERT INTO cascade.protected VALUES(\(table.number), $1, \(number)) ON CONFLICT DO NOTHING
      """, [key])
    return number
  }

  package func delete(_ number: Int64) throws {
    try db.execute(
      """
      DELETE FROM cascade.protected WHERE protection = \(number);
      DELETE FROM cascade.protection WHERE number = \(number)
      """)
  }

  /// What of a protection is what a closure has found. A row that is protected itself stays, also where it
  /// has gone.
  package func set(_ number: Int64, to nodes: String) throws {
    try db.run(
      """
      INSERT INTO cascade.protected SELECT DISTINCT n.collection, n.key, \(number) FROM \(nodes) n
      ON CONFLICT DO NOTHING
      """)
    try db.run(
      """
      DELETE FROM cascade.protected p WHERE p.protection = \(number)
      AND NOT EXISTS (SELECT FROM \(nodes) n WHERE n.collection = p.collection AND n.key = p.key)
      AND NOT EXISTS (SELECT FROM cascade.protection t WHERE t.collection = p.collection AND t.key = p.key)
      """)
  }

  /// Why nodes are protected. `rows` have `collection` and `key`, and are called `n`.
  package func reasons(_ rows: String) throws -> [Reason] {
    try db.run(
      """
      SELECT DISTINCT ON (n.collection, n.key) n.collection, n.key, t.collection, t.key, t.reason
      FROM \(rows) JOIN cascade.protected p ON p.collection = n.collection AND p.key = n.key
      JOIN cascade.protection t ON t.number = p.protection
      ORDER BY 1, 2, t.collection <> p.collection OR t.key <> p.key LIMIT \(Receipt.mostListed)
      """
    ).rows.compactMap { row in
      guard let table = store.binding.table(Int64(row[0]!)!),
        let root = store.binding.table(Int64(row[2]!)!)
      else { return nil }
      return .protected(table.node(row[1]!), with: root.node(row[3]!), because: row[4]!)
    }
  }

  /// Refuses what a change file has deleted.
  package func reject(deletedIn batch: Int64) throws {
    if try !isAny { return }
    let reasons = try reasons(
      "(SELECT d.collection, d.key FROM cascade.deleted_node d WHERE d.batch = \(batch)) n")
    let gone = try reasons.filter { try $0.node.map { try !isThere($0) } ?? false }
    if !gone.isEmpty { throw Rejection(gone) }
  }

  private func isThere(_ node: Node) throws -> Bool {
    guard let table = store.binding.tables[node.collection], let key = table.key.text(node.key)
    else { return false }
    return try db.run("SELECT \(table.has("$1"))", [key]).bool
  }
}
