/// Statements for the application's own transactions. What they write is seen by the daemon like any
/// other SQL, and the sweep follows. Only models with a table have them.
extension Model {
  /// Inserts the value, or replaces the row that has its key: the text, and what is bound to it.
  public var insertion: (sql: String, arguments: [SQLValue]) {
    let row = stored
    let columns = Self.columns.all.map { "\(name: $0.column)" as SQL }.joined(", ")
    let changes = Self.columns.all.filter { $0.column != Self.collection.key }
      .map { "\(name: $0.column) = excluded.\(name: $0.column)" as SQL }
    let action: SQL = changes.isEmpty ? "DO NOTHING" : "DO UPDATE SET \(changes.joined(", "))"
    let sql: SQL = """
      INSERT INTO \(name: Self.mappedTable)(\(columns)) VALUES(\(list: row.values)) \
      ON CONFLICT(\(name: Self.collection.key)) \(action)
      """
    return (sql.text, sql.values)
  }

  /// Deletes the row with an identity: the text, and what is bound to it.
  public static func deletion(of id: ID<Self>) -> (sql: String, arguments: [SQLValue]) {
    let sql: SQL =
      "DELETE FROM \(name: mappedTable) WHERE \(name: collection.key) = \(value: id.sqlValue)"
    return (sql.text, sql.values)
  }

  private static var mappedTable: String {
    guard let table = collection.table else {
      preconditionFailure("\(Self.self) has no table: write its objects by the store")
    }
    return table
  }
}
