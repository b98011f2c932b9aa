/// One state of a store, whatever others write meanwhile. It ends with the block that has it, and
/// cannot be kept.
@safe
public struct Snapshot: ~Copyable {
  let connection: ReadConnection
  /// Whether results of fetched properties may be kept for the next snapshot.
  let isOwn: Bool

  init(_ connection: ReadConnection) {
    self.connection = connection
    isOwn = true
  }

  /// Reads by a connection of the application, of whatever library, for example GRDB's
  /// `db.sqliteConnection`. If several questions are to have one answer, the connection must be in
  /// a transaction. The connection must stay open as long as the snapshot exists.
  public init(borrowing handle: OpaquePointer) {
    unsafe connection = ReadConnection(borrowing: handle)
    isOwn = false
  }

  @usableFromInline
  func rows<M: Model>(
    _ statement: SQLStatement, of model: M.Type, from first: Int32 = 0
  ) throws(ReadError) -> ResultRows {
    let columns = M.columns
    return try ResultRows(
      connection, statement, columns.columnNames, isObject: M.collection.table == nil,
      key: columns.key, from: first)
  }
}

extension Snapshot {
  /// The values that a query finds.
  @inlinable
  public func all<M: Model>(_ query: Query<M>) throws(ReadError) -> [M] {
    let rows = try rows(query.statement, of: M.self)
    var result: [M] = []
    while try rows.next() { result.append(try M(row: rows.row)) }
    return result
  }

  /// Calls `body` with each value that a query finds, without a list of them.
  @inlinable
  public func each<M: Model>(_ query: Query<M>, _ body: (M) throws -> Void) throws {
    let rows = try rows(query.statement, of: M.self)
    while try rows.next() { try body(try M(row: rows.row)) }
  }

  /// The first value that a query finds.
  public func first<M: Model>(_ query: Query<M>) throws(ReadError) -> M? {
    try all(query.limit(1)).first
  }

  /// The value with an identity; nil if there is none.
  public func get<M: Model>(_ id: ID<M>) throws(ReadError) -> M? {
    try all(M.query(for: id)).first
  }

  /// The value with a key; nil if there is none.
  public func get<M: Model>(_ model: M.Type, _ key: M.Key) throws(ReadError) -> M? {
    try get(ID<M>(key))
  }

  /// How many values a query finds. Nothing is loaded.
  public func count<M: Model>(_ query: Query<M>) throws(ReadError) -> Int {
    try connection.integer(query.count)
  }
}

extension Model {
  static func query(for id: ID<Self>) -> Query<Self> {
    all.adding("\(sqlKey) = \(value: sqlKey(id))")
  }
}
