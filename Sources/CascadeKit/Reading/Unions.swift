extension Snapshot {
  /// All values of a union, in the order of their keys, by one statement.
  public func all<U: Union>(_ union: U.Type) throws -> [U] {
    try objects(in: U.types.collection, nil) { type in
      U.types.cases[type].map { ($0.names, $0.key, $0.make) }
    }
  }

  /// The value of a union with a key; nil if there is none.
  public func get<U: Union>(_ id: ID<U>) throws -> U? {
    try objects(in: U.types.collection, id.description) { type in
      U.types.cases[type].map { ($0.names, $0.key, $0.make) }
    }.first
  }

  /// How many values a union has. Objects of other types are not counted.
  public func count<U: Union>(_ union: U.Type) throws(ReadError) -> Int {
    let types = U.types.cases.keys.sorted().map(SQLValue.text)
    return try connection.integer(
      """
      SELECT count(*) FROM cascade_object
      WHERE collection = \(value: .text(U.types.collection)) AND type IN (\(list: types))
      """)
  }

  /// All objects of a collection, in the order of their keys, each as the model that
  /// ``TypeRegistry`` has for its type.
  public func all(in collection: String) throws -> [any Model] {
    try objects(in: collection, nil) { type in
      TypeRegistry.entry(type, in: collection).map { ($0.names, $0.key, $0.make) }
    }
  }

  private typealias Reading<T> = (
    names: [String], key: Int?, make: @Sendable (borrowing Row) throws(ReadError) -> T
  )

  private func objects<T>(
    in collection: String, _ key: String?, _ reading: (String) -> Reading<T>?
  ) throws -> [T] {
    var sql: SQL =
      "SELECT type, key, value FROM cascade_object WHERE collection = \(value: .text(collection))"
    if let key { sql = "\(sql) AND key = \(value: .text(key))" }
    var known: [String: (ObjectValues, Reading<T>)] = [:]
    var result: [T] = []
    unsafe try connection.each("\(sql) ORDER BY key") { statement in
      let type = unsafe try String?(ResultColumn(statement, 0))
      guard let type, let (values, reading) = known[type] ?? open(type, reading, &known) else {
        throw ReadError.unknownType(type, collection: collection)
      }
      unsafe try values.read(statement, at: 1)
      result.append(unsafe try reading.make(Row(statement, from: 1, reading.names, values)))
    }
    return result
  }

  private func open<T>(
    _ type: String, _ reading: (String) -> Reading<T>?,
    _ known: inout [String: (ObjectValues, Reading<T>)]
  ) -> (ObjectValues, Reading<T>)? {
    guard let found = reading(type) else { return nil }
    let entry = (ObjectValues(found.names, key: found.key), found)
    known[type] = entry
    return entry
  }
}
