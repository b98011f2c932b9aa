package import CascadePostgres

/// Tables for what a transaction works out, which no other transaction sees.
///
/// 1. A transaction empties those that it needs when it begins to use them, and again before it is
///    committed. So a daemon that is killed leaves nothing in them.
/// 2. They are temporary tables; in the portable dialect, tables that all connections share. There,
///    `owner` tells which connection a row belongs to.
package struct ScratchTables {
  private let dialect: Dialect
  private let owner: Int64
  private var used: Set<Table> = []

  package enum Table: String, CaseIterable {
    /// The set of a closure: what would go, and why.
    case gone
    /// What a closure began with.
    case firstGone = "first_gone"
    case denied
    /// What is left out of a closure, because it is denied.
    case kept
    /// What the roots of the model lead to.
    case reached
    /// Nodes of a step that no root may reach, with those that lead to them.
    case slice
    /// Nodes whose edges a change file changed.
    case touched
    /// The files below the roots.
    case onDisk = "on_disk"

    package static let ofClosures: [Table] = [.gone, .firstGone, .denied, .kept]

    fileprivate var columns: String {
      switch self {
      case .gone, .firstGone:
        "collection int NOT NULL, key text NOT NULL, level int NOT NULL, rule smallint, via int, "
          + "other text"
      case .denied:
        "collection int NOT NULL, key text NOT NULL, via int NOT NULL, source text NOT NULL, "
          + "destination text NOT NULL"
      case .kept, .touched: "collection int NOT NULL, key text NOT NULL"
      case .reached: "collection int NOT NULL, key text NOT NULL, level int NOT NULL"
      case .slice:
        "collection int NOT NULL, key text NOT NULL, is_locked boolean NOT NULL DEFAULT false"
      case .onDisk: "root text NOT NULL, path text NOT NULL"
      }
    }

    /// Those may be long, and are used seldom.
    fileprivate var isEmptiedByServer: Bool { self == .onDisk || self == .touched }

    fileprivate var key: [String] {
      switch self {
      case .gone, .kept, .touched, .reached, .slice: ["collection", "key"]
      case .firstGone, .denied, .onDisk: []
      }
    }
  }

  /// `owner` is a number that no other connection has.
  init(_ dialect: Dialect, owner: Int64) { (self.dialect, self.owner) = (dialect, owner) }

  // MARK: - In statements

  /// The rows of a table, for FROM.
  package subscript(table: Table) -> String {
    switch dialect {
    case .fast: name(table)
    case .portable: "(SELECT * FROM \(name(table)) WHERE \(isOwn))"
    }
  }

  /// The table, for INSERT, in which rows get their owner by themselves.
  package func into(_ table: Table) -> String { name(table) }

  /// The statement that empties a table.
  package func emptying(_ table: Table) -> String {
    "DELETE FROM \(name(table))" + (dialect == .portable ? " WHERE \(isOwn)" : "")
  }

  /// The table for UPDATE and DELETE, in which rows are called `row`, and the condition that they are this
  /// connection's.
  package func target(_ table: Table, as row: String) -> (table: String, isOwn: String) {
    ("\(name(table)) \(row)", dialect == .portable ? "\(row).\(isOwn)" : "true")
  }

  private func name(_ table: Table) -> String {
    dialect == .fast ? "pg_temp.\(table.rawValue)" : sharedName(table)
  }

  private func sharedName(_ table: Table) -> String { "cascade.scratch_\(table.rawValue)" }

  private var isOwn: String { "owner = \(owner)" }

  // MARK: - In a transaction

  package mutating func begin(_ tables: [Table], _ db: borrowing Session) throws {
    used.formUnion(tables)
    if dialect == .portable { return try empty(tables, db) }
    let size = try db.run(
      "SELECT pg_relation_size(to_regclass($1))", [name(tables[0])]
    ).integer
    guard let size else { return try db.execute(script(tables.map(temporary))) }
    // To truncate them at each commit would take longer than what a small sweep does.
    if size <= ScratchTables.longest { return try empty(tables, db) }
    try db.execute("TRUNCATE \(tables.map(name).joined(separator: ", "))")
  }

  /// In bytes.
  private static let longest = 1_000_000

  /// Before the commit. What temporary tables have is never seen by others.
  mutating func end(_ db: borrowing Session) throws {
    defer { used = [] }
    if dialect == .portable && !used.isEmpty { try empty(Array(used), db) }
  }

  private func empty(_ tables: [Table], _ db: borrowing Session) throws {
    try db.execute(script(tables.map(emptying)))
  }

  private func script(_ statements: [String]) -> String { statements.joined(separator: ";\n") }

  /// Lets the server know how many rows there are, unless another connection does so now.
  package func countRows(of table: Table, _ db: borrowing Session) throws {
    try db.execute("ANALYZE (SKIP_LOCKED) \(name(table))")
  }

  // MARK: - The tables

  private func temporary(_ table: Table) -> String {
    let key = table.key.isEmpty ? "" : ", PRIMARY KEY(\(table.key.joined(separator: ", ")))"
    return "CREATE TEMPORARY TABLE \(table.rawValue)(\(table.columns)\(key))"
      + (table.isEmptiedByServer ? " ON COMMIT DELETE ROWS" : "")
  }

  /// What a session sets.
  var setting: String { "SET cascade.owner = \(owner)" }

  /// Creates or removes the tables that all connections share.
  func attach(_ db: borrowing Session) throws {
    for table in Table.allCases {
      let name = sharedName(table)
      try db.execute(
        dialect == .portable ? shared(table, name) : "DROP TABLE IF EXISTS \(name)")
    }
  }

  private func shared(_ table: Table, _ name: String) -> String {
    let key =
      table.key.isEmpty
      ? "" : ", PRIMARY KEY(owner, \(table.key.joined(separator: ", ")))"
    let index =
      table.key.isEmpty
      ? "; CREATE INDEX IF NOT EXISTS scratch_\(table.rawValue)_owners ON \(name)(owner)" : ""
    return """
      CREATE TABLE IF NOT EXISTS \(name)(\(table.columns),
        owner bigint NOT NULL DEFAULT current_setting('cascade.owner')::bigint\(key))\(index)
      """
  }
}
