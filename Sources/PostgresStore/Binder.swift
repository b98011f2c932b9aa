internal import CascadeModel
internal import CascadePostgres
internal import CascadeStore

/// Finds the tables and columns of a model in the catalog.
struct Binder: ~Copyable {
  private let store: StoreConnection
  /// Whether collections and relationships get a number if they have none.
  private let numbers: Bool
  private var binding = Binding()

  init(_ store: StoreConnection, numbers: Bool) {
    self.store = store
    self.numbers = numbers
  }

  mutating func bind() throws -> Binding {
    for (name, collection) in store.model.collections.sorted(by: { $0.key < $1.key }) {
      guard case .mapped(let table, let key, _) = collection, key.count == 1 else { continue }
      try bind(name, table, key[0])
    }
    for (index, relationship) in store.model.relationships.enumerated() {
      try bind(relationship, "relationships[\(index)]")
    }
    return binding
  }

  private mutating func bind(_ collection: String, _ table: String, _ key: String) throws {
    let path = ModelProblem.path(of: collection)
    guard let name = try store.qualifiedName(table) else {
      return fail(path, "there is no table \"\(table)\"")
    }
    if let refusal = try refusal(of: name) { return fail(path, refusal) }
    guard let family = try family(of: key, in: name, path) else { return }
    let number = try number(
      "collection", ["name"], [collection])
    guard let number else { return fail(path, "the store is not attached with this collection") }
    binding.tables[collection] = MappedTable(
      collection: collection, number: number, name: name, key: quoted(key), family: family)
  }

  private mutating func bind(_ relationship: Relationship, _ path: String) throws {
    guard case .column(let columns) = relationship.edgeStorage, columns.count == 1,
      case .collection(let to) = relationship.to, let source = binding.tables[relationship.from],
      let destination = binding.tables[to],
      let family = try family(of: columns[0], in: source.name, path)
    else { return }
    if family != destination.family {
      return fail(
        path,
        "\"\(columns[0])\" is \(family.rawValue), and the key of \"\(to)\" is "
          + destination.family.rawValue)
    }
    if relationship.rules.contains(.nullifySourceIfDestinationDeleted),
      try isNotNull(columns[0], in: source.name)
    {
      return fail(path, "\"\(columns[0])\" is NOT NULL, and cannot be nullified")
    }
    let parts = [relationship.name, relationship.from, to, columns[0]]
    guard let number = try number("relation", ["name", "source", "destination", "part"], parts)
    else { return fail(path, "the store is not attached with this relationship") }
    binding.relations.append(
      ColumnRelation(
        number: number, relationship: relationship, source: source, destination: destination,
        column: quoted(columns[0])))
  }

  private mutating func fail(_ path: String, _ message: String) {
    binding.problems.append(ModelProblem(path: path, message: message))
  }

  /// Why the daemon cannot serve a table.
  private func refusal(of table: String) throws -> String? {
    let rows = try store.db.run(
      """
      SELECT c.relkind, c.relrowsecurity AND NOT r.rolbypassrls, c.relowner = r.oid
      FROM pg_class c, pg_roles r WHERE c.oid = $1::regclass AND r.rolname = session_user
      """, [table]
    ).rows[0]
    if rows[0] != "r" { return "\(table) is no ordinary table" }
    if rows[1] == "t" { return "\(table) has row security, which could hide rows from the daemon" }
    if rows[2] == "t" {
      return "\(table) belongs to the daemon's own role: give the daemon a role of its own, "
        + "because the triggers ignore what that role writes"
    }
    return nil
  }

  private mutating func family(
    of column: String, in table: String, _ path: String
  ) throws -> KeyFamily? {
    let rows = try store.db.run(
      """
      SELECT format_type(a.atttypid, NULL), coalesce(l.collisdeterministic, true)
      FROM pg_attribute a LEFT JOIN pg_collation l ON l.oid = a.attcollation
      WHERE a.attrelid = $1::regclass AND a.attname = $2 AND a.attnum > 0 AND NOT a.attisdropped
      """, [table, column])
    guard let row = rows.rows.first, let type = row[0] else {
      fail(path, "\(table) has no column \"\(column)\"")
      return nil
    }
    let family = KeyFamily(type: type, isDeterministic: row[1] == "t")
    if family == nil {
      fail(path, "\"\(column)\" is \(type): \(KeyFamily.supported)")
    }
    return family
  }

  private func isNotNull(_ column: String, in table: String) throws -> Bool {
    try store.db.run(
      "SELECT attnotnull FROM pg_attribute WHERE attrelid = $1::regclass AND attname = $2",
      [table, column]
    ).bool
  }

  /// The number of a collection or relationship, which stays the same as long as the store is
  /// attached.
  private func number(
    _ table: String, _ columns: [String], _ values: [String]
  ) throws -> Int64? {
    let list = columns.joined(separator: ", ")
    let parameters = columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
    if numbers {
      try store.db.run(
        "INSERT INTO cascade.\(table)(\(list)) VALUES(\(parameters)) ON CONFLICT DO NOTHING",
        values)
    }
    return try store.db.run(
      "SELECT number FROM cascade.\(table) WHERE (\(list)) = (\(parameters))", values
    ).integer
  }
}
