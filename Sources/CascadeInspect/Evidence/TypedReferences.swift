internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding

/// What a value of a type column says: the table whose key stands beside it.
struct TypeMeaning {
  /// As the model writes it.
  let type: String
  let parent: SampledTable
  let evidence: String
}

extension Detective {
  static let typeWords: Set<String> = ["type", "class", "kind", "model", "table", "entity"]
  static let mostTypes = 50
  /// Types without a table that are told.
  private static let mostUnknown = 5

  /// Columns with a key whose table another column names: `subject_id` and `subject_type`, or
  /// Django's `object_id` and `content_type_id`.
  func typed(_ table: SampledTable) throws -> [InspectedRelationship] {
    try pairs(table).flatMap { try references(of: $0, in: table) }
  }

  private func references(
    of pair: TypePair, in table: SampledTable
  ) throws -> [InspectedRelationship] {
    let values = try database.distinct(pair.type, of: table, most: Detective.mostTypes)
    var found: [InspectedRelationship] = []
    var unknown: [String] = []
    for value in values {
      if let meaning = meaning(of: value, pair), let key = meaning.parent.singleKeys.first {
        found.append(reference(table, pair, meaning, key))
      } else if !value.looksLikeNone {
        unknown.append(value.text(most: 40))
      }
    }
    if !found.isEmpty, !unknown.isEmpty {
      let names = unknown.prefix(Detective.mostUnknown).joined(separator: ", ")
      found[0].evidence += "; other types, which name no table: \(names)"
    }
    return found
  }

  /// Columns beside one that says their type, whether or not a type is there yet.
  func pairs(_ table: SampledTable) -> [TypePair] {
    let texts = table.table.columns.compactMap { type -> TypePair? in
      let words = Words(of: type.name)
      guard words.list.count > 1, Detective.typeWords.contains(words.list.last ?? ""),
        table.values(of: type.name).allSatisfy(\.isText),
        let column = table.column(named: words.dropLast(), besides: type)
      else { return nil }
      return TypePair(column: column, type: type, types: nil)
    }
    return texts + typeTables.flatMap { pairs(table, $0) }
  }

  private func meaning(of value: Value, _ pair: TypePair) -> TypeMeaning? {
    if let types = pair.types { return types.meaning(of: value, pair) }
    guard let text = value.text, let name = names.table(called: text),
      let parent = tables.first(where: { $0.name == name })
    else { return nil }
    return TypeMeaning(
      type: text, parent: parent,
      evidence: "\(pair.type.name) is \(JSON.string(text).text), which names the table")
  }

  private func reference(
    _ table: SampledTable, _ pair: TypePair, _ meaning: TypeMeaning, _ key: Table.Column
  ) -> InspectedRelationship {
    let (column, type) = (pair.column, pair.type)
    var reference = InspectedRelationship(
      from: table.name, columns: [column.name, type.name], to: meaning.parent.name,
      toColumns: [key.name], found: .typed, evidence: meaning.evidence)
    reference.type = meaning.type
    reference.isIndexed =
      table.table.hasIndex(on: column.name)
      || table.table.hasIndex(on: [type.name, column.name])
    reference.refers =
      "\(ReferenceSQL.refers([column.name])) AND "
      + "\(ReferenceSQL.column(type.name)) = \(literal(meaning.type))"
    reference.dangles = ReferenceSQL.dangles(
      [column.name], to: meaning.parent.name, [key.name])
    return reference
  }
}

/// A column with keys, and the one that says of which table.
struct TypePair {
  let column: Table.Column
  let type: Table.Column
  /// The table whose rows the type column names; nil where it has names of tables itself.
  let types: TypeTable?
}

extension SampledTable {
  /// The column with the key, beside a type column: `about` or `about_id` beside `about_type`.
  func column(named base: Words, besides type: Table.Column) -> Table.Column? {
    table.columns.first { column in
      let words = Words(of: column.name)
      if column.name == type.name || table.primaryKey == [column.name] { return false }
      if words == base { return true }
      return words.dropLast() == base && ColumnName.keys.contains(words.list.last ?? "")
    }
  }
}

extension Database {
  /// The values of a column, in their order; none if there are more than so many.
  func distinct(
    _ column: Table.Column, of table: SampledTable, most: Int
  ) throws -> [Value] {
    let sample = Set(table.values(of: column.name))
    if sample.count > most { return [] }
    let name = ReferenceSQL.column(column.name)
    var found: Set<Value> = []
    try eachPart(of: RowSource(table.table)) { part in
      try rows(
        """
        SELECT DISTINCT \(name) FROM main.\(quoted(table.name)) AS c
        WHERE \(part.condition) AND \(name) IS NOT NULL LIMIT \(most + 1)
        """, part.values)
    } take: { rows in
      found.formUnion(rows.map { $0[0] })
      return found.count <= most
    }
    return found.count > most ? [] : found.sorted { $0.sql < $1.sql }
  }
}
