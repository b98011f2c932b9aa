internal import CascadeModel
internal import CascadePostgres
internal import PostgresBinding

/// The columns that a model names: what they hold, and whether they can refer to a key.
extension Binder {
  /// Columns that refer to a key: they must compare with it. A text may name any key.
  mutating func reference(
    _ names: [String], in table: String, to other: MappedTable, _ path: String
  ) throws -> Columns? {
    guard let columns = try columns(names, in: table, path) else { return nil }
    var all: [Columns.Column] = []
    for (column, part) in zip(columns.all, other.key.all) {
      if column.family != part.family && !(column.family == .text && part.family.isNamedByText) {
        fail(
          path,
          "\(column.name) is \(column.family), and the key of \"\(other.collection)\" is "
            + part.family.description)
        return nil
      }
      all.append(
        Columns.Column(
          name: column.name, family: part.family, isText: column.family != part.family))
    }
    return Columns(all)
  }

  /// The columns, with what they have when rule 64 has set them to nothing.
  mutating func emptied(
    _ columns: Columns, _ names: [String], _ relationship: Relationship, _ source: MappedTable,
    _ path: String
  ) throws -> Columns? {
    if !relationship.rules.contains(.nullifySourceIfDestinationDeleted) { return columns }
    var all = columns.all
    for (index, name) in names.enumerated() where try isNotNull(name, in: source.name) {
      guard !source.key.all.contains(where: { $0.name == all[index].name }),
        let none = relationship.none.first, let value = all[index].written(none)
      else {
        fail(path, "\"\(name)\" is NOT NULL, and cannot be nullified")
        return nil
      }
      all[index].empty = value
    }
    return Columns(all)
  }

  /// A column of a list, or of a document that a path of names leads into.
  mutating func list(
    _ property: String, in table: String, to other: MappedTable, _ path: String
  ) throws -> ListColumn? {
    let names = ListColumn.names(of: property)
    let name = names[0]
    guard let type = try type(of: name, in: table, path) else { return nil }
    let family = other.key.families[0]
    if other.key.all.count > 1 {
      fail(path, "\"\(property)\": a list names keys of one column")
      return nil
    }
    if !family.isInLists {
      fail(path, "\"\(property)\": a list names no keys that are \(family)")
      return nil
    }
    if ListColumn.documents.contains(type.name) {
      return ListColumn(
        name: quoted(now(name, in: table)), type: type.name, family: family,
        path: Array(names.dropFirst()))
    }
    if names.count == 1 && type.elements.first.flatMap(KeyFamily.init) == family {
      return ListColumn(name: quoted(now(name, in: table)), type: type.name, family: family)
    }
    fail(
      path,
      "\"\(name)\" is \(type.name): \(names.count > 1 ? "a document" : "a list") is jsonb, json or text"
        + (names.count > 1
          ? "" : ", or an array of \(family) as the key of \"\(other.collection)\""))
    return nil
  }

  mutating func columns(
    _ names: [String], in table: String, _ path: String
  ) throws -> Columns? {
    var columns: [Columns.Column] = []
    for name in names {
      guard let family = try family(of: name, in: table, path) else { return nil }
      columns.append(Columns.Column(name: quoted(now(name, in: table)), family: family))
    }
    return Columns(columns)
  }

  mutating func family(
    of column: String, in table: String, _ path: String
  ) throws -> KeyFamily? {
    guard let type = try type(of: column, in: table, path) else { return nil }
    let family = KeyFamily(type)
    if family == nil { fail(path, "\"\(column)\" is \(type.name): \(KeyFamily.supported)") }
    return family
  }

  mutating func type(
    of column: String, in table: String, _ path: String
  ) throws -> ColumnType? {
    let isOfObjects =
      store.provisional != nil && tables.contains { $0.name == table && $0.isManaged }
    if isOfObjects { return .ofObjects }
    if let type = try store.db.type(of: column, in: table) { return type }
    binding.stopped.mismatched.insert(table)
    let name = try store.knownColumn(column, of: table)
    fail(
      path,
      "\(table) has no column \"\(column)\"" + (name.map { ": it is called \"\($0)\" now" } ?? ""))
    guard let name, let type = try store.db.type(of: name, in: table) else { return nil }
    note(column, of: table, isNow: name)
    return type
  }

  func isNotNull(_ column: String, in table: String) throws -> Bool {
    try store.db.run(
      "SELECT attnotnull FROM pg_attribute WHERE attrelid = $1::regclass AND attname = $2",
      [table, now(column, in: table)]
    ).bool
  }
}
