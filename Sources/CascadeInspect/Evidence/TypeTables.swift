internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding

/// A table whose rows stand for tables, as those of `django_content_type` do.
struct TypeTable {
  let table: SampledTable
  let key: Table.Column
  /// The tables that the rows stand for, by key.
  let parents: [Value: SampledTable]
  /// What all rows say, by key.
  let texts: [Value: String]

  func meaning(of value: Value, _ pair: TypePair) -> TypeMeaning? {
    guard let parent = parents[value], let type = value.typeText else { return nil }
    return TypeMeaning(
      type: type, parent: parent,
      evidence: "\(pair.type.name) is \(type), which \(table.name) calls \(texts[value] ?? "")")
  }
}

extension Detective {
  /// Names of columns in which a row says for what it stands.
  private static let nameColumns = [
    "table_name", "class_name", "model", "class", "table", "entity", "name", "type",
  ]

  static func typeTables(
    _ tables: [SampledTable], _ names: TableNames, _ database: Database
  ) throws -> [TypeTable] {
    try tables.compactMap { table in
      let words = names.names(of: table.name).flatMap(\.list)
      guard words.contains(where: typeWords.contains), table.rows <= 1_000,
        let key = table.singleKeys.first,
        let columns = nameColumns(of: table)
      else { return nil }
      return try typeTable(table, key, columns, tables, names, database)
    }
  }

  /// Django's two, or one.
  private static func nameColumns(of table: SampledTable) -> [String]? {
    let known = Set(table.table.columns.map { $0.name.folded })
    if known.isSuperset(of: ["app_label", "model"]) { return ["app_label", "model"] }
    return nameColumns.first(where: known.contains).map { [$0] }
  }

  private static func typeTable(
    _ table: SampledTable, _ key: Table.Column, _ columns: [String], _ tables: [SampledTable],
    _ names: TableNames, _ database: Database
  ) throws -> TypeTable? {
    let list = ([key.name] + columns).map(quoted).joined(separator: ", ")
    let rows = try database.rows("SELECT \(list) FROM main.\(quoted(table.name))")
    var parents: [Value: SampledTable] = [:]
    var texts: [Value: String] = [:]
    for row in rows {
      let text = row.dropFirst().compactMap(\.text)
      texts[row[0]] = text.joined(separator: ".")
      guard let last = text.last,
        let name = names.table(called: text.joined(separator: "_")) ?? names.table(called: last)
      else { continue }
      parents[row[0]] = tables.first { $0.name == name }
    }
    if parents.count < 2 || parents.count * 3 < rows.count { return nil }
    return TypeTable(table: table, key: key, parents: parents, texts: texts)
  }

  /// Words for the thing itself, beside its type: `object_id`.
  private static let things = [
    "object", "entity", "item", "content", "target", "record", "subject",
  ]

  /// The columns of a table that name a row of a table of types, with the key that stands beside
  /// each.
  func pairs(_ table: SampledTable, _ types: TypeTable) -> [TypePair] {
    // `content_type` of `django_content_type`; at least its last word.
    let own = names.names(of: types.table.name)[0].suffixes + [Words(["type"])]
    return table.table.columns.compactMap { type in
      let base = names.column(type.name, of: table.name).readings.first?.base ?? Words([])
      guard type.name != types.key.name || types.table.name != table.name,
        let head = own.lazy.compactMap({ base.before($0) }).first
      else { return nil }
      let sample = table.values(of: type.name).filter { !$0.looksLikeNone }
      guard sample.count(where: { types.texts[$0] != nil }) * 10 >= sample.count * 9,
        let column = column(of: table, head, besides: type)
      else { return nil }
      return TypePair(column: column, type: type, types: types)
    }
  }

  /// `to_object_id` beside `to_content_type_id`; `object_id` beside `base_content_type_id`.
  private func column(
    of table: SampledTable, _ head: Words, besides type: Table.Column
  ) -> Table.Column? {
    let heads = [head] + Detective.things.map { Words(head.list + [$0]) }
    let bases = heads.filter { !$0.isEmpty } + Detective.things.map { Words([$0]) }
    return bases.lazy.compactMap { table.column(named: $0, besides: type) }.first
  }
}

extension Words {
  /// All, all but the first, and so on.
  fileprivate var suffixes: [Words] { list.indices.map { dropFirst($0) } }

  /// The words before these, if it ends with them, or is them.
  fileprivate func before(_ other: Words) -> Words? {
    if self == other { return Words([]) }
    return ends(with: other) ? dropLast(other.list.count) : nil
  }
}

extension Value {
  /// As a model names a type.
  fileprivate var typeText: String? {
    switch self {
    case .integer(let number): "\(number)"
    case .text(let text): text
    default: nil
    }
  }
}
