internal import CascadeModel
internal import CascadePostgres
internal import PostgresBinding

/// The places in which a model has paths of files.
extension Binder {
  mutating func bindFiles() throws {
    for (index, relationship) in store.model.relationships.enumerated() {
      guard case .files(let root) = relationship.to else { continue }
      try stoppingFiles(root, of: store.model.collection(of: relationship.from)) {
        guard let source = $0.table(called: relationship.from) else { return }
        try $0.bind(relationship, root, source, "relationships[\(index)]")
      }
    }
    try bindManualFiles()
  }

  private mutating func bind(
    _ relationship: Relationship, _ root: String, _ source: MappedTable, _ path: String
  ) throws {
    if relationship.edgeStorage == .stored {
      return try bindFiles(relationship.name, relationship.rules, source, root)
    }
    guard let place = try place(of: relationship, in: source, path) else { return }
    let parts = [
      relationship.name, relationship.from, FileRows.collection + root,
      relationship.edgeStorage.part,
    ]
    guard let number = try store.number(relation: parts, makes: numbers) else {
      return fail(path, "the store is not attached with this relationship")
    }
    add(
      FileRelation(
        number: number, name: relationship.name, rules: relationship.rules,
        storage: relationship.edgeStorage, source: source, root: root, place: place))
  }

  /// Nil where paths cannot be.
  private mutating func place(
    of relationship: Relationship, in table: MappedTable, _ path: String
  ) throws -> FileRelation.Place? {
    switch relationship.edgeStorage {
    case .column(let columns):
      return try isPath(columns[0], in: table.name, path)
        ? .column(now(columns[0], in: table.name)) : nil
    case .property(let property):
      var list = try files(
        table.isManaged ? "value.\(property)" : property, in: table.name, path)
      list?.objectTypes = store.model.objectTypes(called: relationship.from)
      return list.map { .list($0) }
    case .polymorphic, .join, .stored: return nil
    }
  }

  private mutating func isPath(_ column: String, in table: String, _ path: String) throws -> Bool {
    guard let type = try type(of: column, in: table, path)?.name else { return false }
    if ["text", "character varying"].contains(type) { return true }
    fail(path, "\"\(column)\" is \(type): a path is text or varchar")
    return false
  }

  private mutating func files(
    _ property: String, in table: String, _ path: String
  ) throws -> ListColumn? {
    let names = ListColumn.names(of: property)
    guard let type = try type(of: names[0], in: table, path)?.name else { return nil }
    let isArray = names.count == 1 && ["text[]", "character varying[]"].contains(type)
    if !isArray && !ListColumn.documents.contains(type) {
      fail(
        path,
        "\"\(names[0])\" is \(type): a list of paths is jsonb, json, text"
          + (names.count > 1 ? "" : ", or an array of text"))
      return nil
    }
    return ListColumn(
      name: quoted(now(names[0], in: table)), type: type, family: .text,
      path: isArray ? [] : Array(names.dropFirst()))
  }

  // MARK: - Edges that change files add

  /// They are in a table of their own for each set of rules.
  private mutating func bindFiles(
    _ name: String, _ rules: Rules, _ source: MappedTable, _ root: String
  ) throws {
    let part = StoredPaths.part(source, rules: rules)
    let parts = [name, source.collection, FileRows.collection + root, part]
    guard let number = try store.number(relation: parts, makes: numbers),
      !hasFiles(number)
    else { return }
    let columns = source.key.all.enumerated().map {
      Columns.Column(name: "s\($0.offset)", family: $0.element.family)
    }
    let stored = StoredPaths(name: "cascade.files_\(number)", source: Columns(columns))
    if numbers { try store.db.execute(OwnSchema.files(stored)) }
    add(
      FileRelation(
        number: number, name: name, rules: rules, storage: .stored, source: source, root: root,
        place: .stored(stored)))
  }

  /// Those to which change files gave other rules than the model does, or that it does not declare.
  private mutating func bindManualFiles() throws {
    let rows = try store.remembered(
      """
      SELECT name, source, destination, part FROM cascade.relation
      WHERE part LIKE 'stored: %' AND destination LIKE \(literal(FileRows.collection + "%"))
      ORDER BY number
      """)
    for row in rows {
      guard let source = tables.first(where: { $0.collection == row[1] }),
        let rules = row[3]!.split(separator: " ").last.flatMap({ Int64($0) }),
        row[3] == StoredPaths.part(source, rules: Rules(rawValue: rules))
      else { continue }
      let root = String(row[2]!.dropFirst(FileRows.collection.count))
      try stoppingFiles(root, of: source.collection) {
        try $0.bindFiles(row[0]!, Rules(rawValue: rules), source, root)
      }
    }
  }
}
